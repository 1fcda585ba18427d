//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Rows, some of which are written while others are summed.

#include "RowPipeline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "pol/IR/PolTypes.h"

using namespace mlir;
using namespace mlir::pol;

/// The first group of a trip has none to be written beside it: trips are of
/// this many elements, and this many rows, at least, unless workers would have
/// fewer trips than this each.
static constexpr int64_t kElementsPerTrip = 1 << 20;
static constexpr int64_t kRowsPerTrip = 64;
static constexpr int64_t kTripsPerWorker = 4;

RowPipeline::Row RowPipeline::getRow(OpBuilder &builder, ValueRange at,
                                     Value slot) {
  auto get = [&](Value array) {
    return pol::getRow(builder, loc, array, at, rows.getLength());
  };
  Row row;
  row.at = SmallVector<Value>(at);
  row.slot = slot;
  row.inputs = llvm::map_to_vector(inputs, get);
  if (output)
    row.output = get(output);
  return row;
}

void RowPipeline::write(VectorBuilder &v, ArrayRef<Row> group,
                        ArrayRef<SmallVector<Value>> factors, Value index,
                        Value mask, StoreKind kind) {
  for (auto [row, values] : llvm::zip_equal(group, factors))
    v.store(getResult(v, row, values, index, mask), row.output, index, mask,
            kind);
}

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

static SmallVector<Value> splat(VectorBuilder v, ValueRange values) {
  return llvm::map_to_vector(values,
                             [&](Value value) { return v.splat(value); });
}

void RowPipeline::buildRow(OpBuilder &builder, ValueRange at) {
  Row row =
      getRow(builder, at, arith::ConstantIndexOp::create(builder, loc, 0));
  SmallVector<Value> prepared = prepare(builder, row);
  Rows::Ahead ahead = rows.getAhead(builder, inputs);
  int64_t vector = 0;
  SmallVector<Value> sums = rows.sum(
      builder, getCounts().sums,
      [&](VectorBuilder &v, Value index, Value mask,
          MutableArrayRef<Value> running) {
        if (areSumsLong())
          rows.prefetchLines(v, ahead.inWrite, index, vector++);
        add(v, row, prepared, index, mask, running);
      },
      areSumsLong() ? ValueRange() : ValueRange(ahead.inSum));
  Factors factors = finish(builder, row, prepared, sums);
  auto build = [&](OpBuilder &b) {
    SmallVector<Value> splats = splat(rows.vectors(b), factors.values);
    rows.write(b, row.output,
               areSumsLong() ? ValueRange() : ValueRange(ahead.inWrite),
               [&](VectorBuilder &v, Value index, Value mask, StoreKind kind) {
                 write(v, row, splats, index, mask, kind);
               });
  };
  if (!factors.isPlain)
    return build(builder);
  auto choice = scf::IfOp::create(builder, loc, factors.isPlain,
                                  /*withElseRegion=*/false);
  OpBuilder then = choice.getThenBodyBuilder();
  build(then);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static Value take(OpBuilder &builder, Location loc, Value vector,
                  OpFoldResult slot) {
  return vector::ExtractOp::create(builder, loc, vector, slot);
}

static SmallVector<Value> take(OpBuilder &builder, Location loc,
                               ValueRange vectors, OpFoldResult slot) {
  return llvm::map_to_vector(
      vectors, [&](Value vector) { return take(builder, loc, vector, slot); });
}

static void put(OpBuilder &builder, Location loc, Value value, Value &vector,
                OpFoldResult slot) {
  vector = vector::InsertOp::create(builder, loc, value, vector, slot);
}

/// Runs the body for each row of a group, with what is running.
SmallVector<Value> RowPipeline::forEachSlot(OpBuilder &builder, Group group,
                                            ValueRange initial, SlotFn body) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto loop = scf::ForOp::create(
      builder, loc, constant(0), constant(group.count), constant(1), initial,
      [&](OpBuilder &b, Location, Value slot, ValueRange given) {
        Value number = arith::AddIOp::create(b, loc, group.first, slot);
        SmallVector<Value> running(given);
        body(b, number, getRow(b, rows.getIndices(b, number), slot), running);
        scf::YieldOp::create(b, loc, running);
      });
  return SmallVector<Value>(loop.getResults());
}

/// So many vectors with an element for each row of a group.
SmallVector<Value> RowPipeline::getVectors(OpBuilder &builder, Group group,
                                           unsigned count) {
  auto type = VectorType::get(group.count, rows.getType());
  Value zeros =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return SmallVector<Value>(count, zeros);
}

