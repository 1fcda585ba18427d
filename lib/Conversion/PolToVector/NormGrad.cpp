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
#include "Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

/// Rows whose elements of dweight and dbias are added up in registers.
static constexpr int64_t kGroupRows = 4;

namespace {
/// What the backward passes of the two norms have in common. An operand that
/// the kernel lacks is null.
struct Operands {
  Value x, dy, weight, mean, rstd;
  Value dx, dweight, dbias, dweightPartials, dbiasPartials;
  double offset;
};

class NormGrad {
public:
  NormGrad(OpBuilder &builder, Location loc, Operands op, TargetAttr target)
      : loc(loc), op(op), rows(builder, loc, op.x, target),
        type(rows.getType()) {}

  void build(OpBuilder &builder);

private:
  /// What a row's elements are computed with, all lanes the same. `along` is
  /// mean(dy·g·x̂), `average` mean(dy·g); null where dx is not asked for.
  struct Factors {
    Value rstd, mean, along, average;
  };
  /// Rows of arrays.
  struct Views {
    Value x, dy, dx;
  };
  Views getViews(OpBuilder &builder, ValueRange at);
  Factors loadFactors(OpBuilder &builder, ValueRange at);
  Value loadWeight(VectorBuilder &v, Value index, Value mask);
  Value buildNormalized(VectorBuilder &v, Value x, const Factors &factors);
  void buildMeans(OpBuilder &builder, const Views &views, Factors &factors,
                  ValueRange ahead);
  Value buildElement(VectorBuilder &v, Value normalized, Value dy, Value weight,
                     const Factors &factors);
  void buildRow(OpBuilder &builder, ValueRange at);

  /// Rows of a group: so many from the first on.
  struct Group {
    Value first;
    int64_t count;
  };

  void buildBlock(OpBuilder &builder, ColumnSums &sums, IndexRange block);
  void buildGroup(OpBuilder &builder, ColumnSums &sums, Group group,
                  Value along, Value average);
  Rows::Ahead getAhead(OpBuilder &builder, Value row);
  Value buildGroupMeans(OpBuilder &builder, Group group, Value along,
                        Value average);
  void buildColumns(OpBuilder &builder, ColumnSums &sums, Group group,
                    Value along, Value average, StoreKind kind);
  SmallVector<Value> buildVector(VectorBuilder &v, ArrayRef<Views> views,
                                 ArrayRef<Factors> factors, Value column,
                                 Value mask, StoreKind kind);

