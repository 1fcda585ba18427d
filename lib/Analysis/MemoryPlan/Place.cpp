//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Offsets in a slab. Items of known sizes are given to the placement library.
// Those of sizes that only a run knows are stacked in an order: of two that are
// in use at once, the later one in the order lies above the earlier one. That
// is right for all sizes. In the order of allocation it is never higher than
// what a bump allocator needs, as all that an item lies above is below it
// there, too. Orders that are better for some sizes are chosen at run time,
// where they are.

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/Analysis/MemoryPlan.h"
#include "pol/Analysis/Placement/Placement.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
/// Items that share memory are one block. Of a scope's blocks those that take
/// nothing are left out.
struct MemoryBlock {
  SmallVector<unsigned> items;
  Size bytes, kept;
  int64_t begin, end, keptFrom;
  bool escapes;
};

using Order = SmallVector<unsigned>;

/// The offsets of an order's blocks, the height and what is kept.
template <typename T> struct Layout {
  SmallVector<T> offsets;
  T height, kept;
};

class ScopePlacer {
public:
  ScopePlacer(SizeContext &context, MemoryScope &scope, unsigned numParameters)
      : context(context), scope(scope), numParameters(numParameters) {}
  void run();

private:
  void makeBlocks();
  void findMeetings();
  /// Whether two blocks may be in use at once.
  bool meet(unsigned a, unsigned b) const { return meetings[a].test(b); }
  bool meetsAllOf(unsigned below, unsigned above) const;
  Layout<Size> stack(const Order &order);
  Layout<int64_t> stack(const Order &order,
                        const placement::Buffers &buffers) const;
  placement::Buffers getBuffers(ArrayRef<int64_t> parameters) const;
  Layout<Size> placeStatic(const Order &allocation);
  SmallVector<Order> findBetterOrders(const Order &allocation);
  std::vector<std::vector<int64_t>> getSamples() const;
  Layout<Size> choose(const Layout<Size> &first, const Layout<Size> &second);
  void assign(const Layout<Size> &layout);

  SizeContext &context;
  MemoryScope &scope;
  unsigned numParameters;
  SmallVector<MemoryBlock> blocks;
  std::vector<llvm::BitVector> meetings;
};
} // namespace

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void ScopePlacer::makeBlocks() {
  SmallVector<int64_t> blockOf(scope.items.size(), -1);
  std::function<int64_t(unsigned)> getBlock = [&](unsigned number) -> int64_t {
    MemoryItem &item = scope.items[number];
    if (blockOf[number] >= 0)
      return blockOf[number];
    if (item.inPlaceOf >= 0)
      return blockOf[number] = getBlock(item.inPlaceOf);
    blocks.push_back({{},
                      item.bytes,
                      item.kept,
                      item.begin,
                      item.end,
                      item.keptFrom,
                      false});
    return blockOf[number] = blocks.size() - 1;
  };
  for (auto [number, item] : llvm::enumerate(scope.items)) {
    item.offset = context.constant(0);
    if (!item.isUsed() || item.bytes->isConstant(0))
      continue;
    MemoryBlock &block = blocks[getBlock(number)];
    block.items.push_back(number);
    block.begin = std::min(block.begin, item.begin);
    block.end = std::max(block.end, item.end);
    block.escapes |= item.escapes;
  }
}

/// Whether at most one of two ops runs, as they are in two branches of one op.
/// On the line of program points they may seem to be in use at once after it.
static bool areExclusive(Operation *a, Operation *b) {
  for (Region *region = a->getParentRegion(); region;
       region = region->getParentRegion()) {
    Operation *parent = region->getParentOp();
    if (parent && parent->isProperAncestor(b))
      return isa<scf::IfOp, scf::IndexSwitchOp>(parent) &&
             !region->isAncestor(b->getParentRegion());
  }
  return false;
}

void ScopePlacer::findMeetings() {
  meetings.assign(blocks.size(), llvm::BitVector(blocks.size()));
  auto areApart = [&](const MemoryBlock &a, const MemoryBlock &b) {
    return llvm::all_of(a.items, [&](unsigned one) {
      return llvm::all_of(b.items, [&](unsigned other) {
        return areExclusive(scope.items[one].op, scope.items[other].op);
      });
    });
  };
  for (unsigned a = 0; a < blocks.size(); ++a)
    for (unsigned b = 0; b < a; ++b)
      if (blocks[a].begin < blocks[b].end && blocks[b].begin < blocks[a].end &&
          !areApart(blocks[a], blocks[b])) {
        meetings[a].set(b);
        meetings[b].set(a);
      }
}

