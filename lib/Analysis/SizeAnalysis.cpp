//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/SizeAnalysis.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "pol/IR/PolOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pol;

SmallVector<SizeParameter> mlir::pol::getSizeParameters(func::FuncOp function) {
  SmallVector<SizeParameter> parameters;
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (type.isIndex())
      parameters.push_back({static_cast<unsigned>(number), -1});
    if (auto memref = dyn_cast<MemRefType>(type))
      for (auto [dimension, extent] : llvm::enumerate(memref.getShape()))
        if (ShapedType::isDynamic(extent))
          parameters.push_back(
              {static_cast<unsigned>(number), static_cast<int64_t>(dimension)});
  }
  return parameters;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

Size SizeAnalysis::get(Value value) { return lookup({value, -1}); }

Size SizeAnalysis::getExtent(Value memref, int64_t dimension) {
  return lookup({memref, dimension});
}

Size SizeAnalysis::getTrips(LoopLikeOpInterface loop) {
  auto lower = loop.getLoopLowerBounds();
  auto upper = loop.getLoopUpperBounds();
  auto steps = loop.getLoopSteps();
  if (!lower || !upper || !steps)
    return nullptr;
  Size trips = sizes.constant(1);
  auto forOp = dyn_cast<scf::ForOp>(*loop);
  SizeOp less = forOp && forOp.getUnsignedCmp() ? SizeOp::LessU : SizeOp::LessS;
  for (auto [from, to, step] : llvm::zip_equal(*lower, *upper, *steps)) {
    Size first = computeMixed(from), last = computeMixed(to);
    Size stride = computeMixed(step);
    if (!first || !last || !stride)
      return nullptr;
    Size zero = sizes.constant(0);
    Size length = sizes.get(SizeOp::Sub, {last, first});
    Size count = sizes.get(SizeOp::CeilDivU, {length, stride});
    Size runs = sizes.get(less, {first, last});
    trips = sizes.mulBytes(trips, sizes.select(runs, count, zero));
  }
  return trips;
}

Size SizeAnalysis::translate(Size expr, func::FuncOp callee,
                             ValueRange arguments) {
  SmallVector<Size> values;
  SmallVector<bool> used;
  for (Size part : inOrder(expr))
    if (part->op == SizeOp::Parameter) {
      used.resize(std::max<size_t>(used.size(), part->value + 1));
      used[part->value] = true;
    }
  for (auto [number, parameter] : llvm::enumerate(getSizeParameters(callee)))
    values.push_back(number < used.size() && used[number]
                         ? getArgument(arguments, parameter)
                         : nullptr);
  return sizes.substitute(expr, values);
}

UnknownSize SizeAnalysis::getReason(Value value) {
  auto found = reasons.find(value);
  if (found != reasons.end())
    return found->second;
  return {value.getLoc(), "it does not follow from shapes"};
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

Size SizeAnalysis::unknown(Key key, Location loc, const Twine &reason) {
  reasons.try_emplace(key.first, UnknownSize{loc, reason.str()});
  return nullptr;
}

Size SizeAnalysis::computeMixed(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return sizes.constant(cast<IntegerAttr>(attribute).getInt());
  return get(cast<Value>(value));
}

Size SizeAnalysis::lookup(Key key) {
  if (key.second >= 0) {
    auto type = cast<MemRefType>(key.first.getType());
    if (!type.isDynamicDim(key.second))
      return sizes.constant(type.getDimSize(key.second));
  }
  if (auto found = known.find(key); found != known.end())
    return found->second;
  // Every cycle goes through a value that a loop carries, or a call.
  if (auto found = assumed.find(key); found != assumed.end())
    return found->second;
  Size result = compute(key);
  known[key] = result;
  trail.push_back(key);
  // What made a value unknown is told of what is computed from it.
  if (!result && !reasons.contains(key.first))
    if (Operation *op = key.first.getDefiningOp())
      for (Value operand : op->getOperands())
        if (auto found = reasons.find(operand); found != reasons.end()) {
          UnknownSize reason = found->second;
          reasons.try_emplace(key.first, reason);
          break;
        }
  return result;
}

Size SizeAnalysis::compute(Key key) {
  if (auto argument = dyn_cast<BlockArgument>(key.first))
    return computeArgument(key);
  Operation *op = key.first.getDefiningOp();
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    return computeJoin(key, branch);
  if (auto call = dyn_cast<func::CallOp>(op))
    return computeCall(key, call);
  return key.second < 0 ? computeOp(key, op) : computeExtent(key, op);
}

Size SizeAnalysis::computeArgument(Key key) {
  auto argument = cast<BlockArgument>(key.first);
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto function = dyn_cast<func::FuncOp>(parent)) {
    if (!argument.getOwner()->isEntryBlock())
      return unknown(key, argument.getLoc(), "it depends on a branch");
    for (auto [number, parameter] :
         llvm::enumerate(getSizeParameters(function)))
      if (parameter.argument == argument.getArgNumber() &&
          parameter.dimension == key.second)
        return sizes.parameter(number);
    return unknown(key, argument.getLoc(),
                   "it depends on an argument that is no index");
  }
  if (auto loop = dyn_cast<LoopLikeOpInterface>(parent))
    if (auto variables = loop.getLoopInductionVars();
        variables && llvm::is_contained(*variables, key.first))
      return unknown(key, argument.getLoc(),
                     "it changes from one trip of a loop to the next");
  if (auto branch = dyn_cast<RegionBranchOpInterface>(parent))
    return computeJoin(key, branch);
  return unknown(key, argument.getLoc(), "it is an argument of a region");
}

