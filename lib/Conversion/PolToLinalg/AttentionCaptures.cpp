//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Gradients of what the scores of attention capture. Positions that read one
// element are summed in a fixed order. Where each index of a load is at most
// one of batch, head, query and key, shifted or capped, the positions of an
// element follow from its place, and elements are summed side by side. What is
// left is added up position by position.

#include "AttentionGradients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pol/IR/CaptureLoads.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
/// Builds the gradient of one capture.
class CaptureGradient {
public:
  CaptureGradient(OpBuilder &builder, ScoreGradients &gradients,
                  unsigned number, Value destination, Value firstSum)
      : gradients(gradients), scores(gradients.scores), loc(gradients.loc),
        argument(number + kFirstScoreCapture), destination(destination),
        firstSum(firstSum), extents{scores.getNumSequences(builder),
                                    scores.heads, scores.queries, scores.keys} {
  }

  void build(OpBuilder &builder);

private:
  Value constant(OpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value evaluate(OpBuilder &builder, Value value, const Query &query,
                 Value key);
  void clear(OpBuilder &builder);
  void forEachElement(OpBuilder &builder,
                      function_ref<void(OpBuilder &, ValueRange)> body);
  Value getSum(OpBuilder &builder, ValueRange indices);
  Compensated loadSum(OpBuilder &builder, Value at);
  void storeSum(OpBuilder &builder, Value at, Compensated sum);
  void addPlaced(OpBuilder &builder, Operation *load, const PlacedLoad &map);
  void addScattered(OpBuilder &builder, ArrayRef<Operation *> loads);
  IndexRange getGroup(OpBuilder &builder, unsigned axis, const AxisUse &use,
                      Value owner, Value cap);
  Value sumOver(OpBuilder &builder, IndexRange range,
                function_ref<Value(OpBuilder &, Value)> addend);
  Value sumKeys(OpBuilder &builder, const Query &query, bool isOne, Value key,
                Operation *load);
  void addTo(OpBuilder &builder, ValueRange indices, Value addend,
             bool isScattered);

  ScoreGradients &gradients;
  AttentionScores &scores;
  Location loc;
  /// Of the score region.
  unsigned argument;
  Value destination;
  /// Where sums of the capture begin in the scratch for them; null without it.
  Value firstSum;
  std::array<Value, kNumScoreAxes> extents;
};
} // namespace

/// A value of the score region at a position. It depends on no score.
Value CaptureGradient::evaluate(OpBuilder &builder, Value value,
                                const Query &query, Value key) {
  Block &block = gradients.op.getScore().front();
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && needed.insert(op))
      llvm::append_range(work, op->getOperands());
  }
  IRMapping mapping;
  SmallVector<Value> arguments = scores.getScoreArguments(query, key, Value());
  for (auto [from, to] :
       llvm::drop_begin(llvm::zip_equal(block.getArguments(), arguments)))
    mapping.map(from, to);
  for (Operation &op : block)
    if (needed.contains(&op))
      builder.clone(op, mapping);
  return mapping.lookup(value);
}

void CaptureGradient::forEachElement(
    OpBuilder &builder, function_ref<void(OpBuilder &, ValueRange)> body) {
  SmallVector<OpFoldResult> all =
      getLeadingExtents(builder, loc, destination, 0);
  // A loop of one trip for a single element, as what runs on a GPU is loops.
  bool isSingle = all.empty();
  if (isSingle)
    all.push_back(builder.getIndexAttr(1));
  buildParallelLoop(builder, loc, all,
                    [&](OpBuilder &b, Location, ValueRange at) {
                      body(b, isSingle ? ValueRange() : at);
                    });
}

void CaptureGradient::clear(OpBuilder &builder) {
  FloatType type = gradients.type;
  forEachElement(builder, [&](OpBuilder &b, ValueRange at) {
    FloatBuilder floats{b, loc, type};
    floats.store(floats.constant(0.0), destination, at);
    if (firstSum)
      storeSum(b, getSum(b, at), Compensated::zero(b, loc, type));
  });
}