/// What is known of a group before any of its rows is.
SmallVector<Value> RowPipeline::getInitial(OpBuilder &builder, Group group) {
  SmallVector<Value> values = getVectors(builder, group, getCounts().factors);
  auto type = VectorType::get(group.count, builder.getI1Type());
  values.push_back(arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, true)));
  values.push_back(arith::ConstantIntOp::create(builder, loc, 1, 1));
  return values;
}

RowPipeline::Summed RowPipeline::getSummed(ArrayRef<Value> values) {
  return {SmallVector<Value>(values.drop_back(2)), values.drop_back().back(),
          values.back()};
}

/// Puts what is found of a row to what is known of its group.
void RowPipeline::finishSlot(OpBuilder &builder, const Row &row,
                             ValueRange prepared, ValueRange sums,
                             MutableArrayRef<Value> running) {
  Factors factors = finish(builder, row, prepared, sums);
  for (auto [value, vector] :
       llvm::zip_equal(factors.values, running.drop_back(2)))
    put(builder, loc, value, vector, row.slot);
  if (!factors.isPlain)
    return;
  put(builder, loc, factors.isPlain, running.drop_back().back(), row.slot);
  running.back() =
      arith::AndIOp::create(builder, loc, running.back(), factors.isPlain);
}

SmallVector<RowPipeline::Row> RowPipeline::getRowsOf(OpBuilder &builder,
                                                     Group group) {
  SmallVector<Row> all;
  for (int64_t i = 0; i < group.count; ++i) {
    Value slot = arith::ConstantIndexOp::create(builder, loc, i);
    Value number = arith::AddIOp::create(builder, loc, group.first, slot);
    all.push_back(getRow(builder, rows.getIndices(builder, number), slot));
  }
  return all;
}

SmallVector<SmallVector<Value>>
RowPipeline::getFactorsOf(OpBuilder &builder, Group group, ValueRange factors) {
  SmallVector<SmallVector<Value>> all;
  for (int64_t i = 0; i < group.count; ++i)
    all.push_back(splat(rows.vectors(builder),
                        take(builder, loc, factors, builder.getIndexAttr(i))));
  return all;
}

/// The rows that come as many groups ahead as it takes.
SmallVector<Value> RowPipeline::getAheadOf(OpBuilder &builder, Group group) {
  SmallVector<Value> all;
  for (int64_t i = 0; i < group.count; ++i) {
    Value number =
        arith::AddIOp::create(builder, loc, group.first,
                              arith::ConstantIndexOp::create(builder, loc, i));
    llvm::append_range(
        all, rows.getAhead(builder, inputs, number, group.count).inWrite);
  }
  return all;
}

RowPipeline::Summed RowPipeline::buildSums(OpBuilder &builder, Group group) {
  return getSummed(
      forEachSlot(builder, group, getInitial(builder, group),
                  [&](OpBuilder &b, Value number, const Row &row,
                      MutableArrayRef<Value> running) {
                    SmallVector<Value> prepared = prepare(b, row), sums;
                    if (unsigned count = getCounts().sums)
                      sums = rows.sum(
                          b, count,
                          [&](VectorBuilder &v, Value index, Value mask,
                              MutableArrayRef<Value> runningSums) {
                            add(v, row, prepared, index, mask, runningSums);
                          },
                          rows.getAhead(b, inputs, number, group.count).inSum);
                    finishSlot(b, row, prepared, sums, running);
                  }));
}

