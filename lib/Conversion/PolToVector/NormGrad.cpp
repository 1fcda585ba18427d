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
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

/// Rows whose elements of dweight and dbias are added up in registers, at most
/// and at least. What the former read is to stay in the cache with what follows
/// them; the latter make a block of rows few enough sums to add.
static constexpr int64_t kMaxGroupRows = 16;
static constexpr int64_t kMinGroupRows = 4;

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
      : loc(loc), op(op), target(target), rows(builder, loc, op.x, target),
        type(rows.getType()),
        tileVectors(target.getVectorRegisters() >= 32 ? 4 : 2) {}

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
  /// What is added up over rows, for one vector of columns.
  struct Addends {
    Value dweight, dbias;
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

  void buildBlock(OpBuilder &builder, ColumnSums &sums, IndexRange block);
  SmallVector<Value> getRowsAhead(OpBuilder &builder, Value row);
  Value buildGroupMeans(OpBuilder &builder, IndexRange group, Value along,
                        Value average);
  void buildGroup(OpBuilder &builder, ColumnSums &sums, IndexRange group,
                  Value along, Value average, StoreKind kind);
  SmallVector<Value> buildTile(VectorBuilder &v, IndexRange group,
                               ValueRange columns, Value mask, Value along,
                               Value average, StoreKind kind);
  SmallVector<Value> buildTileRow(VectorBuilder &v, ValueRange at,
                                  ValueRange columns, Value mask,
                                  const Factors &factors, ValueRange weights,
                                  ValueRange running, StoreKind kind);

  Value constant(OpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  unsigned getNumSums() const { return (op.dweight ? 1 : 0) + !!op.dbias; }

  Location loc;
  Operands op;
  TargetAttr target;
  Rows rows;
  FloatType type;
  /// Vectors of columns that are visited together.
  int64_t tileVectors;
  /// Rows of a group.
  Value groupRows;
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
  SmallVector<Value> ahead = rows.getNext(builder, {op.x, op.dy});
  buildMeans(builder, views, factors, ahead);
  VectorBuilder all = rows.vectors(builder);
  for (Value *mean : {&factors.along, &factors.average})
    if (*mean)
      *mean = all.splat(*mean);
  rows.write(builder, views.dx, ahead,
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
// rows are computed first; then tile after tile of columns is visited, in all
// of its rows, to write dx and to add up dweight and dbias in registers.
// Memory is read once.

/// The row of the next group in the place of one, of what is read.
SmallVector<Value> NormGrad::getRowsAhead(OpBuilder &builder, Value row) {
  Views views = getViews(
      builder,
      rows.getIndices(builder, rows.getRowAhead(builder, row, groupRows)));
  return {views.x, views.dy};
}

/// Computes the means of a group's rows; returns whether all rows of dx may be
/// written past the caches.
Value NormGrad::buildGroupMeans(OpBuilder &builder, IndexRange group,
                                Value along, Value average) {
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  if (!op.dx)
    return yes;
  auto loop = scf::ForOp::create(
      builder, loc, group.begin, group.end, constant(builder, 1), yes,
      [&](OpBuilder &b, Location, Value row, ValueRange given) {
        SmallVector<Value> at = rows.getIndices(b, row);
        Views views = getViews(b, at);
        Factors factors = loadFactors(b, at);
        buildMeans(b, views, factors, getRowsAhead(b, row));
        Value slot = arith::SubIOp::create(b, loc, row, group.begin);
        memref::StoreOp::create(b, loc, factors.along, along, slot);
        if (op.mean)
          memref::StoreOp::create(b, loc, factors.average, average, slot);
        Value isAligned = arith::AndIOp::create(b, loc, given.front(),
                                                rows.isAligned(b, views.dx));
        scf::YieldOp::create(b, loc, isAligned);
      });
  return loop.getResult(0);
}

/// Visits the tile of one row: writes dx, and adds to what is running.
SmallVector<Value> NormGrad::buildTileRow(VectorBuilder &v, ValueRange at,
                                          ValueRange columns, Value mask,
                                          const Factors &factors,
                                          ValueRange weights,
                                          ValueRange running, StoreKind kind) {
  Views views = getViews(v.builder, at);
  SmallVector<Value> sums(running);
  unsigned numSums = getNumSums();
  for (auto [i, column] : llvm::enumerate(columns)) {
    Value dy = v.load(views.dy, column, mask);
    Value *sum = &sums[i * numSums];
    Value normalized;
    if (op.dx || op.dweight)
      normalized = buildNormalized(v, v.load(views.x, column, mask), factors);
    if (op.dweight) {
      *sum = v.fma(dy, normalized, *sum);
      ++sum;
    }
    if (op.dbias)
      *sum = v.add(*sum, dy);
    if (op.dx)
      v.store(buildElement(v, normalized, dy,
                           weights.empty() ? Value() : weights[i], factors),
              views.dx, column, mask, kind);
  }
  return sums;
}

/// Visits a tile of a group; returns its sums, those of one vector side by
/// side.
SmallVector<Value> NormGrad::buildTile(VectorBuilder &v, IndexRange group,
                                       ValueRange columns, Value mask,
                                       Value along, Value average,
                                       StoreKind kind) {
  SmallVector<Value> weights;
  if (op.weight && op.dx)
    for (Value column : columns)
      weights.push_back(loadWeight(v, column, mask));
  SmallVector<Value> zeros(columns.size() * getNumSums(), v.constant(0.0));
  auto loop = scf::ForOp::create(
      v.builder, loc, group.begin, group.end, constant(v.builder, 1), zeros,
      [&](OpBuilder &b, Location, Value row, ValueRange given) {
        VectorBuilder inner = rows.vectors(b);
        SmallVector<Value> at = rows.getIndices(b, row);
        if (kind == StoreKind::NonTemporal) {
          for (Value ahead : getRowsAhead(b, row))
            for (auto [i, column] : llvm::enumerate(columns))
              if (i % 2 == 1)
                inner.prefetch(ahead, column);
        }
        Factors factors = loadFactors(b, at);
        if (op.dx) {
          Value slot = arith::SubIOp::create(b, loc, row, group.begin);
          auto load = [&](Value means) {
            return inner.splat(memref::LoadOp::create(b, loc, means, slot));
          };
          factors.along = load(along);
          if (op.mean)
            factors.average = load(average);
        }
        scf::YieldOp::create(b, loc,
                             buildTileRow(inner, at, columns, mask, factors,
                                          weights, given, kind));
      });
  return SmallVector<Value>(loop.getResults());
}

void NormGrad::buildGroup(OpBuilder &builder, ColumnSums &sums,
                          IndexRange group, Value along, Value average,
                          StoreKind kind) {
  rows.forEachTile(builder, {constant(builder, 0), rows.getEnd()}, tileVectors,
                   [&](VectorBuilder &v, ValueRange columns, Value mask) {
                     SmallVector<Value> found = buildTile(
                         v, group, columns, mask, along, average, kind);
                     unsigned numSums = getNumSums();
                     for (auto [i, column] : llvm::enumerate(columns))
                       sums.add(v, ArrayRef(found).slice(i * numSums, numSums),
                                column, mask);
                   });
}

void NormGrad::buildBlock(OpBuilder &builder, ColumnSums &sums,
                          IndexRange block) {
  auto slots = MemRefType::get(kMaxGroupRows, type);
  Value along, average;
  if (op.dx)
    along = memref::AllocaOp::create(builder, loc, slots);
  if (op.dx && op.mean)
    average = memref::AllocaOp::create(builder, loc, slots);
  scf::ForOp::create(
      builder, loc, block.begin, block.end, groupRows, ValueRange(),
      [&](OpBuilder &b, Location, Value begin, ValueRange) {
        Value left = arith::SubIOp::create(b, loc, block.end, begin);
        IndexRange group{
            begin, arith::AddIOp::create(b, loc, begin,
                                         buildMin(b, loc, left, groupRows))};
        Value isAligned = buildGroupMeans(b, group, along, average);
        Value goesPast =
            arith::AndIOp::create(b, loc, rows.getIsLarge(), isAligned);
        auto choice = scf::IfOp::create(b, loc, goesPast,
                                        /*withElseRegion=*/true);
        OpBuilder then = choice.getThenBodyBuilder();
        buildGroup(then, sums, group, along, average, StoreKind::NonTemporal);
        OpBuilder otherwise = choice.getElseBodyBuilder();
        buildGroup(otherwise, sums, group, along, average, StoreKind::Plain);
        scf::YieldOp::create(b, loc);
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
  // Half of the second-level cache holds a group's rows and the next one's.
  int64_t bytes = getElementBytes(getElementTypeOrSelf(op.x)) +
                  getElementBytes(getElementTypeOrSelf(op.dy));
  int64_t elements = target.getL2Bytes() / 4 / bytes;
  Value fit = builder.createOrFold<arith::DivUIOp>(
      loc, constant(builder, elements),
      buildMax(builder, loc, rows.getEnd(), constant(builder, 1)));
  groupRows =
      buildMax(builder, loc, constant(builder, kMinGroupRows),
               buildMin(builder, loc, fit, constant(builder, kMaxGroupRows)));
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