/// Where the sum of an element is, behind which what it has lost is.
Value CaptureGradient::getSum(OpBuilder &builder, ValueRange indices) {
  Value number = constant(builder, 0);
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    Value extent = getValueOrCreateConstantIndexOp(
        builder, loc, getExtent(builder, loc, destination, dimension));
    number = arith::AddIOp::create(
        builder, loc, arith::MulIOp::create(builder, loc, number, extent),
        index);
  }
  number = arith::MulIOp::create(builder, loc, number, constant(builder, 2));
  return arith::AddIOp::create(builder, loc, firstSum, number);
}

Compensated CaptureGradient::loadSum(OpBuilder &builder, Value at) {
  FloatBuilder floats{builder, loc, gradients.type};
  Value sums = gradients.op.getCaptureSums();
  Value next = arith::AddIOp::create(builder, loc, at, constant(builder, 1));
  return {floats.load(sums, at), floats.load(sums, next)};
}

void CaptureGradient::storeSum(OpBuilder &builder, Value at, Compensated sum) {
  FloatBuilder floats{builder, loc, gradients.type};
  Value sums = gradients.op.getCaptureSums();
  Value next = arith::AddIOp::create(builder, loc, at, constant(builder, 1));
  floats.store(sum.sum, sums, at);
  floats.store(sum.rest, sums, next);
}

/// Adds to an element; to none where indices are out of bounds, which they are
/// of positions that are not kept only.
void CaptureGradient::addTo(OpBuilder &builder, ValueRange indices,
                            Value addend, bool isScattered) {
  Value isInside = arith::ConstantIntOp::create(builder, loc, 1, 1);
  SmallVector<Value> at;
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    Value place = index;
    if (!place.getType().isIndex())
      place = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                         place);
    Value extent = getValueOrCreateConstantIndexOp(
        builder, loc, getExtent(builder, loc, destination, dimension));
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       place, extent);
    isInside = arith::AndIOp::create(builder, loc, isInside, fits);
    at.push_back(place);
  }
  scf::IfOp::create(builder, loc, isInside, [&](OpBuilder &b, Location) {
    FloatBuilder floats{b, loc, gradients.type};
    if (isScattered && firstSum) {
      Value sum = getSum(b, at);
      storeSum(b, sum, loadSum(b, sum).add(b, loc, addend));
    } else {
      floats.store(floats.add(floats.load(destination, at), addend),
                   destination, at);
    }
    scf::YieldOp::create(b, loc);
  });
}

//===----------------------------------------------------------------------===//
// Loads whose positions follow from the place of the element
//===----------------------------------------------------------------------===//

/// The positions along an axis that read an element.
IndexRange CaptureGradient::getGroup(OpBuilder &builder, unsigned axis,
                                     const AxisUse &use, Value owner,
                                     Value cap) {
  if (!use.isUsed)
    return {constant(builder, 0), extents[axis]};
  Value end = arith::AddIOp::create(builder, loc, owner, constant(builder, 1));
  if (cap) {
    Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         owner, cap);
    end = arith::SelectOp::create(builder, loc, isLast, extents[axis], end);
  }
  return {owner, end};
}

Value CaptureGradient::sumOver(OpBuilder &builder, IndexRange range,
                               function_ref<Value(OpBuilder &, Value)> addend) {
  Compensated sum = addBlockedSum(
      builder, loc, Compensated::zero(builder, loc, gradients.type), range,
      gradients.sumBlock,
      [&](OpBuilder &b, Location, Value index) { return addend(b, index); });
  return sum.get(builder, loc);
}

