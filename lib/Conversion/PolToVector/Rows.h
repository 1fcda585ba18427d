//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Rows of arrays, split over threads and read and written in vectors.

#ifndef POL_LIB_CONVERSION_POLTOVECTOR_ROWS_H
#define POL_LIB_CONVERSION_POLTOVECTOR_ROWS_H

#include "Vectors.h"
#include "pol/IR/Target.h"

namespace mlir::pol {

/// The rows of arrays of one shape: those of a kernel whose last dimension is
/// what it reduces.
class Rows {
public:
  /// Builds what all rows share. `array` is one of the arrays. By default that
  /// decides what is accumulated in.
  Rows(OpBuilder &builder, Location loc, Value array, TargetAttr target,
       FloatType accumulation = nullptr);

  /// Vectors that are visited independently of each other, a tile, so that they
  /// need not wait for one another.
  static constexpr int64_t kUnroll = 4;

  /// The same rows where they are walked through so seldom that code should
  /// rather be short: vector after vector.
  Rows getRare() const {
    Rows rare(*this);
    rare.tile = 1;
    return rare;
  }

  FloatType getType() const { return type; }
  OpFoldResult getLength() const { return length; }
  /// The length, as an index.
  Value getEnd() const { return lengthValue; }
  Value getCount() const { return count; }
  Value getNumRows() const { return numRows; }
  /// Whether what is written goes past the caches.
  Value getIsLarge() const { return isLarge; }
  /// The least level of cache that what is needed soon is prefetched into.
  unsigned getPrefetchLevel() const { return fewStreams ? 1 : 2; }
  /// The leading indices of a row, given its number.
  SmallVector<Value> getIndices(OpBuilder &builder, Value row) const;
  /// Rows to be prefetched while others are computed. That is done in passes,
  /// of which only the first would read from memory, and the last write to it.
  struct Ahead {
    /// By a pass that sums, none where its loads would wait for prefetches to
    /// end: where rows do not fit the first-level cache, in which case it is
    /// rows that it reads itself, or hardware follows few streams.
    SmallVector<Value> inSum;
    /// By the pass that writes.
    SmallVector<Value> inWrite;
  };
  /// Whether hardware follows so few streams that rows are best read one by
  /// one.
  bool hasFewStreams() const { return fewStreams; }
  /// The rows so many rows ahead of one, or a multiple of that, of each array.
  Ahead getAhead(OpBuilder &builder, ValueRange arrays, Value row,
                 int64_t distance) const;
  /// Those after the row that `forEach` visits.
  Ahead getAhead(OpBuilder &builder, ValueRange arrays) const {
    return getAhead(builder, arrays, visited, 1);
  }
  /// Prefetches the lines of other rows as one is visited, vector after vector:
  /// one of so many.
  void prefetchLines(VectorBuilder &v, ValueRange rows, Value index,
                     int64_t vector, int64_t every = 1) const;
  /// Whether a line of a row of this type begins with a vector of this number.
  static bool isLineStart(VectorBuilder &v, Type row, int64_t vector,
                          int64_t every = 1);
  /// Stores past the caches are in no order with what tells other threads that
  /// they were made, but for this, at the end of what one thread does.
  void fenceStores(OpBuilder &builder) const;
  VectorBuilder vectors(OpBuilder &builder) const {
    return {builder, loc, VectorType::get(lanes, type)};
  }

  /// Rows that are worth a trip of a parallel loop.
  Value getRowsPerTrip(OpBuilder &builder) const;

  /// Runs the body for each row, given its leading indices, on many threads.
  /// Each takes some rows in a row, as many as shapes and target say.
  void forEach(OpBuilder &builder,
               function_ref<void(OpBuilder &, ValueRange at)> body);

  /// The rows of a block of so many.
  IndexRange getBlock(OpBuilder &builder, Value block,
                      Value rowsPerBlock) const;

  /// Runs the body for some rows in order.
  void forEachOf(OpBuilder &builder, IndexRange range,
                 function_ref<void(OpBuilder &, ValueRange at)> body);