  Value constant(OpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  unsigned getNumSums() const { return (op.dweight ? 1 : 0) + !!op.dbias; }

  Location loc;
  Operands op;
  Rows rows;
  FloatType type;
};
} // namespace

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

NormGrad::Views NormGrad::getViews(OpBuilder &builder, ValueRange at) {
  auto get = [&](Value array) {
    return array ? getRow(builder, loc, array, at, rows.getLength()) : Value();
  };
  return {get(op.x), get(op.dy), get(op.dx)};
}

NormGrad::Factors NormGrad::loadFactors(OpBuilder &builder, ValueRange at) {
  VectorBuilder all = rows.vectors(builder);
  FloatBuilder floats{builder, loc, type};
  Factors factors;
  factors.rstd = all.splat(floats.load(op.rstd, at));
  if (op.mean)
    factors.mean = all.splat(floats.load(op.mean, at));
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
Value NormGrad::buildNormalized(VectorBuilder &v, Value x,
                                const Factors &factors) {
  if (factors.mean)
    x = v.subtract(x, factors.mean);
  return v.multiply(x, factors.rstd);
}

/// The means of a row that dx takes.
void NormGrad::buildMeans(OpBuilder &builder, const Views &views,
                          Factors &factors, ValueRange ahead) {
  SmallVector<Value> sums = rows.sum(
      builder, op.mean ? 2 : 1,
      [&](VectorBuilder &v, Value index, Value mask,
          MutableArrayRef<Value> running) {
        Value normalized =
            buildNormalized(v, v.load(views.x, index, mask), factors);
        // Where there is no element, 0 need not be finite when scaled.
        if (mask)
          normalized = v.select(mask, normalized, v.constant(0.0));
        Value weighted = v.load(views.dy, index, mask);
        if (Value weight = loadWeight(v, index, mask))
          weighted = v.multiply(weighted, weight);
        running[0] = v.fma(weighted, normalized, running[0]);
        if (op.mean)
          running[1] = v.add(running[1], weighted);
      },
      ahead);
  FloatBuilder floats{builder, loc, type};
  factors.along = floats.divide(sums[0], rows.getCount());
  if (op.mean)
    factors.average = floats.divide(sums[1], rows.getCount());
}

/// rstd · (dy·g − mean(dy·g) − x̂ · mean(dy·g·x̂)), where the first mean is that
/// of kernels that subtract the row's.
Value NormGrad::buildElement(VectorBuilder &v, Value normalized, Value dy,
                             Value weight, const Factors &factors) {
  Value value = weight ? v.multiply(dy, weight) : dy;
  if (factors.average)
    value = v.subtract(value, factors.average);
  value = v.subtract(value, v.multiply(normalized, factors.along));
  return v.multiply(value, factors.rstd);
}

//===----------------------------------------------------------------------===//
// dx alone
//===----------------------------------------------------------------------===//

/// Both means are complete before an element is written, and each is read
/// before that: dx may be x or dy.
void NormGrad::buildRow(OpBuilder &builder, ValueRange at) {
  Views views = getViews(builder, at);
  Factors factors = loadFactors(builder, at);
  Rows::Ahead ahead = rows.getAhead(builder, {op.x, op.dy});
  buildMeans(builder, views, factors, ahead.inSum);
  VectorBuilder all = rows.vectors(builder);
  for (Value *mean : {&factors.along, &factors.average})
    if (*mean)
      *mean = all.splat(*mean);
  rows.write(builder, views.dx, ahead.inWrite,
             [&](VectorBuilder &v, Value index, Value mask, StoreKind kind) {
               Value normalized =
                   buildNormalized(v, v.load(views.x, index, mask), factors);
               Value value =
                   buildElement(v, normalized, v.load(views.dy, index, mask),
                                loadWeight(v, index, mask), factors);
               v.store(value, views.dx, index, mask, kind);
             });
}

//===----------------------------------------------------------------------===//
// With sums over rows
//===----------------------------------------------------------------------===//

// A block of rows is walked through in groups. For each group, the means of its
// rows are computed first; then vector after vector of columns is visited, in
// all of its rows, to write dx and to add up dweight and dbias in registers.
// Memory is read once.

/// The row of the next group in the place of one, of what is read.
Rows::Ahead NormGrad::getAhead(OpBuilder &builder, Value row) {
  SmallVector<Value> read{op.dy};
  if (op.dx || op.dweight)
    read.push_back(op.x);
  return rows.getAhead(builder, read, row, kGroupRows);
}

/// Computes the means of a group's rows; returns whether all rows of dx may be
/// written past the caches.
Value NormGrad::buildGroupMeans(OpBuilder &builder, Group group, Value along,
                                Value average) {
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  if (!op.dx)
    return yes;
  auto loop = scf::ForOp::create(
      builder, loc, constant(builder, 0), constant(builder, group.count),
      constant(builder, 1), yes,
      [&](OpBuilder &b, Location, Value slot, ValueRange given) {
        Value row = arith::AddIOp::create(b, loc, group.first, slot);
        SmallVector<Value> at = rows.getIndices(b, row);
        Views views = getViews(b, at);
        Factors factors = loadFactors(b, at);
        buildMeans(b, views, factors, getAhead(b, row).inSum);
        memref::StoreOp::create(b, loc, factors.along, along, slot);
        if (op.mean)
          memref::StoreOp::create(b, loc, factors.average, average, slot);
        Value isAligned = arith::AndIOp::create(b, loc, given.front(),
                                                rows.isAligned(b, views.dx));
        scf::YieldOp::create(b, loc, isAligned);
      });
  return loop.getResult(0);
}

/// Visits one vector of columns in all rows of a group: writes dx, and returns
/// the sums. All rows are read before any is written: where they are multiples
/// of a page apart, a load would have to wait for the store to another row that
/// seems to be to the same place.
SmallVector<Value> NormGrad::buildVector(VectorBuilder &v,
                                         ArrayRef<Views> views,
                                         ArrayRef<Factors> factors,
                                         Value column, Value mask,
                                         StoreKind kind) {
  Value weight = op.dx ? loadWeight(v, column, mask) : Value();
  SmallVector<Value> sums(getNumSums(), v.constant(0.0)), results;
  for (auto [row, rowFactors] : llvm::zip_equal(views, factors)) {
    Value dy = v.load(row.dy, column, mask);
    Value normalized;
    if (op.dx || op.dweight)
      normalized = buildNormalized(v, v.load(row.x, column, mask), rowFactors);
    if (op.dweight)
      sums.front() = v.fma(dy, normalized, sums.front());
    if (op.dbias)
      sums.back() = v.add(sums.back(), dy);
    if (op.dx)
      results.push_back(buildElement(v, normalized, dy, weight, rowFactors));
  }
  if (op.dx)
    for (auto [row, result] : llvm::zip_equal(views, results))
      v.store(result, row.dx, column, mask, kind);
  return sums;
}

void NormGrad::buildColumns(OpBuilder &builder, ColumnSums &sums, Group group,
                            Value along, Value average, StoreKind kind) {
  VectorBuilder all = rows.vectors(builder);
  SmallVector<Views> views;
  SmallVector<Factors> factors;
  SmallVector<Value> ahead;
  for (int64_t i = 0; i < group.count; ++i) {
    Value slot = constant(builder, i);
    Value row = arith::AddIOp::create(builder, loc, group.first, slot);
    SmallVector<Value> at = rows.getIndices(builder, row);
    views.push_back(getViews(builder, at));
    factors.push_back(loadFactors(builder, at));
    llvm::append_range(ahead, getAhead(builder, row).inWrite);
    auto load = [&](Value means) {
      return all.splat(memref::LoadOp::create(builder, loc, means, slot));
    };
    if (op.dx)
      factors.back().along = load(along);
    if (op.dx && op.mean)
      factors.back().average = load(average);
  }
  int64_t vector = 0;
  rows.forEachVector(builder, [&](VectorBuilder &v, Value column, Value mask) {
    if (kind == StoreKind::NonTemporal)
      rows.prefetchLines(v, ahead, column, vector++);
    sums.add(v, buildVector(v, views, factors, column, mask, kind), column,
             mask);
  });
}

void NormGrad::buildGroup(OpBuilder &builder, ColumnSums &sums, Group group,
                          Value along, Value average) {
  Value isAligned = buildGroupMeans(builder, group, along, average);
  Value goesPast =
      arith::AndIOp::create(builder, loc, rows.getIsLarge(), isAligned);
  auto choice =
      scf::IfOp::create(builder, loc, goesPast, /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder();
  buildColumns(then, sums, group, along, average, StoreKind::NonTemporal);
  OpBuilder otherwise = choice.getElseBodyBuilder();
  buildColumns(otherwise, sums, group, along, average, StoreKind::Plain);
}

void NormGrad::buildBlock(OpBuilder &builder, ColumnSums &sums,
                          IndexRange block) {
  auto slots = MemRefType::get(kGroupRows, type);
  Value along, average;
  if (op.dx)
    along = memref::AllocaOp::create(builder, loc, slots);
  if (op.dx && op.mean)
    average = memref::AllocaOp::create(builder, loc, slots);
  // Whole groups, and the rows that are left.
  Value count = arith::SubIOp::create(builder, loc, block.end, block.begin);
  Value left = arith::RemUIOp::create(builder, loc, count,
                                      constant(builder, kGroupRows));
  Value end = arith::SubIOp::create(builder, loc, block.end, left);
  buildLoop(builder, loc, block.begin, end, kGroupRows,
            [&](OpBuilder &b, Location, ValueRange first) {
              buildGroup(b, sums, {first.front(), kGroupRows}, along, average);
            });
  buildLoop(builder, loc, end, block.end, 1,
            [&](OpBuilder &b, Location, ValueRange row) {
              buildGroup(b, sums, {row.front(), 1}, along, average);
            });
  rows.fenceStores(builder);
}

void NormGrad::build(OpBuilder &builder) {
  if (getNumSums() == 0) {
    if (op.dx)
      rows.forEach(builder,
                   [&](OpBuilder &b, ValueRange at) { buildRow(b, at); });
    return;
  }
  SmallVector<ColumnSums::Output> outputs;
  if (op.dweight)
    outputs.push_back({op.dweightPartials, op.dweight});
  if (op.dbias)
    outputs.push_back({op.dbiasPartials, op.dbias});
  ColumnSums(builder, loc, rows, outputs)
      .build(builder, [&](OpBuilder &b, ColumnSums &sums, IndexRange block) {
        buildBlock(b, sums, block);
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
