//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the reference expansions of attention, forward and backward, share:
// which keys a query attends to, and their scores.

#ifndef POL_LIB_CONVERSION_POLTOLINALG_ATTENTIONSCORES_H
#define POL_LIB_CONVERSION_POLTOLINALG_ATTENTIONSCORES_H

#include "Loops.h"
#include "TileSums.h"
#include "mlir/IR/IRMapping.h"
#include "pol/Analysis/MaskAnalysis.h"
#include "pol/IR/PolOps.h"

namespace mlir::pol {

/// The operands, attributes and regions that the forward and the backward op
/// share. Short forms are part of the regions already.
struct AttentionInputs {
  Location loc;
  Value q, k, v, inputPos;
  /// Where packed sequences begin; null where there are none.
  Value queryOffsets, keyOffsets;
  ValueRange captures;
  FloatAttr scale;
  Region *score, *mask;
  /// Lists of tiles (see `kMaskTile`): of keys for queries, and the other way
  /// round; each null if it is not given.
  Value tiles, keyTiles;

  template <typename OpTy>
  explicit AttentionInputs(OpTy op)
      : loc(op.getLoc()), q(op.getQ()), k(op.getK()), v(op.getV()),
        inputPos(op.getInputPos()), captures(op.getCaptures()),
        scale(op.getScaleAttr()), score(&op.getScore()), mask(&op.getMask()),
        tiles(op.getTiles()) {
    if constexpr (std::is_same_v<OpTy, AttentionGradOp>)
      keyTiles = op.getKeyTiles();
    if (op.getPacked()) {
      queryOffsets = op.getQLengths();
      keyOffsets = op.getKLengths();
    }
  }
};

/// What attends to itself: a batch, or one of the sequences packed in the only
/// batch.
struct Sequence {
  /// As regions number them.
  Value batch;
  /// Of the arrays.
  Value arrayBatch;
  /// Where queries and keys begin in the arrays; null for 0.
  Value firstRow, firstKey;
  Value numQueries, numKeys;
};

/// One query of one head, and the head of keys and values that it reads. Keys
/// are counted from the first one of its sequence.
struct Query {
  Sequence sequence;
  Value head;
  /// In the arrays, and as regions see it.
  Value row;
  Value position;
  Value keyHead;
  /// The keys it keeps, where masks keep an interval and that has been found.
  std::optional<IndexRange> keys = std::nullopt;

  /// Where it is in arrays of queries.
  SmallVector<Value> getPlace() const {
    return {sequence.arrayBatch, head, row};
  }
};

/// A score, and what its region has computed for it.
struct Score {
  Value value;
  IRMapping evaluated;
};

/// How many query heads each head of keys has, 1 at least.
Value buildGroupSize(OpBuilder &builder, Location loc, Value heads,
                     Value keyHeads);
/// The scale of scores: 1/√D, 1 where D is 0, unless it is given.
Value buildScale(OpBuilder &builder, Location loc, FloatType type,
                 FloatAttr scale, Value depth);

class AttentionScores {
public:
  /// Builds what all queries share.
  AttentionScores(OpBuilder &builder, AttentionInputs inputs, int64_t sumBlock);

  FloatType getType() const { return type; }
  Location getLoc() const { return inputs.loc; }
  const AttentionInputs &getInputs() const { return inputs; }

  /// Fills the lists of tiles that there are.
  void buildTileLists(OpBuilder &builder);
  /// Builds a parallel loop over the queries of all heads.
  void forEachQuery(OpBuilder &builder,
                    function_ref<void(OpBuilder &, const Query &)> body);
  /// Builds a parallel loop over the keys of all heads of keys.
  void forEachKey(OpBuilder &builder,
                  function_ref<void(OpBuilder &, const Sequence &,
                                    Value keyHead, Value key)>
                      body);
  /// A batch, or a packed sequence, as regions number them.
  Sequence getSequence(OpBuilder &builder, Value batch);
  /// How many there are.
  Value getNumSequences(OpBuilder &builder);
  /// A query by its number in its sequence.
  Query getQuery(OpBuilder &builder, const Sequence &sequence, Value head,
                 Value number);
  /// Finds the keys that a query keeps, for all that is built after this to
  /// use.
  void findKeys(OpBuilder &builder, Query &query);
  /// Where a key is in the arrays.
  SmallVector<Value> getKeyPlace(OpBuilder &builder, const Query &query,
                                 Value key);

