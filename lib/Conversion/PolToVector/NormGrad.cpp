//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The tuned expansions of pol.rms_norm_grad and pol.layer_norm_grad.

#include "ColumnSums.h"
#include "ExpandKernel.h"
#include "RowPipeline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
/// What the backward passes of the two norms have in common. An operand that
/// the kernel lacks is null.
struct Operands {
  Value x, dy, weight, mean, rstd;
  Value dx, dweight, dbias, dweightPartials, dbiasPartials;
  double offset;
};

class NormGrad : RowPipeline {
public:
  NormGrad(OpBuilder &builder, Location loc, Operands op, TargetAttr target)
      : RowPipeline(builder, loc, target, getInputs(op), op.dx), op(op),
        type(rows.getType()) {}

  void build(OpBuilder &builder);

private:
  /// What is read: x where it takes part.
  static SmallVector<Value> getInputs(const Operands &op) {
    SmallVector<Value> inputs{op.dy};
    if (op.dx || op.dweight)
      inputs.push_back(op.x);
    return inputs;
  }
  /// What a row's elements are computed with, all lanes the same. `along` is
  /// mean(dy·g·x̂), `average` mean(dy·g); null where dx is not asked for.
  struct RowFactors {
    Value rstd, mean, along, average;
  };
  RowFactors getFactors(ValueRange values);

  unsigned getNumSums() const { return (op.dweight ? 1 : 0) + !!op.dbias; }
  Counts getCounts() const override {
    unsigned given = op.mean ? 2 : 1;
    return {given, op.dx ? given : 0, op.dx ? 2 * given : given};
  }
  /// What is added up does not depend on what else is asked for.
  int64_t getGroupRows() const override { return rows.hasFewStreams() ? 1 : 2; }
  SmallVector<Value> prepare(OpBuilder &builder, const Row &row) override;
  void add(VectorBuilder &v, const Row &row, ValueRange prepared, Value index,
           Value mask, MutableArrayRef<Value> sums) override;
  Factors finish(OpBuilder &builder, const Row &row, ValueRange prepared,
                 ValueRange sums) override;
  Value getResult(VectorBuilder &v, const Row &row, ValueRange factors,
                  Value index, Value mask) override;
  void write(VectorBuilder &v, ArrayRef<Row> group,
             ArrayRef<SmallVector<Value>> factors, Value index, Value mask,
             StoreKind kind) override;
  void prefetchShared(VectorBuilder &v, Value index) override {
    if (op.weight)
      v.prefetch(op.weight, index, /*level=*/1);
    if (sums)
      sums->prefetch(v, index);
  }

  Value loadWeight(VectorBuilder &v, Value index, Value mask);
  Value loadNormalized(VectorBuilder &v, const Row &row,
                       const RowFactors &factors, Value index, Value mask);
  Value buildElement(VectorBuilder &v, Value normalized, Value dy, Value weight,
                     const RowFactors &factors);
  void buildInOrder(OpBuilder &builder, IndexRange range);
  void buildBlock(OpBuilder &builder, IndexRange block);

  Operands op;
  FloatType type;
  /// Where dweight and dbias are added up; null where there are none.
  ColumnSums *sums = nullptr;
};
} // namespace

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

NormGrad::RowFactors NormGrad::getFactors(ValueRange values) {
  RowFactors factors{values[0], {}, {}, {}};
  if (op.mean)
    factors.mean = values[1];
  unsigned given = op.mean ? 2 : 1;
  if (values.size() > given)
    factors.along = values[given];
  if (values.size() > given && op.mean)
    factors.average = values[given + 1];
  return factors;
}

/// weight + offset, null if there is no weight.
Value NormGrad::loadWeight(VectorBuilder &v, Value index, Value mask) {
  if (!op.weight)
    return {};
  Value weight = v.load(op.weight, index, mask);
  return op.offset == 0 ? weight : v.add(weight, v.constant(op.offset));
}

