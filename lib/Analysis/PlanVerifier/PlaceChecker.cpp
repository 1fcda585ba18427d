//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Whether the places of a plan's items fit when they are in use, for sizes that
// are given.

#include "SpaceVerifier.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/Analysis/Placement/Validate.h"

using namespace mlir;
using namespace mlir::pol;

static constexpr int64_t overflow = SizeExpr::overflow;

static PlanFault fault(Operation *op, const Twine &text) {
  return {op->getLoc(), text.str()};
}

/// Whether a * b + c is at most `limit`, none of them negative.
static bool fits(int64_t a, int64_t b, int64_t c, int64_t limit) {
  return static_cast<__int128>(a) * b + c <= limit;
}

//===----------------------------------------------------------------------===//
// What runs
//===----------------------------------------------------------------------===//

bool mlir::pol::areExclusive(Operation *one, Operation *other) {
  Region *region = one->getParentRegion();
  while (!region->isAncestor(other->getParentRegion())) {
    Operation *op = region->getParentOp();
    if (op->isProperAncestor(other))
      return UseTimes::isChoice(op);
    region = region->getParentRegion();
  }
  return false;
}

/// Whether an op enters a region of it, where that follows from the sizes.
std::optional<bool> PlaceChecker::entersRegion(Region *region) {
  Operation *op = region->getParentOp();
  SizeAnalysis &sizes = planner.getSizes();
  if (auto ifOp = dyn_cast<scf::IfOp>(op)) {
    if (Size condition = sizes.get(ifOp.getCondition()))
      return (evaluate(condition) != 0) == (region->getRegionNumber() == 0);
  } else if (auto switchOp = dyn_cast<scf::IndexSwitchOp>(op)) {
    Size chosen = sizes.get(switchOp.getArg());
    if (!chosen)
      return std::nullopt;
    // The first region is the default.
    auto cases = switchOp.getCases();
    const int64_t *found = llvm::find(cases, evaluate(chosen));
    unsigned number = found == cases.end() ? 0 : found - cases.begin() + 1;
    return region->getRegionNumber() == number;
  } else if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    if (Size trips = sizes.getTrips(loop); trips && evaluate(trips) == 0)
      return false;
  }
  return std::nullopt;
}

