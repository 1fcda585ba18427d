//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Rows in vectors.

#include "Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "pol/IR/PolOps.h"
#include "pol/IR/PolTypes.h"

using namespace mlir;
using namespace mlir::pol;

/// Elements that are worth a trip of a parallel loop: a microsecond or two.
static constexpr int64_t kElementsPerTrip = 8192;
/// Vectors that are added one after the other before their sum is.
static constexpr int64_t kVectorsPerBlock = 16;
static constexpr int64_t kLineBytes = 64;
/// Rows of this part of a cache are prefetched: the next one of up to two
/// arrays beside what is read and written.
static constexpr int64_t kPrefetchedPart = 8;
/// Lines that are prefetched are this far ahead at least, so that they arrive
/// in time; and where nothing else prefetches them.
static constexpr int64_t kBytesAhead = 8192;
static constexpr int64_t kBytesAheadAlone = 16384;

Rows::Rows(OpBuilder &builder, Location loc, Value array, TargetAttr target,
           FloatType accumulation)
    : loc(loc), fewStreams(target.getRowGroup() == 1) {
  auto arrayType = cast<MemRefType>(array.getType());
  type = accumulation ? accumulation
                      : getAccumulationType(arrayType.getElementType());
  lanes = target.getVectorBits() / type.getWidth();
  length = getExtent(builder, loc, array, arrayType.getRank() - 1);
  lengthValue = getValueOrCreateConstantIndexOp(builder, loc, length);
  count = FloatBuilder{builder, loc, type}.count(length);
  numRows = constant(builder, 1);
  for (OpFoldResult extent : getLeadingExtents(builder, loc, array, 1)) {
    leading.push_back(getValueOrCreateConstantIndexOp(builder, loc, extent));
    numRows = builder.createOrFold<arith::MulIOp>(loc, numRows, leading.back());
  }
  int64_t bytes = getElementBytes(arrayType.getElementType());
  Value most = constant(builder, target.getLlcBytes() / bytes);
  // What fills the last level leaves no room there for what it is made of. No
  // product of rows and length, which may overflow.
  Value rowsThatFill = builder.createOrFold<arith::CeilDivUIOp>(
      loc, most, buildMax(builder, loc, lengthValue, constant(builder, 1)));
  isLarge = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::uge,
                                                numRows, rowsThatFill);
  auto fits = [&](int64_t elements) {
    return builder.createOrFold<arith::IndexCastUIOp>(
        loc, builder.getIndexType(),
        builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ule,
                                            lengthValue,
                                            constant(builder, elements)));
  };
  rowBytes = buildMax(builder, loc, constant(builder, 1),
                      builder.createOrFold<arith::MulIOp>(
                          loc, lengthValue, constant(builder, bytes)));
  staysCached = fits(target.getL2Bytes() / kPrefetchedPart / bytes);
  isShort = fits(target.getL1Bytes() / kPrefetchedPart / bytes);
}

