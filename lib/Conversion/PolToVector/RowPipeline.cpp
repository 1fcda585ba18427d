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
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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
/// How far ahead elements are prefetched from memory, and vectors from the
/// second-level cache.
static constexpr int64_t kElementsAhead = 512;
static constexpr int64_t kVectorsAhead = 4;
/// Long rows that share weights, where hardware follows few streams.
static constexpr int64_t kLongGroupRows = 4;
/// Columns of rows that are written one after the other.
static constexpr int64_t kTileColumns = 1024;

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

/// All rows are read before any is written: where they are multiples of a page
/// apart, a load would have to wait for the store to another row that seems to
/// be to the same place.
void RowPipeline::write(VectorBuilder &v, ArrayRef<Row> group,
                        ArrayRef<SmallVector<Value>> factors, Value index,
                        Value mask, StoreKind kind) {
  SmallVector<Value> results;
  for (auto [row, values] : llvm::zip_equal(group, factors))
    results.push_back(getResult(v, row, values, index, mask));
  for (auto [row, result] : llvm::zip_equal(group, results))
    v.store(result, row.output, index, mask, kind);
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
  SmallVector<Value> preparedSplats = splat(rows.vectors(builder), prepared);
  Rows::Ahead ahead = rows.getAhead(builder, inputs);
  int64_t vector = 0;
  SmallVector<Value> sums = rows.sum(
      builder, getCounts().sums,
      [&](VectorBuilder &v, Value index, Value mask,
          MutableArrayRef<Value> running) {
        if (areSumsLong())
          rows.prefetchLines(v, ahead.inWrite, index, vector++);
        add(v, row, preparedSplats, index, mask, running);
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

/// Puts the numbers of a row to those of its group.
static void put(OpBuilder &builder, Location loc, ValueRange values,
                MutableArrayRef<Value> vectors, OpFoldResult slot) {
  for (auto [value, vector] : llvm::zip_equal(values, vectors))
    put(builder, loc, value, vector, slot);
}

RowPipeline::Summed RowPipeline::finishGroup(OpBuilder &builder, Group group,
                                             const Sums &sums) {
  unsigned count = getCounts().factors;
  SmallVector<Value> initial = getVectors(builder, group, count);
  auto type = VectorType::get(group.count, builder.getI1Type());
  initial.push_back(arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, true)));
  initial.push_back(arith::ConstantIntOp::create(builder, loc, 1, 1));
  bool mayBeOther = false;
  SmallVector<Value> found = forEachSlot(
      builder, group, initial,
      [&](OpBuilder &b, Value, const Row &row, MutableArrayRef<Value> running) {
        Factors factors = finish(b, row, take(b, loc, sums.prepared, row.slot),
                                 take(b, loc, sums.sums, row.slot));
        put(b, loc, factors.values, running.take_front(count), row.slot);
        if (!factors.isPlain)
          return;
        mayBeOther = true;
        put(b, loc, factors.isPlain, running[count], row.slot);
        running.back() =
            arith::AndIOp::create(b, loc, running.back(), factors.isPlain);
      });
  return {SmallVector<Value>(ArrayRef(found).take_front(count)),
          mayBeOther ? found[count] : Value(), found.back()};
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
RowPipeline::getSplatsOf(OpBuilder &builder, Group group, ValueRange vectors) {
  SmallVector<SmallVector<Value>> all;
  for (int64_t i = 0; i < group.count; ++i)
    all.push_back(splat(rows.vectors(builder),
                        take(builder, loc, vectors, builder.getIndexAttr(i))));
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

RowPipeline::Sums RowPipeline::buildAlone(OpBuilder &builder, Group group) {
  Counts counts = getCounts();
  SmallVector<Value> found = forEachSlot(
      builder, group, getVectors(builder, group, counts.prepared + counts.sums),
      [&](OpBuilder &b, Value number, const Row &row,
          MutableArrayRef<Value> running) {
        SmallVector<Value> values = prepare(b, row);
        if (counts.sums) {
          SmallVector<Value> prepared = splat(rows.vectors(b), values);
          llvm::append_range(
              values, rows.sum(
                          b, counts.sums,
                          [&](VectorBuilder &v, Value index, Value mask,
                              MutableArrayRef<Value> sums) {
                            add(v, row, prepared, index, mask, sums);
                          },
                          rows.getAhead(b, inputs, number, group.count).inSum));
        }
        put(b, loc, values, running, row.slot);
      });
  ArrayRef<Value> all(found);
  return {SmallVector<Value>(all.take_front(counts.prepared)),
          SmallVector<Value>(all.drop_front(counts.prepared))};
}

RowPipeline::Summed RowPipeline::buildSums(OpBuilder &builder, Group group) {
  return finishGroup(builder, group, buildAlone(builder, group));
}

/// Prefetches beside a group that is summed and one that is written: from
/// memory, what is summed some elements later, in the same rows or in those of
/// a group ahead; and from the second-level cache into the first one what is
/// read a little later, which so many streams at once would have to wait for.
/// Long sums wait for nothing, but read what is prefetched before they begin:
/// for these it is all of the rows ahead.
class RowPipeline::Prefetcher {
public:
  Prefetcher(RowPipeline &pipeline, OpBuilder &builder, Group group,
             ArrayRef<Row> summed, ArrayRef<Row> written);

  void prefetch(VectorBuilder &v, Value index);

private:
  Value constant(OpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  RowPipeline &pipeline;
  Location loc;
  Value length, distance;
  /// What is summed, and how far it is from the end of a row to where the rows
  /// ahead begin.
  SmallVector<Value> streams, shifts;
  /// What is summed or written.
  SmallVector<Value> near;
  int64_t vector = 0;
};

RowPipeline::Prefetcher::Prefetcher(RowPipeline &pipeline, OpBuilder &builder,
                                    Group group, ArrayRef<Row> summed,
                                    ArrayRef<Row> written)
    : pipeline(pipeline), loc(pipeline.loc), length(pipeline.rows.getEnd()) {
  bool areSumsLong = pipeline.areSumsLong();
  distance = areSumsLong ? length
                         : buildMin(builder, loc, length,
                                    constant(builder, kElementsAhead));
  for (const Row &row : summed)
    llvm::append_range(streams, row.inputs);
  auto getOffset = [&](Value row) -> Value {
    return memref::ExtractStridedMetadataOp::create(builder, loc, row)
        .getOffset();
  };
  for (auto [row, ahead] :
       llvm::zip_equal(streams, pipeline.getAheadOf(builder, group))) {
    Value between =
        arith::SubIOp::create(builder, loc, getOffset(ahead), getOffset(row));
    shifts.push_back(arith::SubIOp::create(builder, loc, between, length));
  }
  if (areSumsLong)
    return;
  near = streams;
  for (const Row &row : written)
    llvm::append_range(near, row.inputs);
}

void RowPipeline::Prefetcher::prefetch(VectorBuilder &v, Value index) {
  OpBuilder &builder = v.builder;
  Value column = arith::AddIOp::create(builder, loc, index, distance);
  Value isPast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                       column, length);
  for (auto [row, shift] : llvm::zip_equal(streams, shifts)) {
    if (!Rows::isLineStart(v, row.getType(), vector))
      continue;
    Value after = arith::AddIOp::create(builder, loc, column, shift);
    Value target = arith::SelectOp::create(builder, loc, isPast, after, column);
    // What is near is prefetched into the first level later on.
    v.prefetch(row, target,
               near.empty() ? pipeline.rows.getPrefetchLevel() : 2);
  }
  if (!near.empty()) {
    Value last =
        arith::SubIOp::create(builder, loc, length, constant(builder, 1));
    Value later = arith::AddIOp::create(
        builder, loc, index, constant(builder, kVectorsAhead * v.getLanes()));
    Value soon = buildMin(builder, loc, later, last);
    for (Value row : near)
      if (Rows::isLineStart(v, row.getType(), vector))
        v.prefetch(row, soon, /*level=*/1);
    if (Rows::isLineStart(v, v.type, vector))
      pipeline.prefetchShared(v, soon);
  }
  ++vector;
}

/// Vectors that are visited in one go: those of a line of the narrowest input,
/// of which each is prefetched once.
int64_t RowPipeline::getUnroll(OpBuilder &builder) {
  VectorBuilder v = rows.vectors(builder);
  int64_t unroll = 1;
  for (Value input : inputs)
    while (unroll < Rows::kUnroll &&
           !Rows::isLineStart(v, input.getType(), unroll))
      unroll *= 2;
  return unroll;
}

RowPipeline::Sums RowPipeline::buildBoth(OpBuilder &builder, Group before,
                                         ValueRange factorsBefore,
                                         Group group) {
  Counts counts = getCounts();
  SmallVector<Row> written = getRowsOf(builder, before);
  SmallVector<SmallVector<Value>> factors =
      getSplatsOf(builder, before, factorsBefore);
  SmallVector<Value> prepared = getVectors(builder, group, counts.prepared);
  if (counts.prepared)
    prepared = forEachSlot(builder, group, prepared,
                           [&](OpBuilder &b, Value, const Row &row,
                               MutableArrayRef<Value> running) {
                             put(b, loc, prepare(b, row), running, row.slot);
                           });
  SmallVector<Row> summed = getRowsOf(builder, group);
  SmallVector<SmallVector<Value>> preparedOf =
      getSplatsOf(builder, group, prepared);
  Prefetcher prefetcher(*this, builder, group, summed, written);
  SmallVector<Value> sums = rows.sumTogether(
      builder, group.count * counts.sums, getUnroll(builder),
      [&](VectorBuilder &v, Value index, Value mask,
          MutableArrayRef<Value> running) {
        prefetcher.prefetch(v, index);
        write(v, written, factors, index, mask, StoreKind::NonTemporal);
        for (auto [i, row] : llvm::enumerate(summed))
          add(v, row, preparedOf[i], index, mask,
              running.slice(i * counts.sums, counts.sums));
      });
  SmallVector<Value> sumVectors = getVectors(builder, group, counts.sums);
  for (auto [i, sum] : llvm::enumerate(sums))
    put(builder, loc, sum, sumVectors[i % counts.sums],
        builder.getIndexAttr(i / counts.sums));
  return {prepared, sumVectors};
}

void RowPipeline::buildWrites(OpBuilder &builder, Group group,
                              ValueRange factorsOfGroup, StoreKind kind,
                              bool isNextAhead) {
  SmallVector<Row> written = getRowsOf(builder, group);
  SmallVector<SmallVector<Value>> factors =
      getSplatsOf(builder, group, factorsOfGroup);
  SmallVector<Value> ahead;
  if (isNextAhead && getConstantIntValue(rows.getIsLarge()) != 0)
    ahead = getAheadOf(builder, group);
  int64_t vector = 0;
  rows.forEachVector(
      builder,
      [&](VectorBuilder &v, Value index, Value mask) {
        rows.prefetchLines(v, ahead, index, vector++);
        write(v, written, factors, index, mask, kind);
      },
      /*unroll=*/group.count == 1 ? Rows::kUnroll : 1);
}

void RowPipeline::buildTiledWrites(OpBuilder &builder, Group group,
                                   ValueRange factorsOfGroup, StoreKind kind) {
  auto writeTile = [&](OpBuilder &outer, Location, ValueRange begin) {
    IndexRange columns =
        pol::buildBlock(outer, loc, begin.front(), rows.getEnd(), kTileColumns);
    forEachSlot(outer, group, {},
                [&](OpBuilder &b, Value number, const Row &row,
                    MutableArrayRef<Value>) {
                  SmallVector<Value> ahead;
                  if (getConstantIntValue(rows.getIsLarge()) != 0)
                    ahead =
                        rows.getAhead(b, inputs, number, group.count).inWrite;
                  SmallVector<Value> factors = splat(
                      rows.vectors(b), take(b, loc, factorsOfGroup, row.slot));
                  int64_t vector = 0;
                  rows.forEachTile(
                      b, columns, Rows::kUnroll,
                      [&](VectorBuilder &v, ValueRange indices, Value mask) {
                        for (Value index : indices) {
                          rows.prefetchLines(v, ahead, index, vector++);
                          write(v, row, factors, index, mask, kind);
                        }
                      });
                });
  };
  buildLoop(builder, loc, arith::ConstantIndexOp::create(builder, loc, 0),
            rows.getEnd(), kTileColumns, writeTile);
}

Value RowPipeline::areTiled(OpBuilder &builder, int64_t groupRows) {
  Value areSeveral = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ugt, rows.getEnd(),
      arith::ConstantIndexOp::create(builder, loc, kTileColumns));
  return builder.createOrFold<arith::AndIOp>(loc, areSeveral,
                                             areShort(builder, groupRows));
}

/// Writes those rows of a group that have not been written, one by one: there
/// are others, which are rare.
void RowPipeline::buildPlainRows(OpBuilder &builder, Group group,
                                 const Summed &summed) {
  forEachSlot(
      builder, group, {},
      [&](OpBuilder &b, Value, const Row &row, MutableArrayRef<Value>) {
        Value isPlain = take(b, loc, summed.isPlain, row.slot);
        auto choice = scf::IfOp::create(b, loc, isPlain, false);
        OpBuilder then = choice.getThenBodyBuilder();
        SmallVector<Value> factors = splat(
            rows.vectors(then), take(then, loc, summed.factors, row.slot));
        rows.getRare().forEachVector(
            then, [&](VectorBuilder &v, Value index, Value mask) {
              write(v, row, factors, index, mask, StoreKind::NonTemporal);
            });
      });
}

/// Walks through whole groups.
void RowPipeline::buildWholeGroups(OpBuilder &builder, IndexRange range) {
  int64_t groupRows = getGroupRows();
  Counts counts = getCounts();
  Value step = arith::ConstantIndexOp::create(builder, loc, groupRows);
  // The last value is whether the group before is still to be written.
  auto visit = [&](OpBuilder &b, Location, Value first, ValueRange before) {
    Group group{first, groupRows};
    auto getValues = [](const Sums &sums) {
      return llvm::to_vector(
          llvm::concat<const Value>(sums.prepared, sums.sums));
    };
    auto choice = scf::IfOp::create(
        b, loc, before.back(),
        [&](OpBuilder &both, Location) {
          Value firstBefore = arith::SubIOp::create(both, loc, first, step);
          scf::YieldOp::create(
              both, loc,
              getValues(buildBoth(both, {firstBefore, groupRows},
                                  before.drop_back(), group)));
        },
        [&](OpBuilder &alone, Location) {
          scf::YieldOp::create(alone, loc, getValues(buildAlone(alone, group)));
        });
    ValueRange sums(choice.getResults());
    Summed summed =
        finishGroup(b, group,
                    {SmallVector<Value>(sums.take_front(counts.prepared)),
                     SmallVector<Value>(sums.drop_front(counts.prepared))});
    if (summed.isPlain) {
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
  SmallVector<Value> initial =
      getVectors(builder, {range.begin, groupRows}, counts.factors);
  initial.push_back(arith::ConstantIntOp::create(builder, loc, 0, 1));
  auto loop = scf::ForOp::create(builder, loc, range.begin, range.end, step,
                                 initial, visit);
  ValueRange results(loop.getResults());
  auto last = scf::IfOp::create(builder, loc, results.back(), false);
  OpBuilder then = last.getThenBodyBuilder();
  Value before = arith::SubIOp::create(then, loc, range.end, step);
  buildWrites(then, {before, groupRows}, results.drop_back(),
              StoreKind::NonTemporal, /*isNextAhead=*/false);
  rows.fenceStores(builder);
}

Value RowPipeline::buildGroups(OpBuilder &builder, IndexRange range,
                               Value areGrouped) {
  if (getConstantIntValue(areGrouped) == 0)
    return range.begin;
  Value wholeEnd = arith::SelectOp::create(
      builder, loc, areGrouped, getWholeEnd(builder, range, getGroupRows()),
      range.begin);
  Value end = arith::SelectOp::create(
      builder, loc, areAligned(builder, {range.begin, wholeEnd}), wholeEnd,
      range.begin);
  buildWholeGroups(builder, {range.begin, end});
  return end;
}

//===----------------------------------------------------------------------===//
// All rows
//===----------------------------------------------------------------------===//

Value RowPipeline::getWholeEnd(OpBuilder &builder, IndexRange range,
                               int64_t groupRows) {
  Value count = arith::SubIOp::create(builder, loc, range.end, range.begin);
  Value left = arith::RemUIOp::create(
      builder, loc, count,
      arith::ConstantIndexOp::create(builder, loc, groupRows));
  return arith::SubIOp::create(builder, loc, range.end, left);
}

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

/// Whether the second-level cache holds the rows of three such groups: those
/// that are written and summed, and what is prefetched.
Value RowPipeline::areShort(OpBuilder &builder, int64_t groupRows) {
  int64_t bytes = 0;
  for (Value input : inputs)
    bytes += getElementBytes(getElementTypeOrSelf(input));
  int64_t most = target.getL2Bytes() / (3 * groupRows * bytes);
  return builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ule, rows.getEnd(),
      arith::ConstantIndexOp::create(builder, loc, most));
}

int64_t RowPipeline::getGroupRows() const {
  int64_t most = target.getRowGroup();
  if (inputs.size() > 1)
    return std::max<int64_t>(most / 2, 1);
  return rows.hasFewStreams() && !areSumsLong() ? kLongGroupRows : most;
}

/// Where hardware follows few streams, rows are better read one by one, but for
/// those whose sums would keep memory idle, and for those that share weights
/// with others and are read from the second-level cache anyway.
Value RowPipeline::areWorthGroups(OpBuilder &builder) {
  if (!rows.hasFewStreams() || areSumsLong())
    return arith::ConstantIntOp::create(builder, loc, 1, 1);
  if (inputs.size() > 1)
    return arith::ConstantIntOp::create(builder, loc, 0, 1);
  int64_t most = target.getL1Bytes() /
                 getElementBytes(getElementTypeOrSelf(inputs.front()));
  return builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ugt, rows.getEnd(),
      arith::ConstantIndexOp::create(builder, loc, most));
}

Value RowPipeline::areGrouped(OpBuilder &builder) {
  Value all = rows.getIsLarge();
  for (Value condition :
       {areWorthGroups(builder), areShort(builder, getGroupRows()),
        rows.areWholeTiles(builder)})
    all = builder.createOrFold<arith::AndIOp>(loc, all, condition);
  return all;
}

/// Of trips in which rows go past the caches: a first group has none to be
/// written beside it, and what was written is waited for at the end.
Value RowPipeline::getRowsPerTrip(OpBuilder &builder) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto divide = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::CeilDivUIOp>(loc, lhs, rhs);
  };
  Value wanted =
      buildMax(builder, loc, constant(kRowsPerTrip),
               divide(constant(kElementsPerTrip),
                      buildMax(builder, loc, rows.getEnd(), constant(1))));
  Value most = divide(rows.getNumRows(),
                      constant(kTripsPerWorker * target.getMaxWorkers()));
  Value groups =
      divide(buildMin(builder, loc, wanted, most), constant(getGroupRows()));
  return builder.createOrFold<arith::MulIOp>(
      loc, buildMax(builder, loc, groups, constant(1)),
      constant(getGroupRows()));
}

void RowPipeline::buildRows(OpBuilder &builder) {
  Value grouped = areGrouped(builder);
  Value rowsPerTrip = rows.getRowsPerTrip(builder);
  if (getConstantIntValue(rows.getIsLarge()) != 0)
    rowsPerTrip = builder.createOrFold<arith::SelectOp>(
        loc, rows.getIsLarge(), getRowsPerTrip(builder), rowsPerTrip);
  Value trips = builder.createOrFold<arith::CeilDivUIOp>(loc, rows.getNumRows(),
                                                         rowsPerTrip);
  auto visit = [&](OpBuilder &b, Location, ValueRange trip) {
    begin(b);
    IndexRange range = rows.getBlock(b, trip.front(), rowsPerTrip);
    Value end = buildGroups(b, range, grouped);
    rows.forEachOf(b, {end, range.end}, [&](OpBuilder &inner, ValueRange at) {
      buildRow(inner, at);
    });
  };
  buildParallelLoop(builder, loc, {getAsOpFoldResult(trips)}, visit);
}