static std::optional<SizeOp> getPredicate(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return SizeOp::Equal;
  case arith::CmpIPredicate::ne:
    return SizeOp::NotEqual;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sgt:
    return SizeOp::LessS;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::sge:
    return SizeOp::LessEqualS;
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::ugt:
    return SizeOp::LessU;
  case arith::CmpIPredicate::ule:
  case arith::CmpIPredicate::uge:
    return SizeOp::LessEqualU;
  }
  return std::nullopt;
}

static bool isSwapped(arith::CmpIPredicate predicate) {
  return predicate == arith::CmpIPredicate::sgt ||
         predicate == arith::CmpIPredicate::sge ||
         predicate == arith::CmpIPredicate::ugt ||
         predicate == arith::CmpIPredicate::uge;
}

static std::optional<SizeOp> getArithmetic(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<SizeOp>>(op)
      .Case([](arith::AddIOp) { return SizeOp::Add; })
      .Case([](arith::SubIOp) { return SizeOp::Sub; })
      .Case([](arith::MulIOp) { return SizeOp::Mul; })
      .Case([](arith::DivSIOp) { return SizeOp::DivS; })
      .Case([](arith::DivUIOp) { return SizeOp::DivU; })
      .Case([](arith::CeilDivSIOp) { return SizeOp::CeilDivS; })
      .Case([](arith::CeilDivUIOp) { return SizeOp::CeilDivU; })
      .Case([](arith::FloorDivSIOp) { return SizeOp::FloorDivS; })
      .Case([](arith::RemSIOp) { return SizeOp::RemS; })
      .Case([](arith::RemUIOp) { return SizeOp::RemU; })
      .Case([](arith::MinSIOp) { return SizeOp::MinS; })
      .Case([](arith::MaxSIOp) { return SizeOp::MaxS; })
      .Case([](arith::MinUIOp) { return SizeOp::MinU; })
      .Case([](arith::MaxUIOp) { return SizeOp::MaxU; })
      .Case([](arith::AndIOp) { return SizeOp::And; })
      .Case([](arith::OrIOp) { return SizeOp::Or; })
      .Case([](arith::XOrIOp) { return SizeOp::Xor; })
      .Case([](arith::SelectOp) { return SizeOp::Select; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Types whose arithmetic is that of 64 bits, or of one bit.
static bool isFollowed(Type type) {
  return type.isIndex() || type.isInteger(64) || type.isInteger(1);
}

/// Whether the arithmetic of 64 bits is that of the op: of one bit, only what
/// has no sign is.
static bool isExact(Operation *op) {
  if (!op->getOperand(op->getNumOperands() - 1).getType().isInteger(1))
    return true;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compare.getPredicate() == arith::CmpIPredicate::eq ||
           compare.getPredicate() == arith::CmpIPredicate::ne;
  return isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp>(op);
}

Size SizeAnalysis::computeOp(Key key, Operation *op) {
  if (!isFollowed(key.first.getType()))
    return unknown(key, op->getLoc(), "it is computed in another type");
  if (llvm::APInt number; matchPattern(op, m_ConstantInt(&number)))
    return sizes.constant(number.getBitWidth() == 1 ? number.getZExtValue()
                                                    : number.getSExtValue());
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = dyn_cast<MemRefType>(dim.getSource().getType());
    if (!index || !type || *index < 0 || *index >= type.getRank())
      return unknown(key, op->getLoc(), "which extent it is is not known");
    return getExtent(dim.getSource(), *index);
  }
  if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op))
    return computeAffine(op);
  // Of one bit, a cast is a sign or drops the others; only its widening with 0
  // keeps the number.
  bool isWide = !key.first.getType().isInteger(1);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp>(op) &&
      isWide && isFollowed(op->getOperand(0).getType()) &&
      (isa<arith::ExtUIOp>(op) || !op->getOperand(0).getType().isInteger(1)))
    return get(op->getOperand(0));

  SmallVector<Size, 3> operands;
  std::optional<SizeOp> arithmetic = getArithmetic(op);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if ((!arithmetic && !compare) || !isExact(op))
    return unknown(key, op->getLoc(),
                   "it is what '" + op->getName().getStringRef() + "' gives");
  for (Value operand : op->getOperands()) {
    Size size = isFollowed(operand.getType()) ? get(operand) : nullptr;
    if (!size)
      return nullptr;
    operands.push_back(size);
  }
  if (compare) {
    if (isSwapped(compare.getPredicate()))
      std::swap(operands[0], operands[1]);
    arithmetic = getPredicate(compare.getPredicate());
  }
  Size result = sizes.get(*arithmetic, operands);
  // One bit stays one bit.
  if (key.first.getType().isInteger(1) && !compare)
    result = sizes.get(SizeOp::And, {result, sizes.constant(1)});
  return result;
}