/// x̂ = (x − μ) · rstd
Value NormGrad::loadNormalized(VectorBuilder &v, const Row &row,
                               const RowFactors &factors, Value index,
                               Value mask) {
  Value x = v.load(row.inputs[1], index, mask);
  if (factors.mean)
    x = v.subtract(x, factors.mean);
  return v.multiply(x, factors.rstd);
}

/// rstd · (dy·g − mean(dy·g) − x̂ · mean(dy·g·x̂)), where the first mean is that
/// of kernels that subtract the row's.
Value NormGrad::buildElement(VectorBuilder &v, Value normalized, Value dy,
                             Value weight, const RowFactors &factors) {
  Value value = weight ? v.multiply(dy, weight) : dy;
  if (factors.average)
    value = v.subtract(value, factors.average);
  value = v.subtract(value, v.multiply(normalized, factors.along));
  return v.multiply(value, factors.rstd);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// rstd and the mean, which the forward pass has kept.
SmallVector<Value> NormGrad::prepare(OpBuilder &builder, const Row &row) {
  FloatBuilder floats{builder, loc, type};
  SmallVector<Value> given{floats.load(op.rstd, row.at)};
  if (op.mean)
    given.push_back(floats.load(op.mean, row.at));
  return given;
}

/// The sums of dy·g·x̂ and of dy·g.
void NormGrad::add(VectorBuilder &v, const Row &row, ValueRange prepared,
                   Value index, Value mask, MutableArrayRef<Value> running) {
  Value normalized = loadNormalized(v, row, getFactors(prepared), index, mask);
  // Where there is no element, 0 need not be finite when scaled.
  if (mask)
    normalized = v.select(mask, normalized, v.constant(0.0));
  Value weighted = v.load(row.inputs[0], index, mask);
  if (Value weight = loadWeight(v, index, mask))
    weighted = v.multiply(weighted, weight);
  running[0] = v.fma(weighted, normalized, running[0]);
  if (op.mean)
    running[1] = v.add(running[1], weighted);
}

RowPipeline::Factors NormGrad::finish(OpBuilder &builder, const Row &,
                                      ValueRange prepared, ValueRange sums) {
  FloatBuilder floats{builder, loc, type};
  SmallVector<Value> values(prepared);
  for (Value sum : sums)
    values.push_back(floats.divide(sum, rows.getCount()));
  return {values, /*isPlain=*/Value()};
}

/// Both means are complete before an element is written, and each is read
/// before that: dx may be x or dy.
Value NormGrad::getResult(VectorBuilder &v, const Row &row, ValueRange values,
                          Value index, Value mask) {
  RowFactors factors = getFactors(values);
  Value normalized = loadNormalized(v, row, factors, index, mask);
  return buildElement(v, normalized, v.load(row.inputs[0], index, mask),
                      loadWeight(v, index, mask), factors);
}

/// Adds one vector of columns in all rows of a group up, too, in registers.
void NormGrad::write(VectorBuilder &v, ArrayRef<Row> group,
                     ArrayRef<SmallVector<Value>> factors, Value index,
                     Value mask, StoreKind kind) {
  if (!sums)
    return RowPipeline::write(v, group, factors, index, mask, kind);
  Value weight = op.dx ? loadWeight(v, index, mask) : Value();
  SmallVector<Value> addends(getNumSums(), v.constant(0.0)), results;
  for (auto [row, values] : llvm::zip_equal(group, factors)) {
    RowFactors rowFactors = getFactors(values);
    Value dy = v.load(row.inputs[0], index, mask);
    Value normalized;
    if (op.dx || op.dweight)
      normalized = loadNormalized(v, row, rowFactors, index, mask);
    if (op.dweight)
      addends.front() = v.fma(dy, normalized, addends.front());
    if (op.dbias)
      addends.back() = v.add(addends.back(), dy);
    if (op.dx)
      results.push_back(buildElement(v, normalized, dy, weight, rowFactors));
  }
  if (op.dx)
    for (auto [row, result] : llvm::zip_equal(group, results))
      v.store(result, row.output, index, mask, kind);
  sums->add(v, addends, index, mask);
}

//===----------------------------------------------------------------------===//
// With sums over rows
//===----------------------------------------------------------------------===//

/// Rows that are summed before they are written, tile by tile of columns.
static constexpr int64_t kTiledRows = 4;

/// Walks through some rows in groups, and through those that are left one by
/// one: none in the shadow of others.
void NormGrad::buildInOrder(OpBuilder &builder, IndexRange range) {
  // Elsewhere, groups have written what goes past the caches.
  bool isTiled = rows.hasFewStreams();
  Value aligned = arith::ConstantIntOp::create(builder, loc, 0, 1);
  if (op.dx && isTiled)
    aligned = areAligned(builder, range);
  auto build = [&](Value begin, Value end, int64_t count) {
    buildLoop(
        builder, loc, begin, end, count,
        [&](OpBuilder &b, Location, ValueRange first) {
          Group group{first.front(), count};
          Summed summed = buildSums(b, group);
          rows.chooseKind(b, aligned, [&](OpBuilder &inner, StoreKind kind) {
            if (isTiled && count > 1)
              return buildTiledWrites(inner, group, summed.factors, kind);
            buildWrites(inner, group, summed.factors, kind);
          });
        });
  };
  int64_t groupRows = isTiled ? kTiledRows : getGroupRows();
  Value wholeEnd = getWholeEnd(builder, range, groupRows);
  if (isTiled)
    wholeEnd = builder.createOrFold<arith::SelectOp>(
        loc, areTiled(builder, groupRows), wholeEnd, range.begin);
  build(range.begin, wholeEnd, groupRows);
  build(wholeEnd, range.end, 1);
  if (isTiled)
    rows.fenceStores(builder);
}

/// Groups of a block are the same ones, however they are walked through.
void NormGrad::buildBlock(OpBuilder &builder, IndexRange block) {
  Value begin = block.begin;
  if (op.dx)
    begin = buildGroups(builder, block, areGrouped(builder));
  buildInOrder(builder, {begin, block.end});
}

void NormGrad::build(OpBuilder &builder) {
  if (getNumSums() == 0) {
    if (op.dx)
      buildRows(builder);
    return;
  }
  SmallVector<ColumnSums::Output> outputs;
  if (op.dweight)
    outputs.push_back({op.dweightPartials, op.dweight});
  if (op.dbias)
    outputs.push_back({op.dbiasPartials, op.dbias});
  ColumnSums(builder, loc, rows, outputs)
      .build(builder, [&](OpBuilder &b, ColumnSums &given, IndexRange block) {
        sums = &given;
        buildBlock(b, block);
      });
}

static void expandRmsNormGrad(OpBuilder &builder, RmsNormGradOp op,
                              TargetAttr target) {
  Operands operands{op.getX(),
                    op.getDy(),
                    op.getWeight(),
                    /*mean=*/Value(),
                    op.getRstd(),
                    op.getDx(),
                    op.getDweight(),
                    /*dbias=*/Value(),
                    op.getDweightPartials(),
                    /*dbiasPartials=*/Value(),
                    op.getOffset().convertToDouble()};
  NormGrad(builder, op.getLoc(), operands, target).build(builder);
}

static void expandLayerNormGrad(OpBuilder &builder, LayerNormGradOp op,
                                TargetAttr target) {
  Operands operands{op.getX(),
                    op.getDy(),
                    op.getWeight(),
                    op.getMean(),
                    op.getRstd(),
                    op.getDx(),
                    op.getDweight(),
                    op.getDbias(),
                    op.getDweightPartials(),
                    op.getDbiasPartials(),
                    /*offset=*/0.0};
  NormGrad(builder, op.getLoc(), operands, target).build(builder);
}

void mlir::pol::populateNormGradToVectorPatterns(RewritePatternSet &patterns,
                                                 TargetAttr target) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandToVector<RmsNormGradOp>>(context, expandRmsNormGrad,
                                              target);
  patterns.add<ExpandToVector<LayerNormGradOp>>(context, expandLayerNormGrad,
                                                target);
}