/// Over the keys that a query keeps, or of one key if it is kept.
Value CaptureGradient::sumKeys(OpBuilder &builder, const Query &query,
                               bool isOne, Value key, Operation *load) {
  Value zero = FloatBuilder{builder, loc, gradients.type}.constant(0.0);
  auto getAddend = [&](OpBuilder &b, const KeptRange &kept, Value at) {
    return buildWhereKept(b, loc, kept, at, zero, [&](OpBuilder &inner) {
      return gradients.getLoadGradient(inner, query, at, load);
    });
  };
  if (isOne) {
    KeptRange kept{
        {}, [&](OpBuilder &b, Value at) -> Value {
          Value exists = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::slt, at, query.sequence.numKeys);
          return scf::IfOp::create(
                     b, loc, exists,
                     [&](OpBuilder &inner, Location) {
                       scf::YieldOp::create(inner, loc,
                                            scores.isKept(inner, query, at));
                     },
                     [&](OpBuilder &inner, Location) {
                       Value no =
                           arith::ConstantIntOp::create(inner, loc, 0, 1);
                       scf::YieldOp::create(inner, loc, no);
                     })
              .getResult(0);
        }};
    return getAddend(builder, kept, key);
  }
  auto addRange = [&](OpBuilder &b, const KeptRange &kept, ValueRange running) {
    Compensated sum = addBlockedSum(b, loc, {running[0], running[1]},
                                    kept.range, gradients.sumBlock,
                                    [&](OpBuilder &inner, Location, Value at) {
                                      return getAddend(inner, kept, at);
                                    });
    return SmallVector<Value>{sum.sum, sum.rest};
  };
  SmallVector<Value> sum =
      scores.overKeys(builder, query, ValueRange{zero, zero}, addRange);
  return Compensated{sum[0], sum[1]}.get(builder, loc);
}

void CaptureGradient::addPlaced(OpBuilder &builder, Operation *load,
                                const PlacedLoad &map) {
  Value zero = constant(builder, 0);
  Query nowhere{{zero, zero, {}, {}, zero, zero}, zero, zero, zero, zero};
  SmallVector<OpFoldResult> owners;
  std::array<Value, kNumScoreAxes> caps;
  for (auto [axis, use] : llvm::enumerate(map.axes)) {
    Value count = use.isUsed ? extents[axis] : constant(builder, 1);
    if (use.cap) {
      caps[axis] = evaluate(builder, use.cap, nowhere, zero);
      Value most =
          arith::AddIOp::create(builder, loc, caps[axis], constant(builder, 1));
      count = buildMax(builder, loc, zero, buildMin(builder, loc, count, most));
    }
    owners.push_back(getAsOpFoldResult(count));
  }
  auto addElement = [&](OpBuilder &b, Location, ValueRange owner) {
    std::array<IndexRange, kNumScoreAxes> groups;
    for (auto [axis, use] : llvm::enumerate(map.axes))
      groups[axis] = getGroup(b, axis, use, owner[axis], caps[axis]);
    Value sum = sumOver(b, groups[BatchAxis], [&](OpBuilder &b1, Value batch) {
      Sequence sequence = scores.getSequence(b1, batch);
      // Sequences may be shorter than their array.
      IndexRange rows{
          groups[QueryAxis].begin,
          buildMin(b1, loc, groups[QueryAxis].end, sequence.numQueries)};
      return sumOver(b1, groups[HeadAxis], [&](OpBuilder &b2, Value head) {
        return sumOver(b2, rows, [&](OpBuilder &b3, Value row) {
          Query query = scores.getQuery(b3, sequence, head, row);
          return sumKeys(b3, query, map.axes[KeyAxis].isUsed, owner[KeyAxis],
                         load);
        });
      });
    });
    Sequence first = nowhere.sequence;
    first.batch = owner[BatchAxis];
    Query query = scores.getQuery(b, first, owner[HeadAxis], owner[QueryAxis]);
    SmallVector<Value> indices;
    for (Value index : load->getOperands().drop_front())
      indices.push_back(evaluate(b, index, query, owner[KeyAxis]));
    addTo(b, indices, sum, /*isScattered=*/false);
  };
  buildParallelLoop(builder, loc, owners, addElement);
}