bool PlaceChecker::runs(Operation *op) {
  for (Region *region = op->getParentRegion();
       !isa<func::FuncOp>(region->getParentOp());
       region = region->getParentRegion())
    if (!entersRegion(region).value_or(true))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Sizes and places
//===----------------------------------------------------------------------===//

std::optional<PlanFault> PlaceChecker::checkTotal() {
  Operation *function = plan.scopes.front().op;
  int64_t bytes = evaluate(plan.getBytes()), kept = evaluate(plan.getKept());
  if (bytes < 0 || kept < 0 || kept > bytes)
    return fault(function, "expected to keep no more than the " + Twine(bytes) +
                               " bytes in all, but got " + Twine(kept));
  auto compare = [&](Size bump, int64_t planned,
                     const Twine &verb) -> std::optional<PlanFault> {
    if (!bump || planned <= evaluate(bump))
      return std::nullopt;
    return fault(function, "it " + verb + " " + Twine(planned) +
                               " bytes, but a bump allocator " +
                               Twine(evaluate(bump)));
  };
  if (auto found = compare(plan.bumpBytes, bytes, "takes"))
    return found;
  return compare(plan.bumpKept, kept, "keeps");
}

/// Whether an item is as large as what it is the memory of.
std::optional<PlanFault> PlaceChecker::checkSize(const MemoryItem &item) {
  Size bytes = nullptr, kept = nullptr;
  std::optional<UnknownSize> unknown;
  if (auto alloc = dyn_cast<AllocOp>(item.op)) {
    bytes = kept = planner.getBytes(alloc, unknown);
  } else if (auto call = dyn_cast<func::CallOp>(item.op)) {
    const SpacePlan *inside =
        planner.getPlan(planner.getCallee(call)).find(item.argument);
    bytes = inside ? planner.translate(call, inside->getBytes()) : nullptr;
    kept = inside ? planner.translate(call, inside->getKept()) : nullptr;
  } else {
    for (const MemoryScope &scope : plan.scopes)
      if (scope.op == item.op) {
        bytes = scope.bytes;
        kept = scope.kept;
      }
  }
  std::string name = describeItem(item);
  if (!bytes || !kept)
    return fault(item.op, "the size of " + name + " is not known");
  for (auto [is, want, verb] : {std::tuple(item.bytes, bytes, "take"),
                                std::tuple(item.kept, kept, "keep")})
    if (is != want && evaluate(is) != evaluate(want))
      return fault(item.op, "expected " + name + " to " + verb + " " +
                                Twine(evaluate(want)) + " bytes, but got " +
                                Twine(evaluate(is)));
  return std::nullopt;
}

std::optional<PlanFault> PlaceChecker::checkPlace(const ItemUse &use,
                                                  const Trips &trips) {
  const MemoryItem &item = *use.item;
  std::string name = describeItem(item);
  int64_t offset = evaluate(item.offset), bytes = evaluate(item.bytes);
  int64_t kept = evaluate(item.kept);
  if (offset < 0 || offset % SizeExpr::alignment != 0)
    return fault(item.op, "expected " + name + " at a multiple of " +
                              Twine(SizeExpr::alignment) + ", but got " +
                              Twine(offset));
  if (!fits(1, offset, bytes, overflow - 1))
    return fault(item.op, "expected the end of " + name +
                              " in 64 bits, but got " + Twine(offset) + " + " +
                              Twine(bytes));
  if (!fits(trips.count - 1, trips.stride, offset + bytes, trips.bytes))
    return fault(item.op, "expected " + name + ", bytes [" + Twine(offset) +
                              ", " + Twine(offset + bytes) + "), within " +
                              Twine(trips.bytes) + " bytes for " +
                              Twine(trips.count) + " trips");
  if (!use.outlives || kept == 0)
    return std::nullopt;
  if (!fits(trips.count - 1, trips.stride, offset + kept, trips.kept))
    return fault(item.op, "expected " + name + ", bytes [" + Twine(offset) +
                              ", " + Twine(offset + kept) +
                              "), within the first " + Twine(trips.kept) +
                              ", which are kept, for " + Twine(trips.count) +
                              " trips");
  if (trips.count > 1 && offset + kept > trips.stride)
    return fault(item.op, "expected trips " + Twine(offset + kept) +
                              " or more bytes apart, so that what " + name +
                              " keeps stays, but got " + Twine(trips.stride));
  return std::nullopt;
}

/// Items that share their memory are in one place and of one size.
std::optional<PlanFault>
PlaceChecker::checkInPlace(const std::vector<ItemUse> &scope) {
  for (const ItemUse &use : scope) {
    if (use.item->inPlaceOf < 0)
      continue;
    const MemoryItem &item = *use.item;
    const MemoryItem &input = *scope[item.inPlaceOf].item;
    for (auto [mine, other, what] :
         {std::tuple(item.bytes, input.bytes, "size"),
          std::tuple(item.offset, input.offset, "place")})
      if (evaluate(mine) != evaluate(other))
        return fault(item.op, "expected the " + Twine(what) + " of " +
                                  describeItem(input) + " for " +
                                  describeItem(item) + ", " +
                                  Twine(evaluate(other)) + ", but got " +
                                  Twine(evaluate(mine)));
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Two in one place
//===----------------------------------------------------------------------===//

/// Looks at all pairs, and says more.
std::optional<PlanFault> PlaceChecker::findOverlap(ArrayRef<Piece> pieces) {
  SmallVector<Piece> sorted(pieces);
  llvm::sort(sorted, [](const Piece &a, const Piece &b) {
    return std::tie(a.span.begin, a.offset, a.use) <
           std::tie(b.span.begin, b.offset, b.use);
  });
  for (auto [number, one] : llvm::enumerate(sorted))
    for (const Piece &other : ArrayRef(sorted).drop_front(number + 1)) {
      if (other.span.begin >= one.span.end)
        break;
      int64_t low = std::max(one.offset, other.offset);
      int64_t high =
          std::min(one.offset + one.bytes, other.offset + other.bytes);
      if (low >= high || one.use == other.use ||
          areExclusive(one.use->item->op, other.use->item->op))
        continue;
      Operation *op = times.getOp(other.span.begin);
      return fault(other.use->item->op,
                   describeItem(*one.use->item) + " and " +
                       describeItem(*other.use->item) + " both use bytes [" +
                       Twine(low) + ", " + Twine(high) + ") at " +
                       (op ? describePlace(op->getLoc()) : std::string()));
    }
  return std::nullopt;
}

std::optional<PlanFault> PlaceChecker::checkApart(ArrayRef<Piece> pieces,
                                                  int64_t bytes) {
  placement::Buffers buffers;
  std::vector<int64_t> offsets;
  for (const Piece &piece : pieces) {
    buffers.push_back(
        {piece.span.begin, piece.span.end, piece.bytes, SizeExpr::alignment});
    offsets.push_back(piece.offset);
  }
  std::optional<std::string> found =
      placement::validate(buffers, offsets, bytes);
  if (!found)
    return std::nullopt;
  if (auto overlap = findOverlap(pieces))
    return overlap;
  // What is in two branches may share, which times do not tell.
  bool mayShare = llvm::any_of(pieces, [&](const Piece &one) {
    return llvm::any_of(pieces, [&](const Piece &other) {
      return areExclusive(one.use->item->op, other.use->item->op);
    });
  });
  if (mayShare)
    return std::nullopt;
  return fault(plan.scopes.front().op, *found);
}

std::optional<PlanFault> PlaceChecker::checkScope(size_t number) {
  const MemoryScope &scope = plan.scopes[number];
  Trips trips = {1, 0, evaluate(scope.bytes), evaluate(scope.kept)};
  if (number > 0) {
    if (!runs(scope.op))
      return std::nullopt;
    trips.stride = evaluate(scope.stride);
    auto loop = dyn_cast<LoopLikeOpInterface>(scope.op);
    Size count = loop ? planner.getSizes().getTrips(loop) : nullptr;
    trips.count = count ? evaluate(count) : overflow;
    if (trips.count == 0)
      return std::nullopt;
    if (trips.stride < 0 || trips.stride % SizeExpr::alignment != 0 ||
        (!count && trips.stride != 0))
      return fault(scope.op, "expected trips a multiple of " +
                                 Twine(SizeExpr::alignment) +
                                 " bytes apart, but got " +
                                 Twine(trips.stride));
  }
  std::vector<Piece> pieces;
  for (const ItemUse &use : uses[number]) {
    const MemoryItem &item = *use.item;
    if (!runs(item.op))
      continue;
    if (auto found = checkSize(item))
      return found;
    int64_t offset = evaluate(item.offset), bytes = evaluate(item.bytes);
    if (bytes == 0 || (use.whole.empty() && use.kept.empty()))
      continue;
    if (auto found = checkPlace(use, trips))
      return found;
    for (TimeSpan span : use.whole)
      pieces.push_back({&use, span, offset, bytes});
    for (TimeSpan span : use.kept)
      pieces.push_back({&use, span, offset, evaluate(item.kept)});
  }
  if (auto found = checkInPlace(uses[number]))
    return found;
  return checkApart(pieces, trips.bytes);
}

std::optional<PlanFault> PlaceChecker::run() {
  // The function fails before it uses anything.
  if (evaluate(plan.getBytes()) == overflow)
    return checkTotal();
  if (auto found = checkTotal())
    return found;
  for (size_t number = 0; number < plan.scopes.size(); ++number)
    if (auto found = checkScope(number))
      return found;
  return std::nullopt;
}