/// Whether another block has to be above all of one, not only above what it
/// keeps because they only meet then.
bool ScopePlacer::meetsAllOf(unsigned below, unsigned above) const {
  const MemoryBlock &block = blocks[below];
  return block.bytes == block.kept || blocks[above].begin < block.keptFrom;
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

Layout<Size> ScopePlacer::stack(const Order &order) {
  Size zero = context.constant(0);
  Layout<Size> layout = {SmallVector<Size>(blocks.size(), zero), zero, zero};
  // What each block lies above, directly or not. Of a block that is always of
  // one size, to lie above what lies above it is enough.
  SmallVector<llvm::BitVector> below(blocks.size());
  for (auto [rank, above] : llvm::enumerate(order)) {
    below[above].resize(blocks.size());
    Size offset = zero;
    for (unsigned lower : llvm::reverse(ArrayRef(order).take_front(rank))) {
      if (!meet(lower, above) || (below[above].test(lower) &&
                                  blocks[lower].bytes == blocks[lower].kept))
        continue;
      Size separation = context.alignBytes(
          meetsAllOf(lower, above) ? blocks[lower].bytes : blocks[lower].kept);
      offset = context.max(offset,
                           context.addBytes(layout.offsets[lower], separation));
      below[above].set(lower);
      below[above] |= below[lower];
    }
    layout.offsets[above] = offset;
    const MemoryBlock &block = blocks[above];
    auto reach = [&](Size bytes) {
      return context.ifAny(bytes, context.addBytes(offset, bytes), zero);
    };
    layout.height = context.max(layout.height, reach(block.bytes));
    if (block.escapes)
      layout.kept = context.max(layout.kept, reach(block.kept));
  }
  return layout;
}

static int64_t addBytes(int64_t a, int64_t b) {
  return evaluate(SizeOp::AddBytes, {a, b});
}

Layout<int64_t> ScopePlacer::stack(const Order &order,
                                   const placement::Buffers &buffers) const {
  Layout<int64_t> layout = {SmallVector<int64_t>(blocks.size(), 0), 0, 0};
  auto getKept = [&](unsigned block) {
    const auto &gaps = buffers[block].gaps;
    return gaps.empty() ? buffers[block].size : gaps.front().upper;
  };
  for (auto [rank, above] : llvm::enumerate(order)) {
    int64_t &offset = layout.offsets[above];
    for (unsigned lower : ArrayRef(order).take_front(rank)) {
      if (!meet(lower, above))
        continue;
      bool meetsAll = meetsAllOf(lower, above);
      int64_t separation =
          evaluate(SizeOp::AlignBytes,
                   {meetsAll ? buffers[lower].size : getKept(lower)});
      offset = std::max(offset, addBytes(layout.offsets[lower], separation));
    }
    auto reach = [&](int64_t bytes) {
      return bytes == 0 ? 0 : addBytes(offset, bytes);
    };
    layout.height = std::max(layout.height, reach(buffers[above].size));
    if (blocks[above].escapes)
      layout.kept = std::max(layout.kept, reach(getKept(above)));
  }
  return layout;
}

placement::Buffers ScopePlacer::getBuffers(ArrayRef<int64_t> parameters) const {
  SizeEvaluator evaluate(parameters);
  placement::Buffers buffers;
  for (const MemoryBlock &block : blocks) {
    placement::Buffer buffer = {block.begin, block.end, evaluate(block.bytes),
                                SizeExpr::alignment};
    if (block.bytes != block.kept && block.keptFrom < block.end)
      buffer.gaps.push_back(
          {block.keptFrom, block.end, 0, evaluate(block.kept)});
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

//===----------------------------------------------------------------------===//
// Sizes that are known
//===----------------------------------------------------------------------===//

/// As low as the library finds, if that is no more, and keeps no more, than the
/// order of allocation.
Layout<Size> ScopePlacer::placeStatic(const Order &allocation) {
  placement::Buffers buffers = getBuffers({});
  if (placement::check(buffers))
    return stack(allocation);
  Layout<int64_t> bound = stack(allocation, buffers);
  placement::SearchOptions options;
  // Enough for what programs look like; the same in every process.
  options.maxNodes = 20000;
  auto consider = [&](ArrayRef<int64_t> offsets) {
    int64_t height = 0, kept = 0;
    for (auto [block, offset] : llvm::zip_equal(blocks, offsets)) {
      height = std::max(height, offset + block.bytes->value);
      if (block.escapes && block.kept->value)
        kept = std::max(kept, offset + block.kept->value);
    }
    if (height >= bound.height || kept > bound.kept)
      return;
    bound.offsets.assign(offsets.begin(), offsets.end());
    bound.height = height;
    bound.kept = kept;
  };
  consider(placement::place(buffers, options).offsets);
  // What is kept need not be low in that: below all else, it is.
  std::vector<int64_t> offsets(blocks.size());
  placement::Buffers others;
  SmallVector<size_t> numbers;
  int64_t base = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (!blocks[i].escapes || !blocks[i].kept->value) {
      others.push_back(buffers[i]);
      numbers.push_back(i);
      continue;
    }
    offsets[i] = base;
    base = llvm::alignTo(base + buffers[i].size, SizeExpr::alignment);
  }
  if (base != 0 && bound.height > placement::getLowerBound(buffers)) {
    placement::Placement above = placement::place(others, options);
    for (auto [number, offset] : llvm::zip_equal(numbers, above.offsets))
      offsets[number] = base + offset;
    consider(offsets);
  }
  Layout<Size> layout = {
      {}, context.constant(bound.height), context.constant(bound.kept)};
  for (int64_t offset : bound.offsets)
    layout.offsets.push_back(context.constant(offset));
  return layout;
}

//===----------------------------------------------------------------------===//
// Sizes that are not
//===----------------------------------------------------------------------===//

/// Shapes to try orders on: small and large, in several proportions.
std::vector<std::vector<int64_t>> ScopePlacer::getSamples() const {
  std::vector<std::vector<int64_t>> samples;
  for (int64_t extent : {1, 32, 256, 2048})
    samples.emplace_back(numParameters, extent);
  for (auto [even, odd] :
       {std::pair(1, 128), std::pair(128, 1), std::pair(4, 1024)}) {
    std::vector<int64_t> &sample = samples.emplace_back();
    for (unsigned i = 0; i < numParameters; ++i)
      sample.push_back(i % 2 ? odd : even);
  }
  for (unsigned phase = 0; phase < 3; ++phase) {
    std::vector<int64_t> &sample = samples.emplace_back();
    for (unsigned i = 0; i < numParameters; ++i)
      sample.push_back((i + phase) % 3 == 0 ? 2048 : 64);
  }
  return samples;
}

/// Orders that are lower than that of allocation, each on some samples.
SmallVector<Order> ScopePlacer::findBetterOrders(const Order &allocation) {
  std::vector<placement::Buffers> samples;
  for (const std::vector<int64_t> &sample : getSamples()) {
    samples.push_back(getBuffers(sample));
    if (placement::check(samples.back()))
      samples.pop_back();
  }
  SmallVector<int64_t> bases;
  for (const placement::Buffers &buffers : samples)
    bases.push_back(stack(allocation, buffers).height);
  // Each with its heights on the samples, relative to that of allocation.
  SmallVector<std::pair<Order, SmallVector<double>>> candidates;
  for (const placement::Buffers &buffers : samples) {
    placement::GreedyOptions options;
    options.maxTrials = 4;
    placement::Placement placed = placement::placeGreedy(buffers, options);
    Order order = allocation;
    llvm::stable_sort(order, [&](unsigned left, unsigned right) {
      return placed.offsets[left] < placed.offsets[right];
    });
    SmallVector<double> ratings;
    for (auto [sample, base] : llvm::zip_equal(samples, bases))
      ratings.push_back(base ? double(stack(order, sample).height) / base : 1);
    candidates.emplace_back(std::move(order), std::move(ratings));
  }
  // The one that adds most to those there are, as long as it is worth its code.
  constexpr size_t most = 3;
  constexpr double worth = 0.02;
  SmallVector<double> least(samples.size(), 1);
  SmallVector<Order> chosen;
  while (chosen.size() < most) {
    double bestGain = worth;
    const std::pair<Order, SmallVector<double>> *best = nullptr;
    for (const auto &candidate : candidates) {
      double gain = 0;
      for (auto [now, then] : llvm::zip_equal(least, candidate.second))
        gain += std::max(0.0, now - then);
      if (gain > bestGain) {
        bestGain = gain;
        best = &candidate;
      }
    }
    if (!best)
      break;
    chosen.push_back(best->first);
    for (auto [now, then] : llvm::zip_equal(least, best->second))
      now = std::min(now, then);
  }
  return chosen;
}

/// The second where it is no worse than the first, at run time.
Layout<Size> ScopePlacer::choose(const Layout<Size> &first,
                                 const Layout<Size> &second) {
  auto noMore = [&](Size left, Size right) {
    return context.get(SizeOp::LessEqualS, {left, right});
  };
  Size condition =
      context.get(SizeOp::And, {noMore(second.height, first.height),
                                noMore(second.kept, first.kept)});
  Layout<Size> layout;
  for (auto [left, right] : llvm::zip_equal(first.offsets, second.offsets))
    layout.offsets.push_back(context.select(condition, right, left));
  layout.height = context.select(condition, second.height, first.height);
  layout.kept = context.select(condition, second.kept, first.kept);
  return layout;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

void ScopePlacer::assign(const Layout<Size> &layout) {
  for (auto [block, offset] : llvm::zip_equal(blocks, layout.offsets))
    for (unsigned item : block.items)
      scope.items[item].offset = offset;
  scope.bytes = layout.height;
  scope.kept = layout.kept;
}

void ScopePlacer::run() {
  makeBlocks();
  findMeetings();
  // Blocks are in the order in which programs allocate.
  Order allocation = llvm::to_vector(llvm::seq<unsigned>(0, blocks.size()));
  bool isStatic = llvm::all_of(blocks, [](const MemoryBlock &block) {
    return block.bytes->isConstant() && block.kept->isConstant();
  });
  if (isStatic)
    return assign(placeStatic(allocation));
  Layout<Size> layout = stack(allocation);
  for (const Order &better : findBetterOrders(allocation))
    layout = choose(layout, stack(better));
  assign(layout);
}

void mlir::pol::placeItems(SizeContext &context, MemoryScope &scope,
                           unsigned numParameters) {
  ScopePlacer(context, scope, numParameters).run();
}
