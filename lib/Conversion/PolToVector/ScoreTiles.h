//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A tile of scores: keys by queries, in a worker's part of the workspace.

#ifndef POL_LIB_CONVERSION_POLTOVECTOR_SCORETILES_H
#define POL_LIB_CONVERSION_POLTOVECTOR_SCORETILES_H

#include "../PolToLinalg/AttentionScores.h"
#include "RegisterTile.h"
#include "pol/IR/AttentionTiling.h"

namespace mlir::pol {

/// A block of queries of one head, that one worker computes: `count` of them,
/// from `row` on. Lanes beyond stand for the last one once more.
struct QueryBlock {
  Sequence sequence;
  Value head, keyHead;
  Value row, count;
};

/// Some keys, counted from the first of their sequence, and what the mask keeps
/// of them: `isPartial` is null where it keeps all.
struct KeyTile {
  Value begin, count;
  Value isPartial;
};

/// What is known of a tile's scores, by vectors of queries: the largest one,
/// and whether any key is kept.
struct TileScores {
  SmallVector<Value> largest, isAny;
};

/// Whether there is a workspace that was described for a target: for none, it
/// is empty.
bool hasWorkspace(Operation *op, Value workspace);

/// What attention, forward and backward, does with tiles of scores.
class ScoreTiles {
public:
  /// keysPerTile: at most. queriesAt, scoresAt: where in a worker's part of the
  /// workspace the queries are, transposed, and the tile of scores.
  ScoreTiles(AttentionScores &scores, const AttentionTiling &tiling,
             int64_t keysPerTile, Value workspace, Value queriesAt,
             Value scoresAt);

  VectorBuilder vectors(OpBuilder &builder) const {
    return {builder, loc, type};
  }
  Value constant(OpBuilder &builder, int64_t value) const;
  RegisterTile getRegisterTile() const {
    return {loc, type, tiling.rows, tiling.vectors};
  }

  /// Builds a parallel loop over the workers, and in it, sequence after
  /// sequence, one over each one's items of work, by number. How many there are
  /// depends on shapes and target alone.
  void forEachItem(
      OpBuilder &builder,
      function_ref<Value(OpBuilder &, const Sequence &)> getCount,
      function_ref<void(OpBuilder &, Value worker, const Sequence &, Value)>
          body);
  Value getNumWorkers(OpBuilder &builder) const;
  /// How many blocks of queries a head has in a sequence.
  Value getNumBlocks(OpBuilder &builder, const Sequence &sequence) const;
  /// A block by its number.
  QueryBlock getBlock(OpBuilder &builder, const Sequence &sequence, Value head,
                      Value number) const;

  /// Runs the body for rows of packed sequences that are in none, before the
  /// first one and behind the last, given where they are in the arrays.
  void forEachOther(OpBuilder &builder, Value offsets, Value heads,
                    Value length,
                    function_ref<void(OpBuilder &, ValueRange place)> body);
  /// Makes a row of an array 0.
  void clearRow(OpBuilder &builder, Value array, ValueRange place,
                Value columns);

  /// The keys that a block keeps, and maybe others.
  IndexBounds getKeys(OpBuilder &builder, const QueryBlock &block);
  /// Runs the body for the tiles of these that a block keeps any of, in order.
  using TileFn = function_ref<SmallVector<Value>(OpBuilder &, const KeyTile &,
                                                 ValueRange running)>;
  SmallVector<Value> overKeys(OpBuilder &builder, const QueryBlock &block,
                              IndexBounds keys, ValueRange initial,
                              TileFn body);

  /// Where a key's row is in k or v.
  SmallVector<Value> getKeyPlace(OpBuilder &builder, const QueryBlock &block,
                                 Value key) const;
  /// An element of k, v or the like, in the row of a tile's key.
  Value loadOfKey(OpBuilder &builder, const QueryBlock &block,
                  const KeyTile &tile, Value array, Value row,
                  Value column) const;
  /// Whether any element of some rows is infinite or NaN: times a weight of 0,
  /// it would not be nothing.
  using LoadFn = function_ref<Value(OpBuilder &, Value row, Value column)>;
  Value hasStrange(OpBuilder &builder, Value rows, Value columns, LoadFn load);

  /// Writes rows of an array, transposed, into the workspace: the block's
  /// queries become lanes.
  void packQueries(OpBuilder &builder, const QueryBlock &block, Value array,
                   Value columns, Value worker, Value offset);
  /// The other way round, for the queries that there are. It may be added to
  /// what there is.
  void unpackQueries(OpBuilder &builder, const QueryBlock &block, Value array,
                     Value columns, Value worker, Value offset,
                     bool isAdded = false);
  /// A number of each query, one by one, by way of the place of scores.
  SmallVector<Value> loadLanes(OpBuilder &builder, const QueryBlock &block,
                               Value array, Value worker);
  void storeLanes(OpBuilder &builder, const QueryBlock &block,
                  ArrayRef<Value> values, Value array, Value worker);
  /// Where a query of a block is in arrays of queries.
  SmallVector<Value> getQueryPlace(OpBuilder &builder, const QueryBlock &block,
                                   Value lane) const;