Value Rows::constant(OpBuilder &builder, int64_t value) const {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

SmallVector<Value> Rows::getIndices(OpBuilder &builder, Value row) const {
  return getRowIndices(builder, loc, row, leading);
}

Value Rows::getRowsPerTrip(OpBuilder &builder) const {
  Value one = constant(builder, 1);
  Value wanted = builder.createOrFold<arith::DivUIOp>(
      loc, constant(builder, kElementsPerTrip),
      buildMax(builder, loc, lengthValue, one));
  return buildMax(builder, loc, wanted, one);
}

void Rows::forEach(OpBuilder &builder,
                   function_ref<void(OpBuilder &, ValueRange)> body) {
  Value rowsPerTrip = getRowsPerTrip(builder);
  Value trips =
      builder.createOrFold<arith::CeilDivUIOp>(loc, numRows, rowsPerTrip);
  buildParallelLoop(builder, loc, {getAsOpFoldResult(trips)},
                    [&](OpBuilder &b, Location, ValueRange trip) {
                      forEachOf(b, getBlock(b, trip.front(), rowsPerTrip),
                                body);
                    });
}

IndexRange Rows::getBlock(OpBuilder &builder, Value block,
                          Value rowsPerBlock) const {
  Value begin = arith::MulIOp::create(builder, loc, block, rowsPerBlock);
  Value left = arith::SubIOp::create(builder, loc, numRows, begin);
  Value end = arith::AddIOp::create(builder, loc, begin,
                                    buildMin(builder, loc, rowsPerBlock, left));
  return {begin, end};
}

void Rows::forEachOf(OpBuilder &builder, IndexRange range,
                     function_ref<void(OpBuilder &, ValueRange)> body) {
  buildLoop(builder, loc, range.begin, range.end, 1,
            [&](OpBuilder &b, Location, ValueRange row) {
              visited = row.front();
              body(b, getIndices(b, row.front()));
            });
  fenceStores(builder);
}

Rows::Ahead Rows::getAhead(OpBuilder &builder, ValueRange arrays, Value row,
                           int64_t distance) const {
  Value last =
      arith::SubIOp::create(builder, loc, numRows, constant(builder, 1));
  auto multiply = [&](Value lhs, Value rhs) -> Value {
    return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
  };
  Value far = builder.createOrFold<arith::CeilDivUIOp>(
      loc, constant(builder, fewStreams ? kBytesAheadAlone : kBytesAhead),
      multiply(rowBytes, constant(builder, distance)));
  far = multiply(far, constant(builder, distance));
  auto getRows = [&](Value isAhead) {
    Value rowsAhead = multiply(far, isAhead);
    Value number =
        buildMin(builder, loc,
                 arith::AddIOp::create(builder, loc, row, rowsAhead), last);
    SmallVector<Value> at = getIndices(builder, number);
    return llvm::map_to_vector(arrays, [&](Value array) {
      return getRow(builder, loc, array, at, length);
    });
  };
  if (fewStreams || getConstantIntValue(isShort) == 0)
    return {{}, getRows(staysCached)};
  return {getRows(isShort), getRows(staysCached)};
}

void Rows::fenceStores(OpBuilder &builder) const {
  auto fence = scf::IfOp::create(builder, loc, isLarge, false);
  OpBuilder inner = fence.getThenBodyBuilder();
  LLVM::FenceOp::create(inner, loc, LLVM::AtomicOrdering::seq_cst);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// What is left after whole vectors, if there may be any.
SmallVector<Value> Rows::addTail(OpBuilder &builder, Value begin, Value end,
                                 ValueRange initial, CombineFn body) {
  Value left = builder.createOrFold<arith::SubIOp>(loc, end, begin);
  if (getConstantIntValue(left) == 0)
    return SmallVector<Value>(initial);
  auto build = [&](OpBuilder &b) {
    VectorBuilder v = vectors(b);
    Value mask = vector::CreateMaskOp::create(b, loc, v.getMaskType(), left);
    SmallVector<Value> running(initial);
    body(v, begin, mask, running);
    return running;
  };
  if (getConstantIntValue(left))
    return build(builder);
  Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       left, constant(builder, 0));
  if (initial.empty()) {
    auto choice = scf::IfOp::create(builder, loc, isLeft, false);
    OpBuilder then = choice.getThenBodyBuilder();
    return build(then);
  }
  auto choice = scf::IfOp::create(
      builder, loc, isLeft,
      [&](OpBuilder &b, Location) { scf::YieldOp::create(b, loc, build(b)); },
      [&](OpBuilder &b, Location) { scf::YieldOp::create(b, loc, initial); });
  return SmallVector<Value>(choice.getResults());
}

/// Runs the body for so many vectors in each trip of a loop, as far as whole
/// ones go, with what is running.
static SmallVector<Value>
buildTileLoop(Rows &rows, OpBuilder &builder, Location loc, IndexRange range,
              int64_t vectors, int64_t lanes, ValueRange initial,
              function_ref<void(VectorBuilder &, ValueRange indices,
                                MutableArrayRef<Value> running)>
                  body) {
  if (range.begin == range.end ||
      (getConstantIntValue(range.begin) &&
       getConstantIntValue(range.begin) == getConstantIntValue(range.end)))
    return SmallVector<Value>(initial);
  Value step = arith::ConstantIndexOp::create(builder, loc, vectors * lanes);
  auto loop = scf::ForOp::create(
      builder, loc, range.begin, range.end, step, initial,
      [&](OpBuilder &b, Location, Value index, ValueRange given) {
        VectorBuilder v = rows.vectors(b);
        SmallVector<Value> running(given);
        SmallVector<Value> indices;
        for (int64_t i = 0; i < vectors; ++i)
          indices.push_back(b.createOrFold<arith::AddIOp>(
              loc, index, arith::ConstantIndexOp::create(b, loc, i * lanes)));
        body(v, indices, running);
        scf::YieldOp::create(b, loc, running);
      });
  return SmallVector<Value>(loop.getResults());
}

/// Where the last whole multiple of so many elements of a range ends.
static Value roundDown(OpBuilder &builder, Location loc, IndexRange range,
                       int64_t multiple) {
  Value size = arith::ConstantIndexOp::create(builder, loc, multiple);
  Value elements =
      builder.createOrFold<arith::SubIOp>(loc, range.end, range.begin);
  Value whole = builder.createOrFold<arith::MulIOp>(
      loc, builder.createOrFold<arith::DivUIOp>(loc, elements, size), size);
  return builder.createOrFold<arith::AddIOp>(loc, range.begin, whole);
}

SmallVector<Value> Rows::overTiles(OpBuilder &builder, IndexRange range,
                                   int64_t vectors, ValueRange initial,
                                   RunFn body) {
  Value wholeEnd = roundDown(builder, loc, range, lanes);
  auto visit = [&](VectorBuilder &v, ValueRange indices,
                   MutableArrayRef<Value> running) {
    body(v, indices, Value(), running);
  };
  Value begin = range.begin;
  SmallVector<Value> running(initial);
  if (vectors > 1) {
    Value tilesEnd = roundDown(builder, loc, range, vectors * lanes);
    running = buildTileLoop(*this, builder, loc, {begin, tilesEnd}, vectors,
                            lanes, running, visit);
    begin = tilesEnd;
  }
  running = buildTileLoop(*this, builder, loc, {begin, wholeEnd}, 1, lanes,
                          running, visit);
  return addTail(
      builder, wholeEnd, range.end, running,
      [&](VectorBuilder &v, Value index, Value mask,
          MutableArrayRef<Value> last) { body(v, index, mask, last); });
}

/// The sums of some vectors, lane by lane: those of a tile are added up before
/// they are added to the others, so that no tile waits for the one before.
SmallVector<Value> Rows::addVectors(OpBuilder &builder, Value begin, Value end,
                                    unsigned count, CombineFn body) {
  SmallVector<Value> zeros(count, vectors(builder).constant(0.0));
  return overTiles(builder, {begin, end}, tile, zeros,
                   [&](VectorBuilder &v, ValueRange indices, Value mask,
                       MutableArrayRef<Value> running) {
                     // What is added to -0 is left as it is.
                     SmallVector<Value> addends(count, v.constant(-0.0));
                     for (Value index : indices)
                       body(v, index, mask, addends);
                     for (auto [sum, addend] :
                          llvm::zip_equal(running, addends))
                       sum = v.add(sum, addend);
                   });
}

bool Rows::isLineStart(VectorBuilder &v, Type row, int64_t vector,
                       int64_t every) {
  int64_t bytes = v.getLanes() * getElementBytes(getElementTypeOrSelf(row));
  int64_t vectorsPerLine = std::max<int64_t>(kLineBytes / bytes, 1);
  return vector % vectorsPerLine == 0 && vector / vectorsPerLine % every == 0;
}

void Rows::prefetchLines(VectorBuilder &v, ValueRange rows, Value index,
                         int64_t vector, int64_t every) const {
  for (Value row : rows)
    if (isLineStart(v, row.getType(), vector, every))
      v.prefetch(row, index, getPrefetchLevel());
}

/// Loops that are left as they are: their bodies are long.
static LLVM::LoopAnnotationAttr getRolled(MLIRContext *context) {
  auto yes = BoolAttr::get(context, true);
  auto unroll = LLVM::LoopUnrollAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {},
                                       {}, {}, {}, {}, {}, {}, {}, {});
}