RowPipeline::Summed RowPipeline::buildBoth(OpBuilder &builder, Group before,
                                           ValueRange factorsBefore,
                                           Group group) {
  Counts counts = getCounts();
  SmallVector<Row> written = getRowsOf(builder, before);
  SmallVector<SmallVector<Value>> factors =
      getFactorsOf(builder, before, factorsBefore);
  SmallVector<Value> prepared = getVectors(builder, group, counts.prepared);
  if (counts.prepared)
    prepared = forEachSlot(builder, group, prepared,
                           [&](OpBuilder &b, Value, const Row &row,
                               MutableArrayRef<Value> running) {
                             for (auto [value, vector] :
                                  llvm::zip_equal(prepare(b, row), running))
                               put(b, loc, value, vector, row.slot);
                           });
  SmallVector<Row> summed = getRowsOf(builder, group);
  SmallVector<SmallVector<Value>> preparedOf;
  for (int64_t i = 0; i < group.count; ++i)
    preparedOf.push_back(take(builder, loc, prepared, builder.getIndexAttr(i)));
  SmallVector<Value> ahead = getAheadOf(builder, group);
  int64_t vector = 0;
  SmallVector<Value> sums = rows.sum(
      builder, group.count * counts.sums,
      [&](VectorBuilder &v, Value index, Value mask,
          MutableArrayRef<Value> running) {
        rows.prefetchLines(v, ahead, index, vector++);
        write(v, written, factors, index, mask, StoreKind::NonTemporal);
        for (auto [i, row] : llvm::enumerate(summed))
          add(v, row, preparedOf[i], index, mask,
              running.slice(i * counts.sums, counts.sums));
      });
  SmallVector<Value> sumVectors = getVectors(builder, group, counts.sums);
  for (auto [i, sum] : llvm::enumerate(sums))
    put(builder, loc, sum, sumVectors[i % counts.sums],
        builder.getIndexAttr(i / counts.sums));
  return getSummed(forEachSlot(
      builder, group, getInitial(builder, group),
      [&](OpBuilder &b, Value, const Row &row, MutableArrayRef<Value> running) {
        finishSlot(b, row, take(b, loc, prepared, row.slot),
                   take(b, loc, sumVectors, row.slot), running);
      }));
}

void RowPipeline::buildWrites(OpBuilder &builder, Group group,
                              ValueRange factorsOfGroup, StoreKind kind) {
  SmallVector<Row> written = getRowsOf(builder, group);
  SmallVector<SmallVector<Value>> factors =
      getFactorsOf(builder, group, factorsOfGroup);
  SmallVector<Value> ahead;
  if (kind == StoreKind::NonTemporal)
    ahead = getAheadOf(builder, group);
  int64_t vector = 0;
  rows.forEachVector(builder, [&](VectorBuilder &v, Value index, Value mask) {
    rows.prefetchLines(v, ahead, index, vector++);
    write(v, written, factors, index, mask, kind);
  });
}

/// Writes those rows of a group that have not been written, one by one: there
/// are others, which are rare.
void RowPipeline::buildPlainRows(OpBuilder &builder, Group group,
                                 const Summed &summed) {
  forEachSlot(builder, group, {},
              [&](OpBuilder &b, Value, const Row &row, MutableArrayRef<Value>) {
                Value isPlain = take(b, loc, summed.isPlain, row.slot);
                auto choice = scf::IfOp::create(b, loc, isPlain, false);
                OpBuilder then = choice.getThenBodyBuilder();
                SmallVector<Value> factors =
                    splat(rows.vectors(then),
                          take(then, loc, summed.factors, row.slot));
                rows.forEachVector(then, [&](VectorBuilder &v, Value index,
                                             Value mask) {
                  write(v, row, factors, index, mask, StoreKind::NonTemporal);
                });
              });
}

void RowPipeline::buildGroups(OpBuilder &builder, IndexRange range,
                              int64_t groupRows) {
  Value step = arith::ConstantIndexOp::create(builder, loc, groupRows);
  auto getValues = [](const Summed &summed) {
    SmallVector<Value> values(summed.factors);
    values.append({summed.isPlain, summed.arePlain});
    return values;
  };
  // The last value is whether the group before is still to be written.
  auto visit = [&](OpBuilder &b, Location, Value first, ValueRange before) {
    Group group{first, groupRows};
    auto choice = scf::IfOp::create(
        b, loc, before.back(),
        [&](OpBuilder &both, Location) {
          Value firstBefore = arith::SubIOp::create(both, loc, first, step);
          Summed summed = buildBoth(both, {firstBefore, groupRows},
                                    before.drop_back(), group);
          scf::YieldOp::create(both, loc, getValues(summed));
        },
        [&](OpBuilder &alone, Location) {
          scf::YieldOp::create(alone, loc, getValues(buildSums(alone, group)));
        });
    Summed summed = getSummed(SmallVector<Value>(choice.getResults()));
    if (hasOtherRows()) {
      Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
      Value areSome = arith::XOrIOp::create(b, loc, summed.arePlain, yes);
      auto some = scf::IfOp::create(b, loc, areSome, false);
      OpBuilder then = some.getThenBodyBuilder();
      buildPlainRows(then, group, summed);
    }
    SmallVector<Value> values(summed.factors);
    values.push_back(summed.arePlain);
    scf::YieldOp::create(b, loc, values);
  };
  Group none{range.begin, groupRows};
  SmallVector<Value> initial = getVectors(builder, none, getCounts().factors);
  initial.push_back(arith::ConstantIntOp::create(builder, loc, 0, 1));
  auto loop = scf::ForOp::create(builder, loc, range.begin, range.end, step,
                                 initial, visit);
  ValueRange results(loop.getResults());
  auto last = scf::IfOp::create(builder, loc, results.back(), false);
  OpBuilder then = last.getThenBodyBuilder();
  Value before = arith::SubIOp::create(then, loc, range.end, step);
  buildWrites(then, {before, groupRows}, results.drop_back(),
              StoreKind::NonTemporal);
  rows.fenceStores(builder);
}