Size SizeAnalysis::computeAffine(AffineExpr expr, ArrayRef<Size> dims,
                                 ArrayRef<Size> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return sizes.constant(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Size left = computeAffine(binary.getLHS(), dims, symbols);
  Size right = computeAffine(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return sizes.get(SizeOp::Add, {left, right});
  case AffineExprKind::Mul:
    return sizes.get(SizeOp::Mul, {left, right});
  case AffineExprKind::FloorDiv:
    return sizes.get(SizeOp::FloorDivS, {left, right});
  case AffineExprKind::CeilDiv:
    return sizes.get(SizeOp::CeilDivS, {left, right});
  default: {
    // An affine remainder is never negative.
    Size quotient = sizes.get(SizeOp::FloorDivS, {left, right});
    return sizes.get(SizeOp::Sub,
                     {left, sizes.get(SizeOp::Mul, {quotient, right})});
  }
  }
}

Size SizeAnalysis::computeAffine(Operation *op) {
  SmallVector<Size> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(get(operand));
    if (!operands.back())
      return nullptr;
  }
  AffineMap map = cast<AffineMapAttr>(op->getAttr("map")).getValue();
  auto dims = ArrayRef(operands).take_front(map.getNumDims());
  auto symbols = ArrayRef(operands).drop_front(map.getNumDims());
  Size result = nullptr;
  for (AffineExpr expr : map.getResults()) {
    Size value = computeAffine(expr, dims, symbols);
    SizeOp join = isa<affine::AffineMinOp>(op) ? SizeOp::MinS : SizeOp::MaxS;
    result = result ? sizes.get(join, {result, value}) : value;
  }
  return result;
}