/// The same as `addVectors`, of a range of whole tiles, of which so many
/// vectors are one trip of a loop.
SmallVector<Value> Rows::addTiles(OpBuilder &builder, IndexRange range,
                                  unsigned count, int64_t unroll,
                                  CombineFn body) {
  VectorBuilder all = vectors(builder);
  SmallVector<Value> zeros(count, all.constant(0.0));
  auto addTile = [&](OpBuilder &b, Location, Value begin, ValueRange given) {
    VectorBuilder v = vectors(b);
    SmallVector<Value> none(count, v.constant(-0.0));
    Value end =
        arith::AddIOp::create(b, loc, begin, constant(b, kUnroll * lanes));
    SmallVector<Value> addends =
        buildTileLoop(*this, b, loc, {begin, end}, unroll, lanes, none,
                      [&](VectorBuilder &inner, ValueRange indices,
                          MutableArrayRef<Value> running) {
                        for (Value index : indices)
                          body(inner, index, Value(), running);
                      });
    addends.front().getDefiningOp()->setAttr("llvm.loop_annotation",
                                             getRolled(b.getContext()));
    SmallVector<Value> sums;
    for (auto [sum, addend] : llvm::zip_equal(given, addends))
      sums.push_back(v.add(sum, addend));
    scf::YieldOp::create(b, loc, sums);
  };
  auto loop =
      scf::ForOp::create(builder, loc, range.begin, range.end,
                         constant(builder, kUnroll * lanes), zeros, addTile);
  return SmallVector<Value>(loop.getResults());
}

