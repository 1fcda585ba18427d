//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the parts of the tuned expansion of pol.attention_grad share.

#ifndef POL_LIB_CONVERSION_POLTOVECTOR_ATTENTIONGRAD_H
#define POL_LIB_CONVERSION_POLTOVECTOR_ATTENTIONGRAD_H

#include "Rows.h"
#include "ScoreTiles.h"

namespace mlir::pol {

// A tile of weights P and one of their gradients dS are computed again from
// what the forward op has found, keys by queries as there (Dao,
// FlashAttention-2, 2023). Keys are visited in chunks, and for each all blocks
// of queries: dk and dv of a chunk are summed in the workspace, in lanes of
// columns, and dq over chunks where it lies.
//
// Where heads of keys are enough for the workers, an item of work is one of
// them, and each tile is computed once: 5 products. Where they are not, or
// where dq is too narrow to be summed in, there are two kinds of items: a block
// of queries with all keys, for dq, and some keys with all queries, for dk and
// dv: 7 products. Sums are the same for both.

/// What one item of work computes: of these query heads, which share a head of
/// keys, these blocks of queries with these keys.
struct WorkItem {
  Sequence sequence;
  Value keyHead;
  IndexRange heads, blocks, keys;
  /// Whether it computes dq; whether dk and dv.
  Value isOfQueries, isOfKeys;
};

/// A sum over queries: of a tile's weights, or their gradients, times rows of
/// an array of queries.
struct KeyGradient {
  Value destination;
  /// What is in the place of a tile of scores.
  Value weightsAt;
  Value factors;
  Value columns;
  /// Where sums are in the workspace, one of each kind for each key of a chunk.
  Value sumsAt;
  Rows rows;
};

/// The sum over some blocks of queries; that over others, and what it has lost.
enum class SumKind { Part, All, Rest };

/// The gradients of attention.
class Backward {
public:
  Backward(OpBuilder &builder, AttentionGradOp op, TargetAttr target);
  void build(OpBuilder &builder);

private:
  Value getPlace(OpBuilder &builder, OpFoldResult place);
  Value constant(OpBuilder &builder, int64_t value) {
    return tiles.constant(builder, value);
  }
  void buildDelta(OpBuilder &builder);
  void clearOthers(OpBuilder &builder);

  // Work.
  void decideSplit(OpBuilder &builder);
  Value getKeysPerItem(OpBuilder &builder, const Sequence &sequence);
  Value getNumQueryItems(OpBuilder &builder, const Sequence &sequence);
  Value getNumKeyItems(OpBuilder &builder, const Sequence &sequence);
  WorkItem getItem(OpBuilder &builder, const Sequence &sequence, Value number);
  void buildItem(OpBuilder &builder, Value worker, const WorkItem &item);
  void buildChunk(OpBuilder &builder, Value worker, const WorkItem &item);
  void buildBlock(OpBuilder &builder, Value worker, const WorkItem &item,
                  const QueryBlock &block);
  void ifForQueries(OpBuilder &builder, const WorkItem &item,
                    function_ref<void(OpBuilder &)> body);
  void ifForKeys(OpBuilder &builder, const WorkItem &item,
                 function_ref<void(OpBuilder &)> body);

  // Tiles.
  void visitTile(OpBuilder &builder, Value worker, const WorkItem &item,
                 const QueryBlock &block, const KeyTile &tile);
  void buildProducts(OpBuilder &builder, Value worker, const QueryBlock &block,
                     const KeyTile &tile);
  void buildGradients(OpBuilder &builder, Value worker, const QueryBlock &block,
                      const KeyTile &tile, bool isPartial);
  void buildByLane(OpBuilder &builder, Value worker, const QueryBlock &block,
                   const KeyTile &tile);
  Value getSeedGradient(OpBuilder &builder, ValueRange arguments, Value seed);
  void addQueries(OpBuilder &builder, Value worker, const QueryBlock &block,
                  const KeyTile &tile, ScoreTiles::SumFn sum);
  void addKeys(OpBuilder &builder, Value worker, const WorkItem &item,
               const QueryBlock &block, const KeyTile &tile,
               const KeyGradient &gradient);
  void addKeptKeys(OpBuilder &builder, Value worker, const WorkItem &chunk,
                   const QueryBlock &block, const KeyTile &tile,
                   KeyGradient &gradient);
  Value hasStrange(OpBuilder &builder, const QueryBlock &block,
                   const KeyTile &tile);

  // Sums.
  void clearQuerySums(OpBuilder &builder, Value worker, const WorkItem &item);
  void addQuerySums(OpBuilder &builder, Value worker, const QueryBlock &block);
  void clearKeySums(OpBuilder &builder, Value worker, const WorkItem &chunk);
  void addParts(OpBuilder &builder, Value worker, const WorkItem &chunk);
  void writeKeySums(OpBuilder &builder, Value worker, const WorkItem &chunk);
  /// Where a sum of a key's gradient is in the workspace.
  SmallVector<Value> getSum(OpBuilder &builder, Value worker,
                            const WorkItem &chunk, const KeyGradient &gradient,
                            SumKind kind, Value key, Value column);
  void forEachSum(OpBuilder &builder, const WorkItem &chunk,
                  function_ref<void(VectorBuilder &, const KeyGradient &,
                                    Value key, Value column, Value mask)>
                      body);

  AttentionGradOp op;
  Location loc;
  TargetAttr target;
  AttentionScores scores;
  AttentionGradWorkspace places;
  AttentionTiling tiling;
  ScoreTiles tiles;
  Value cotangentsAt, resultAt, totalAt, gradientsAt;
  /// How many keys there are sums of.
  Value summedKeys;
  SmallVector<KeyGradient> keyGradients;
  /// Whether a tile's gradients of scores are needed, or weights alone.
  bool usesScores;
  /// Whether dq is summed where it lies, or in the workspace, transposed.
  bool isDqWide;
  /// How many items there would be if each were a head of keys, and whether
  /// each is, an i1.
  Value numHeads, isJoint;
  /// Of the block that is being built, by vectors of queries: what the forward
  /// op has found, 1/sum of it, and Δ.
  SmallVector<Value> maxima, inverses, deltas;
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOVECTOR_ATTENTIONGRAD_H
