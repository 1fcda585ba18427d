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

/// What attention, forward and backward, does with tiles of scores.
class ScoreTiles {
public:
  ScoreTiles(OpBuilder &builder, AttentionScores &scores, TargetAttr target,
             Value workspace);

  VectorBuilder vectors(OpBuilder &builder) const {
    return {builder, loc, type};
  }
  Value constant(OpBuilder &builder, int64_t value) const;
  RegisterTile getRegisterTile() const {
    return {loc, type, tiling.rows, tiling.vectors};
  }

  /// Builds a parallel loop over the workers, and in it one over each one's
  /// blocks of queries. Which these are depends on shapes and target alone.
  void forEachBlock(
      OpBuilder &builder,
      function_ref<void(OpBuilder &, Value worker, const QueryBlock &)> body);

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

  /// Writes rows of an array, transposed, into the workspace: the block's
  /// queries become lanes.
  void packQueries(OpBuilder &builder, const QueryBlock &block, Value array,
                   Value columns, Value worker, Value offset);
  /// The other way round, for the queries that there are.
  void unpackQueries(OpBuilder &builder, const QueryBlock &block, Value array,
                     Value columns, Value worker, Value offset);
  /// Where a query of a block is in arrays of queries.
  SmallVector<Value> getQueryPlace(OpBuilder &builder, const QueryBlock &block,
                                   Value lane) const;

  /// Computes the scores of a tile, and -inf where a query does not keep a key.
  TileScores buildScores(OpBuilder &builder, const QueryBlock &block,
                         const KeyTile &tile, Value worker);

  /// Which lanes of a vector of queries keep a key.
  Value isKept(OpBuilder &builder, const QueryBlock &block, Value key,
               int64_t vector);

  /// A vector of the workspace: of a row of so many queries behind an offset.
  Value loadRow(OpBuilder &builder, Value worker, Value offset, Value row,
                int64_t vector);
  void storeRow(OpBuilder &builder, Value value, Value worker, Value offset,
                Value row, int64_t vector);

  AttentionScores &scores;
  Location loc;
  AttentionTiling tiling;
  AttentionWorkspace places;
  VectorType type;
  Value workspace;
  /// The places, as values.
  Value queriesAt, resultAt, partAt, scoresAt;

private:
  IndexBounds getBlockPositions(OpBuilder &builder, const QueryBlock &block);
  Value getIndex(OpBuilder &builder, Value offset, Value row, int64_t vector);
  Value getPosition(OpBuilder &builder, const QueryBlock &block,
                    Value lane) const;
  Value getPositions(OpBuilder &builder, const QueryBlock &block,
                     int64_t vector) const;
  SmallVector<Value> multiply(OpBuilder &builder, const QueryBlock &block,
                              const KeyTile &tile, Value worker);
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
  bool hasScore() const { return !scores.getInputs().score->empty(); }
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOVECTOR_SCORETILES_H