//===----------------------------------------------------------------------===//
// All rows
//===----------------------------------------------------------------------===//

Value RowPipeline::areAligned(OpBuilder &builder, IndexRange range) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  auto loop = scf::ForOp::create(
      builder, loc, range.begin, range.end, one, yes,
      [&](OpBuilder &b, Location, Value number, ValueRange before) {
        Row row = getRow(b, rows.getIndices(b, number), Value());
        Value both = arith::AndIOp::create(b, loc, before.front(),
                                           rows.isAligned(b, row.output));
        scf::YieldOp::create(b, loc, both);
      });
  return loop.getResult(0);
}

Value RowPipeline::areShort(OpBuilder &builder, int64_t groupRows) {
  int64_t bytes = 0;
  for (Value input : inputs)
    bytes += getElementBytes(getElementTypeOrSelf(input));
  int64_t most = target.getL2Bytes() / (3 * groupRows * bytes);
  return builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ule, rows.getEnd(),
      arith::ConstantIndexOp::create(builder, loc, most));
}

void RowPipeline::buildChoice(OpBuilder &builder, Value condition,
                              function_ref<void(OpBuilder &)> buildThen,
                              function_ref<void(OpBuilder &)> buildElse) {
  if (std::optional<int64_t> known = getConstantIntValue(condition))
    return *known ? buildThen(builder) : buildElse(builder);
  auto choice =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder();
  buildThen(then);
  OpBuilder otherwise = choice.getElseBodyBuilder();
  buildElse(otherwise);
}

void RowPipeline::buildTrips(OpBuilder &builder, int64_t groupRows) {
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
  Value most =
      divide(numRows, constant(kTripsPerWorker * target.getMaxWorkers()));
  Value groups =
      divide(buildMin(builder, loc, wanted, most), constant(groupRows));
  Value rowsPerTrip = builder.createOrFold<arith::MulIOp>(
      loc, buildMax(builder, loc, groups, constant(1)), constant(groupRows));
  auto visit = [&](OpBuilder &b, Location, ValueRange trip) {
    begin(b);
    IndexRange range = rows.getBlock(b, trip.front(), rowsPerTrip);
    Value count = arith::SubIOp::create(b, loc, range.end, range.begin);
    Value left = arith::RemUIOp::create(b, loc, count, constant(groupRows));
    Value wholeEnd = arith::SubIOp::create(b, loc, range.end, left);
    Value groupsEnd = arith::SelectOp::create(b, loc, areAligned(b, range),
                                              wholeEnd, range.begin);
    buildGroups(b, {range.begin, groupsEnd}, groupRows);
    rows.forEachOf(
        b, {groupsEnd, range.end},
        [&](OpBuilder &inner, ValueRange at) { buildRow(inner, at); });
  };
  buildParallelLoop(builder, loc,
                    {getAsOpFoldResult(divide(numRows, rowsPerTrip))}, visit);
}

void RowPipeline::buildRows(OpBuilder &builder) {
  auto buildOneByOne = [&](OpBuilder &b) {
    rows.forEach(
        b, [&](OpBuilder &inner, ValueRange at) { buildRow(inner, at); },
        [&](OpBuilder &inner) { begin(inner); });
  };
  auto buildLarge = [&](OpBuilder &b) {
    int64_t most = getMostRows();
    buildChoice(
        b, areShort(b, most),
        [&](OpBuilder &inner) { buildTrips(inner, most); },
        [&](OpBuilder &inner) { buildTrips(inner, 1); });
  };
  buildChoice(builder, rows.getIsLarge(), buildLarge, buildOneByOne);
}