/// The sums of a row, given those of a range of its vectors, lane by lane.
SmallVector<Value> Rows::sumBlocks(OpBuilder &builder, unsigned count,
                                   AddRangeFn addRange) {
  VectorBuilder v = vectors(builder);
  Value zero = constant(builder, 0);
  int64_t block = kVectorsPerBlock * tile * lanes;
  std::optional<int64_t> known = getConstantIntValue(length);
  SmallVector<Value> sums;
  if (known && *known <= 2 * block) {
    sums = addRange(builder, {zero, lengthValue});
  } else {
    // What the sums of blocks lose is added up as well.
    SmallVector<Value> initial(2 * count, v.constant(0.0));
    auto loop = scf::ForOp::create(
        builder, loc, zero, lengthValue, constant(builder, block), initial,
        [&](OpBuilder &b, Location, Value begin, ValueRange given) {
          SmallVector<Value> addends =
              addRange(b, buildBlock(b, loc, begin, lengthValue, block));
          SmallVector<Value> running;
          for (auto [i, addend] : llvm::enumerate(addends)) {
            Compensated sum{given[2 * i], given[2 * i + 1]};
            sum = sum.add(b, loc, addend);
            running.append({sum.sum, sum.rest});
          }
          scf::YieldOp::create(b, loc, running);
        });
    for (unsigned i = 0; i < count; ++i)
      sums.push_back(
          Compensated{loop.getResult(2 * i), loop.getResult(2 * i + 1)}.get(
              builder, loc));
  }
  for (Value &sum : sums)
    sum = v.sumLanes(sum);
  return sums;
}

SmallVector<Value> Rows::sum(OpBuilder &builder, unsigned count,
                             CombineFn element, ValueRange ahead) {
  int64_t vector = 0;
  auto body = [&](VectorBuilder &v, Value index, Value mask,
                  MutableArrayRef<Value> running) {
    prefetchLines(v, ahead, index, vector++, /*every=*/2);
    element(v, index, mask, running);
  };
  return sumBlocks(builder, count, [&](OpBuilder &b, IndexRange range) {
    return addVectors(b, range.begin, range.end, count, body);
  });
}