  /// Builds a body for the keys that a query keeps: for one range, where masks
  /// keep an interval, or else for each tile that has any. `running` is what
  /// the bodies give one another.
  using RangeBodyFn = function_ref<SmallVector<Value>(
      OpBuilder &, const KeptRange &, ValueRange running)>;
  SmallVector<Value> overKeys(OpBuilder &builder, const Query &query,
                              ValueRange initial, RangeBodyFn body);
  /// The same for the queries of one head that keep a key, by their numbers.
  SmallVector<Value> overQueries(OpBuilder &builder, const Sequence &sequence,
                                 Value head, Value key, ValueRange initial,
                                 RangeBodyFn body);
  /// Whether a query keeps a key.
  Value isKept(OpBuilder &builder, const Query &query, Value key);

  Score getScore(OpBuilder &builder, const Query &query, Value key);
  /// What stands for the arguments of the score region.
  SmallVector<Value> getScoreArguments(const Query &query, Value key,
                                       Value product);

  const MaskAnalysis &getMaskAnalysis() const { return mask; }
  /// What the mask says of boxes of queries, by position, and keys.
  MaskEmitter getMask(Value batch, Value head) {
    return MaskEmitter(mask, inputs.loc, batch, head, maskCaptures);
  }
  Value isClass(OpBuilder &builder, Value tileClass, TileClass wanted);
  /// The positions of queries, by their numbers in their sequence.
  IndexBounds getPositions(OpBuilder &builder, IndexBounds rows);
  /// What stands for the captures in a region.
  ValueRange getMaskCaptures() const { return maskCaptures; }
  ValueRange getScoreCaptures() const { return scoreCaptures; }

  /// Extents.
  Value batches, heads, queries, depth;
  Value keyHeads, keys, valueDepth;
  /// Query heads for each head of keys.
  Value groupSize;
  /// The scale of the scores.
  Value scale;

private:
  Value constant(OpBuilder &builder, int64_t value);
  Value add(OpBuilder &builder, Value offset, Value index);
  Sequence findSequence(OpBuilder &builder, Value offsets, Value row);
  SmallVector<Value> getCaptures(OpBuilder &builder, Region &region);
  using ClassFn = function_ref<Value(OpBuilder &, IndexBounds tile)>;
  using IsKeptFn = std::function<Value(OpBuilder &, Value index)>;
  SmallVector<Value> overTiles(OpBuilder &builder, IndexRange range,
                               ValueRange initial, ClassFn getClass,
                               IsKeptFn isKept, RangeBodyFn body);
  SmallVector<Value> overList(OpBuilder &builder, Value list, ValueRange at,
                              Value length, ValueRange initial, IsKeptFn isKept,
                              RangeBodyFn body);
  SmallVector<Value> visitTile(OpBuilder &builder, IndexRange tile,
                               Value isFull, ValueRange running,
                               IsKeptFn isKept, RangeBodyFn body);
  void buildTileList(OpBuilder &builder, Value list, ValueRange at,
                     Value length, ClassFn getClass);
  IndexBounds getSelf(OpBuilder &builder, Value position);
  IndexRange getKeys(OpBuilder &builder, const Query &query);
  IndexBounds getTile(OpBuilder &builder, Value number, Value length);
  IndexBounds getRows(OpBuilder &builder, IndexBounds positions);

  AttentionInputs inputs;
  int64_t sumBlock;
  FloatType type;
  MaskAnalysis mask;
  /// What is added to a row to get the position of a query; null for nothing.
  Value shift;
  /// As the regions see them.
  SmallVector<Value> maskCaptures, scoreCaptures;
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOLINALG_ATTENTIONSCORES_H