Size SizeAnalysis::computeExtent(Key key, Operation *op) {
  int64_t dimension = key.second;
  auto type = cast<MemRefType>(key.first.getType());
  auto pick = [&](ValueRange dynamic) {
    return get(dynamic[type.getDynamicDimIndex(dimension)]);
  };
  return llvm::TypeSwitch<Operation *, Size>(op)
      .Case([&](AllocOp alloc) { return pick(alloc.getExtents()); })
      .Case(
          [&](memref::AllocOp alloc) { return pick(alloc.getDynamicSizes()); })
      .Case(
          [&](memref::AllocaOp alloc) { return pick(alloc.getDynamicSizes()); })
      .Case([&](memref::ViewOp view) { return pick(view.getSizes()); })
      .Case([&](memref::SubViewOp view) {
        auto dropped = view.getDroppedDims();
        SmallVector<OpFoldResult> kept;
        for (auto [number, extent] : llvm::enumerate(view.getMixedSizes()))
          if (!dropped.test(number))
            kept.push_back(extent);
        return computeMixed(kept[dimension]);
      })
      .Case([&](memref::ReinterpretCastOp cast) {
        return computeMixed(cast.getMixedSizes()[dimension]);
      })
      .Case([&](memref::ExpandShapeOp expand) {
        return computeMixed(expand.getMixedOutputShape()[dimension]);
      })
      .Case([&](memref::CollapseShapeOp collapse) {
        Size product = sizes.constant(1);
        for (int64_t source : collapse.getReassociationIndices()[dimension]) {
          Size extent = getExtent(collapse.getSrc(), source);
          product = extent && product
                        ? sizes.get(SizeOp::Mul, {product, extent})
                        : nullptr;
        }
        return product;
      })
      .Case([&](memref::TransposeOp transpose) {
        return getExtent(transpose.getIn(),
                         transpose.getPermutation().getDimPosition(dimension));
      })
      .Case<memref::CastOp, memref::MemorySpaceCastOp,
            memref::AssumeAlignmentOp>([&](Operation *cast) -> Size {
        if (!isa<MemRefType>(cast->getOperand(0).getType()))
          return unknown(key, op->getLoc(), "its rank is not known");
        return getExtent(cast->getOperand(0), dimension);
      })
      .Case([&](arith::SelectOp select) -> Size {
        Size then = getExtent(select.getTrueValue(), dimension);
        Size otherwise = getExtent(select.getFalseValue(), dimension);
        if (!then || !otherwise || then == otherwise)
          return then == otherwise ? then : nullptr;
        Size condition = get(select.getCondition());
        return condition ? sizes.select(condition, then, otherwise) : nullptr;
      })
      .Default([&](Operation *) {
        return unknown(key, op->getLoc(),
                       "it is an extent of what '" +
                           op->getName().getStringRef() + "' gives");
      });
}

Size SizeAnalysis::computeCall(Key key, func::CallOp call) {
  auto callee = dyn_cast_or_null<func::FuncOp>(
      symbols.lookupNearestSymbolFrom(call, call.getCalleeAttr()));
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return unknown(key, call.getLoc(),
                   "it is what '" + call.getCallee() + "' returns");
  auto ret = dyn_cast<func::ReturnOp>(callee.getBody().front().getTerminator());
  if (!ret)
    return unknown(key, call.getLoc(),
                   "'" + call.getCallee() + "' does not return");
  Value returned = ret.getOperand(cast<OpResult>(key.first).getResultNumber());
  if (!active.insert(call).second)
    return unknown(key, call.getLoc(), "the call is recursive");
  Size inside = lookup({returned, key.second});
  active.erase(call);
  if (!inside) {
    if (auto found = reasons.find(returned); found != reasons.end()) {
      UnknownSize reason = found->second;
      reasons.try_emplace(key.first, reason);
    }
    return nullptr;
  }
  return translate(inside, callee, call.getArgOperands());
}

/// What may be one of several: the only one there is, or what a condition that
/// is known chooses. Of what a loop carries it is what it starts with, if no
/// trip changes that.
Size SizeAnalysis::computeJoin(Key key, RegionBranchOpInterface branch) {
  SmallVector<Value> sources;
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping);
  for (auto &[operand, inputs] : mapping)
    if (llvm::is_contained(inputs, key.first))
      sources.push_back(operand->get());
  // What is there before the op comes first.
  llvm::stable_sort(sources, [&](Value left, Value right) {
    auto isInside = [&](Value value) {
      return branch->isAncestor(value.getParentBlock()->getParentOp());
    };
    return isInside(left) < isInside(right);
  });
  if (sources.empty())
    return unknown(key, branch->getLoc(), "where it comes from is not known");

  if (auto ifOp = dyn_cast<scf::IfOp>(*branch)) {
    unsigned number = cast<OpResult>(key.first).getResultNumber();
    Size then = lookup({ifOp.thenYield().getOperand(number), key.second});
    Size otherwise = lookup({ifOp.elseYield().getOperand(number), key.second});
    Size condition = then && otherwise && then != otherwise
                         ? get(ifOp.getCondition())
                         : nullptr;
    if (condition)
      return sizes.select(condition, then, otherwise);
    if (then && then == otherwise)
      return then;
    return unknown(key, branch->getLoc(), "it depends on the branch taken");
  }

  Size first = lookup({sources.front(), key.second});
  if (!first)
    return nullptr;
  assumed[key] = first;
  size_t before = trail.size();
  bool holds = llvm::all_of(ArrayRef(sources).drop_front(), [&](Value source) {
    return lookup({source, key.second}) == first;
  });
  assumed.erase(key);
  if (holds)
    return first;
  // What was computed meanwhile rests on a false assumption.
  while (trail.size() > before)
    known.erase(trail.pop_back_val());
  return unknown(key, branch->getLoc(),
                 "it may change in '" + branch->getName().getStringRef() + "'");
}