SmallVector<Value> Rows::sumTogether(OpBuilder &builder, unsigned count,
                                     int64_t unroll, CombineFn body) {
  return sumBlocks(builder, count, [&](OpBuilder &b, IndexRange range) {
    return addTiles(b, range, count, unroll, body);
  });
}

Value Rows::areWholeTiles(OpBuilder &builder) const {
  Value rest = builder.createOrFold<arith::RemUIOp>(
      loc, lengthValue, constant(builder, kUnroll * lanes));
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                             rest, constant(builder, 0));
}

SmallVector<Value> Rows::sumFirst(OpBuilder &builder, Value end, unsigned count,
                                  CombineFn body) {
  VectorBuilder v = vectors(builder);
  SmallVector<Value> sums =
      addVectors(builder, constant(builder, 0), end, count, body);
  for (Value &sum : sums)
    sum = v.sumLanes(sum);
  return sums;
}

Value Rows::maximum(OpBuilder &builder, double least, CombineFn body) {
  VectorBuilder v = vectors(builder);
  // Each vector of a tile has a maximum of its own: none waits for another.
  SmallVector<Value> all =
      overTiles(builder, {constant(builder, 0), lengthValue}, tile,
                SmallVector<Value>(tile, v.constant(least)),
                [&](VectorBuilder &inner, ValueRange indices, Value mask,
                    MutableArrayRef<Value> running) {
                  for (auto [i, index] : llvm::enumerate(indices))
                    body(inner, index, mask, running.slice(i, 1));
                });
  for (int64_t step = tile / 2; step > 0; step /= 2)
    for (int64_t i = 0; i < step; ++i)
      all[i] = v.larger(all[i], all[i + step]);
  return v.maximumLane(all.front());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void Rows::forEachVector(OpBuilder &builder, VectorFn body,
                         std::optional<int64_t> unroll) {
  forEachTile(builder, {constant(builder, 0), lengthValue},
              unroll.value_or(tile),
              [&](VectorBuilder &v, ValueRange indices, Value mask) {
                for (Value index : indices)
                  body(v, index, mask);
              });
}

Value Rows::isAligned(OpBuilder &builder, Value row) const {
  auto rowType = cast<MemRefType>(row.getType());
  int64_t bytes = getElementBytes(rowType.getElementType());
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, row);
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, row);
  Value address = arith::AddIOp::create(
      builder, loc, base,
      arith::MulIOp::create(builder, loc, metadata.getOffset(),
                            constant(builder, bytes)));
  Value rest = arith::RemUIOp::create(builder, loc, address,
                                      constant(builder, lanes * bytes));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                               constant(builder, 0));
}

void Rows::forEachTile(OpBuilder &builder, IndexRange range, int64_t vectors,
                       TileFn body) {
  overTiles(builder, range, vectors, {},
            [&](VectorBuilder &v, ValueRange indices, Value mask,
                MutableArrayRef<Value>) { body(v, indices, mask); });
}

void Rows::write(OpBuilder &builder, Value row, ValueRange ahead,
                 StoreFn body) {
  auto build = [&](OpBuilder &b, StoreKind kind) {
    int64_t vector = 0;
    forEachVector(b, [&](VectorBuilder &v, Value index, Value mask) {
      if (kind == StoreKind::NonTemporal)
        prefetchLines(v, ahead, index, vector++);
      body(v, index, mask, kind);
    });
  };
  chooseKind(builder, isAligned(builder, row), build);
}

void Rows::chooseKind(OpBuilder &builder, Value areAligned,
                      function_ref<void(OpBuilder &, StoreKind)> build) const {
  Value goesPast =
      builder.createOrFold<arith::AndIOp>(loc, isLarge, areAligned);
  if (getConstantIntValue(goesPast) == 0)
    return build(builder, StoreKind::Plain);
  auto choice = scf::IfOp::create(builder, loc, goesPast,
                                  /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder();
  build(then, StoreKind::NonTemporal);
  OpBuilder otherwise = choice.getElseBodyBuilder();
  build(otherwise, StoreKind::Plain);
}