  /// Combines vectors of a row into what is running.
  using CombineFn = function_ref<void(VectorBuilder &, Value index, Value mask,
                                      MutableArrayRef<Value> running)>;
  /// The sums of a row, so many: the body adds to them. What is added when
  /// depends on the length and the target alone. Every second line of the rows
  /// `ahead` is prefetched.
  SmallVector<Value> sum(OpBuilder &builder, unsigned count, CombineFn body,
                         ValueRange ahead = {});
  /// The same sums of some rows side by side, for which the body adds to so
  /// many in all: of rows that are whole tiles. The body is built for so many
  /// vectors.
  SmallVector<Value> sumTogether(OpBuilder &builder, unsigned count,
                                 int64_t unroll, CombineFn body);
  /// Whether rows are whole tiles of vectors.
  Value areWholeTiles(OpBuilder &builder) const;
  /// Those of the elements of a row before `end`, which are few.
  SmallVector<Value> sumFirst(OpBuilder &builder, Value end, unsigned count,
                              CombineFn body);
  /// The largest element of a row; the body takes the larger ones.
  Value maximum(OpBuilder &builder, double least, CombineFn body);

  /// Runs the body for all vectors of a row, so many in a trip of a loop, by
  /// default those of a tile.
  using VectorFn = function_ref<void(VectorBuilder &, Value index, Value mask)>;
  void forEachVector(OpBuilder &builder, VectorFn body,
                     std::optional<int64_t> unroll = std::nullopt);

  /// Runs the body for tiles of so many vectors of a range, as far as whole
  /// ones go, and for what is left one vector at a time; the last one may be a
  /// part, with a mask.
  using TileFn =
      function_ref<void(VectorBuilder &, ValueRange indices, Value mask)>;
  void forEachTile(OpBuilder &builder, IndexRange range, int64_t vectors,
                   TileFn body);

  /// Writes a row: the body stores what it computes with what kind of store it
  /// is told. Past the caches go rows of arrays that fill these; then the
  /// rows `ahead` are prefetched.
  using StoreFn = function_ref<void(VectorBuilder &, Value index, Value mask,
                                    StoreKind kind)>;
  void write(OpBuilder &builder, Value row, ValueRange ahead, StoreFn body);

  /// Builds what stores rows, past the caches if they are large, given whether
  /// they are aligned for it.
  void chooseKind(OpBuilder &builder, Value areAligned,
                  function_ref<void(OpBuilder &, StoreKind)> build) const;

  /// Whether a row begins where vectors may be stored past the caches.
  Value isAligned(OpBuilder &builder, Value row) const;

private:
  Value constant(OpBuilder &builder, int64_t value) const;
  /// Runs the body for tiles of vectors and for what is left, each with what is
  /// running: a tile in one go.
  using RunFn = function_ref<void(VectorBuilder &, ValueRange indices,
                                  Value mask, MutableArrayRef<Value> running)>;
  SmallVector<Value> overTiles(OpBuilder &builder, IndexRange range,
                               int64_t vectors, ValueRange initial, RunFn body);
  using AddRangeFn = function_ref<SmallVector<Value>(OpBuilder &, IndexRange)>;
  SmallVector<Value> sumBlocks(OpBuilder &builder, unsigned count,
                               AddRangeFn addRange);
  SmallVector<Value> addTiles(OpBuilder &builder, IndexRange range,
                              unsigned count, int64_t unroll, CombineFn body);
  SmallVector<Value> addVectors(OpBuilder &builder, Value begin, Value end,
                                unsigned count, CombineFn body);
  SmallVector<Value> addTail(OpBuilder &builder, Value begin, Value end,
                             ValueRange initial, CombineFn body);

  Location loc;
  FloatType type;
  int64_t lanes;
  bool fewStreams;
  /// Vectors of a tile.
  int64_t tile = kUnroll;
  OpFoldResult length;
  Value lengthValue;
  /// The length as a number to divide by.
  Value count;
  SmallVector<Value> leading;
  Value numRows;
  Value isLarge;
  /// Whether rows are so short that the next ones stay in the second-level
  /// cache until they are read, or that two fit the first-level one: 1 or 0.
  Value staysCached, isShort;
  /// 1 at least.
  Value rowBytes;
  /// The row that `forEach` visits.
  Value visited;
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOVECTOR_ROWS_H