//===----------------------------------------------------------------------===//
// Other loads
//===----------------------------------------------------------------------===//

void CaptureGradient::addScattered(OpBuilder &builder,
                                   ArrayRef<Operation *> loads) {
  auto addQuery = [&](OpBuilder &b, const Query &query) {
    auto addKey = [&](OpBuilder &inner, Value key) {
      for (const RegionGradient::Load &load :
           gradients.getLoadGradients(inner, query, key, argument))
        if (llvm::is_contained(loads, load.op))
          addTo(inner, load.indices,
                convertFloat(inner, loc, load.cotangent, gradients.type),
                /*isScattered=*/true);
    };
    auto addRange = [&](OpBuilder &outer, const KeptRange &kept, ValueRange) {
      forEachKept(outer, loc, kept, addKey);
      return SmallVector<Value>();
    };
    scores.overKeys(b, query, {}, addRange);
  };
  Value zero = constant(builder, 0);
  auto addSequence = [&](OpBuilder &b, const Sequence &sequence) {
    buildLoop(b, loc, zero, scores.heads, 1,
              [&](OpBuilder &b1, Location, ValueRange head) {
                buildLoop(b1, loc, zero, sequence.numQueries, 1,
                          [&](OpBuilder &b2, Location, ValueRange row) {
                            addQuery(b2,
                                     scores.getQuery(b2, sequence, head.front(),
                                                     row.front()));
                          });
              });
  };
  // A loop of one trip, as what runs on a GPU is loops.
  buildParallelLoop(
      builder, loc, {builder.getIndexAttr(1)},
      [&](OpBuilder &b0, Location, ValueRange) {
        buildLoop(b0, loc, zero, extents[BatchAxis], 1,
                  [&](OpBuilder &b1, Location, ValueRange batch) {
                    addSequence(b1, scores.getSequence(b1, batch.front()));
                  });
      });
}

void CaptureGradient::build(OpBuilder &builder) {
  clear(builder);
  Value capture = gradients.op.getScore().empty()
                      ? Value()
                      : gradients.op.getScore().getArgument(argument);
  if (!capture)
    return;
  SmallVector<Operation *> scattered;
  // In the order of the program, not in that of uses.
  for (Operation &op : gradients.op.getScore().front()) {
    if (!isa<memref::LoadOp>(op) || op.getOperand(0) != capture)
      continue;
    if (std::optional<PlacedLoad> map = PlacedLoad::get(&op))
      addPlaced(builder, &op, *map);
    else
      scattered.push_back(&op);
  }
  if (scattered.empty())
    return;
  addScattered(builder, scattered);
  if (!firstSum)
    return;
  forEachElement(builder, [&](OpBuilder &b, ValueRange at) {
    FloatBuilder floats{b, loc, gradients.type};
    Value sum = loadSum(b, getSum(b, at)).get(b, loc);
    floats.store(floats.add(floats.load(destination, at), sum), destination,
                 at);
  });
}

void mlir::pol::buildCaptureGradients(OpBuilder &builder,
                                      ScoreGradients &gradients) {
  AttentionGradOp op = gradients.op;
  Location loc = gradients.loc;
  std::optional<ArrayRef<int64_t>> numbers = op.getCaptureGradients();
  Value next = arith::ConstantIndexOp::create(builder, loc, 0);
  for (auto [index, destination] : llvm::enumerate(op.getDcaptures())) {
    unsigned number = (*numbers)[index];
    bool usesSums = op.getCaptureSums() && isScattered(op.getScore(), number);
    CaptureGradient(builder, gradients, number, destination,
                    usesSums ? next : Value())
        .build(builder);
    if (usesSums)
      next = arith::AddIOp::create(builder, loc, next,
                                   buildNumSums(builder, loc, destination));
  }
}
