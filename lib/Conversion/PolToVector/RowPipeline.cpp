//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Rows, of which one is written while the next is summed.

#include "RowPipeline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "pol/IR/PolTypes.h"

using namespace mlir;
using namespace mlir::pol;

/// The first row of a trip has none to be written beside it: trips are of this
/// many elements, and this many rows, at least, unless workers would have fewer
/// trips than this each.
static constexpr int64_t kElementsPerTrip = 1 << 18;
static constexpr int64_t kRowsPerTrip = 32;
static constexpr int64_t kTripsPerWorker = 4;

Value RowPipeline::areAligned(OpBuilder &builder, IndexRange range) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  auto loop = scf::ForOp::create(
      builder, loc, range.begin, range.end, one, yes,
      [&](OpBuilder &b, Location, Value row, ValueRange before) {
        Value output = getRowOf(b, y, rows.getIndices(b, row));
        Value both = arith::AndIOp::create(b, loc, before.front(),
                                           rows.isAligned(b, output));
        scf::YieldOp::create(b, loc, both);
      });
  return loop.getResult(0);
}

/// Sums a row, and does something else for each of its vectors.
RowPipeline::Factors RowPipeline::sumRow(
    OpBuilder &builder, ValueRange at, Value row,
    function_ref<void(VectorBuilder &, Value index, Value mask)> beside) {
  SmallVector<Value> prepared = prepare(builder, row);
  SmallVector<Value> sums =
      rows.sum(builder, getNumSums(),
               [&](VectorBuilder &v, Value index, Value mask,
                   MutableArrayRef<Value> running) {
                 beside(v, index, mask);
                 add(v, row, prepared, index, mask, running);
               });
  return finish(builder, at, row, prepared, sums);
}

void RowPipeline::buildTrip(OpBuilder &builder, IndexRange range) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto nothing = [](VectorBuilder &, Value, Value) {};
  auto getValues = [](const Factors &factors) {
    SmallVector<Value> values(factors.values);
    values.push_back(factors.isPlain);
    return values;
  };
  auto getStore = [&](OpBuilder &b, ValueRange at, ValueRange factors) {
    Value input = getRowOf(b, x, at), output = getRowOf(b, y, at);
    SmallVector<Value> splats;
    for (Value factor : factors)
      splats.push_back(rows.vectors(b).splat(factor));
    return [this, input, output, splats](VectorBuilder &v, Value index,
                                         Value mask) {
      v.store(getResult(v, input, splats, index, mask), output, index, mask,
              StoreKind::NonTemporal);
    };
  };
  SmallVector<Value> firstAt = rows.getIndices(builder, range.begin);
  Factors first =
      sumRow(builder, firstAt, getRowOf(builder, x, firstAt), nothing);
  auto visit = [&](OpBuilder &b, Location, Value number, ValueRange before) {
    SmallVector<Value> at = rows.getIndices(b, number);
    SmallVector<Value> atBefore =
        rows.getIndices(b, arith::SubIOp::create(b, loc, number, one));
    Value row = getRowOf(b, x, at);
    SmallVector<Value> ahead = rows.getAhead(b, x, number, 1).inWrite;
    auto choice = scf::IfOp::create(
        b, loc, before.back(),
        [&](OpBuilder &both, Location) {
          auto store = getStore(both, atBefore, before.drop_back());
          int64_t vector = 0;
          Factors factors = sumRow(
              both, at, row, [&](VectorBuilder &v, Value index, Value mask) {
                rows.prefetchLines(v, ahead, index, vector++);
                store(v, index, mask);
              });
          scf::YieldOp::create(both, loc, getValues(factors));
        },
        [&](OpBuilder &alone, Location) {
          scf::YieldOp::create(alone, loc,
                               getValues(sumRow(alone, at, row, nothing)));
        });
    scf::YieldOp::create(b, loc, choice.getResults());
  };
  auto loop = scf::ForOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, range.begin, one),
      range.end, one, getValues(first), visit);
  ValueRange last(loop.getResults());
  scf::IfOp::create(builder, loc, last.back(), [&](OpBuilder &b, Location) {
    SmallVector<Value> at =
        rows.getIndices(b, arith::SubIOp::create(b, loc, range.end, one));
    rows.forEachVector(b, getStore(b, at, last.drop_back()));
    scf::YieldOp::create(b, loc);
  });
  rows.fenceStores(builder);
}

/// Whether results go past the caches, and rows do not fit the first one.
Value RowPipeline::isPipelined(OpBuilder &builder,
                               std::optional<int64_t> cachedRows) {
  if (!cachedRows)
    return rows.getIsLarge();
  int64_t bytes = getElementBytes(getElementTypeOrSelf(x));
  int64_t most = target.getL1Bytes() / (*cachedRows * bytes);
  Value isLong = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ugt, rows.getEnd(),
      arith::ConstantIndexOp::create(builder, loc, most));
  return builder.createOrFold<arith::AndIOp>(loc, rows.getIsLarge(), isLong);
}

void RowPipeline::buildTrips(OpBuilder &builder) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto divide = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::CeilDivUIOp>(loc, lhs, rhs);
  };
  Value numRows = rows.getNumRows();
  Value wanted =
      buildMax(builder, loc, constant(kRowsPerTrip),
               divide(constant(kElementsPerTrip),
                      buildMax(builder, loc, rows.getEnd(), constant(1))));
  Value most = buildMax(
      builder, loc, constant(1),
      divide(numRows, constant(kTripsPerWorker * target.getMaxWorkers())));
  Value rowsPerTrip = buildMin(builder, loc, wanted, most);
  auto visit = [&](OpBuilder &b, Location, ValueRange trip) {
    begin(b);
    IndexRange range = rows.getBlock(b, trip.front(), rowsPerTrip);
    auto choice = scf::IfOp::create(b, loc, areAligned(b, range),
                                    /*withElseRegion=*/true);
    OpBuilder aligned = choice.getThenBodyBuilder();
    buildTrip(aligned, range);
    OpBuilder other = choice.getElseBodyBuilder();
    rows.forEachOf(other, range, [&](OpBuilder &inner, ValueRange at) {
      buildRow(inner, at);
    });
  };
  buildParallelLoop(builder, loc,
                    {getAsOpFoldResult(divide(numRows, rowsPerTrip))}, visit);
}

void RowPipeline::buildRows(OpBuilder &builder,
                            std::optional<int64_t> cachedRows) {
  auto buildOneByOne = [&](OpBuilder &b) {
    rows.forEach(
        b, [&](OpBuilder &inner, ValueRange at) { buildRow(inner, at); },
        [&](OpBuilder &inner) { begin(inner); });
  };
  Value condition = isPipelined(builder, cachedRows);
  if (std::optional<int64_t> known = getConstantIntValue(condition))
    return *known ? buildTrips(builder) : buildOneByOne(builder);
  auto choice =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/true);
  OpBuilder large = choice.getThenBodyBuilder();
  buildTrips(large);
  OpBuilder small = choice.getElseBodyBuilder();
  buildOneByOne(small);
}