  /// Runs the body for what each key of a tile, in k or v, has with each vector
  /// of queries in the workspace: Σ over columns. The last keys of registers
  /// may be one's once more.
  struct Factors {
    Value array, columns, packedAt;
  };
  using ProductFn =
      function_ref<void(OpBuilder &, Value row, int64_t vector, Value product,
                        MutableArrayRef<Value> running)>;
  SmallVector<Value> multiply(OpBuilder &builder, const QueryBlock &block,
                              const KeyTile &tile, Value worker,
                              const Factors &factors, ValueRange initial,
                              ProductFn body);
  /// The other way round: for each column of k or v, Σ over the keys of a tile,
  /// times what is of those and of vectors of queries. The last columns of
  /// registers, beyond those that there are, are the last one once more.
  using ColumnFn =
      function_ref<void(OpBuilder &, Value column, int64_t vector, Value sum)>;
  void sumKeys(OpBuilder &builder, const QueryBlock &block, const KeyTile &tile,
               Value worker, const Factors &factors, ColumnFn body);
  /// The same, with the same bits, where a weight of 0 is no factor but a key
  /// that a query does not keep.
  void sumKeptKeys(OpBuilder &builder, const QueryBlock &block,
                   const KeyTile &tile, Value worker, const Factors &factors,
                   ColumnFn body);
  /// Either of the two.
  using SumFn = decltype(&ScoreTiles::sumKeys);
  /// Whether something is so of a tile that is kept in part. Of others it is
  /// not computed.
  Value isPartialAnd(OpBuilder &builder, const KeyTile &tile,
                     function_ref<Value(OpBuilder &)> isSo);

  /// Computes the scores of a tile, and -inf where a query does not keep a key.
  TileScores buildScores(OpBuilder &builder, const QueryBlock &block,
                         const KeyTile &tile, Value worker);
  /// Without what regions say: products alone, and the largest.
  SmallVector<Value> buildProducts(OpBuilder &builder, const QueryBlock &block,
                                   const KeyTile &tile, Value worker);

  /// Which lanes of a vector of queries keep a key.
  Value isKept(OpBuilder &builder, const QueryBlock &block, Value key,
               int64_t vector);
  /// Whether one query does.
  Value isKept(OpBuilder &builder, const QueryBlock &block, Value key,
               Value lane);
  /// What stands for the arguments of the score region: a number and a
  /// position, or vectors of them.
  SmallVector<Value> getScoreArguments(const QueryBlock &block, Value product,
                                       Value position, Value key);
  /// What a block of scalar code yields for such arguments, and maybe more: a
  /// number, or a vector of them.
  Value evaluate(OpBuilder &builder, Block &block, ValueRange arguments);
  bool hasScore() const { return !scores.getInputs().score->empty(); }
  /// Whether a score may be evaluated where a key is not kept.
  bool isScoreAlwaysSafe() const;

  /// A vector of the workspace: of a row of so many queries behind an offset.
  Value loadRow(OpBuilder &builder, Value worker, Value offset, Value row,
                int64_t vector);
  void storeRow(OpBuilder &builder, Value value, Value worker, Value offset,
                Value row, int64_t vector);
  /// Where one number of such a row is.
  SmallVector<Value> getNumberPlace(OpBuilder &builder, Value worker,
                                    Value offset, Value row, Value lane) const;
  /// Makes rows behind an offset 0.
  void clearRows(OpBuilder &builder, Value worker, Value offset, Value rows);
  /// The position of a query, as regions see it, and those of a vector of them.
  Value getPosition(OpBuilder &builder, const QueryBlock &block,
                    Value lane) const;
  Value getPositions(OpBuilder &builder, const QueryBlock &block,
                     int64_t vector) const;

  AttentionScores &scores;
  Location loc;
  AttentionTiling tiling;
  VectorType type;
  int64_t keysPerTile;
  Value workspace;
  Value queriesAt, scoresAt;

private:
  /// Whether rows of so many columns, of k or v, are converted as vectors
  /// before they are multiplied, not number by number.
  bool isConverted(Value array, Value columns) const;
  void convertRows(OpBuilder &builder, const Factors &factors,
                   ArrayRef<SmallVector<Value>> places);
  Value getWholeColumns(OpBuilder &builder, Value array, Value columns) const;
  void
  forEachSquare(OpBuilder &builder, Value queries, Value columns,
                function_ref<void(OpBuilder &, Value lane, Value column)> body);
  IndexBounds getBlockPositions(OpBuilder &builder, const QueryBlock &block);
  Value getIndex(OpBuilder &builder, Value offset, Value row,
                 int64_t vector) const;
  void applyRegions(OpBuilder &builder, const QueryBlock &block,
                    const KeyTile &tile, Value worker);
  void applyScores(OpBuilder &builder, const QueryBlock &block,
                   const KeyTile &tile, Value worker);
  void applyMask(OpBuilder &builder, const QueryBlock &block,
                 const KeyTile &tile, Value worker);
  void applyByLane(OpBuilder &builder, const QueryBlock &block,
                   const KeyTile &tile, Value worker);
  SmallVector<Value> findLargest(OpBuilder &builder, const KeyTile &tile,
                                 Value worker);
  SmallVector<Value> findKept(OpBuilder &builder, const QueryBlock &block,
                              const KeyTile &tile);

  /// A worker's rows of keys that are converted, null where none are.
  Value converted;
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOVECTOR_SCORETILES_H
