//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the expansions of pol.decode_attention share.

#ifndef POL_LIB_CONVERSION_POLTOLINALG_DECODING_H
#define POL_LIB_CONVERSION_POLTOLINALG_DECODING_H

#include "Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pol/IR/PolOps.h"

namespace mlir::pol {

/// What is common to all of a kernel: its extents, and where things lie.
class Decoding {
public:
  Decoding(OpBuilder &builder, DecodeAttentionOp op, int64_t sumBlock);

  /// The number of keys of a sequence.
  Value getLength(OpBuilder &builder, Value batch);
  /// Builds loops over the queries of all heads that read a head of keys:
  /// batch, head and position.
  void forEachQuery(OpBuilder &builder, Value batch, Value keyHead,
                    function_ref<void(OpBuilder &, ValueRange query)> body);
  /// The keys that a query keeps, of so many.
  IndexRange getKeys(OpBuilder &builder, Value length, Value position);
  /// The keys of one split: an equal part of those that any query keeps.
  IndexRange getSplit(OpBuilder &builder, Value length, Value split);
  /// The score of a query (batch, head, position) and a row of keys.
  Value getScore(OpBuilder &builder, ValueRange query, ValueRange keyRow);

  Value constant(OpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  DecodeAttentionOp op;
  int64_t sumBlock;
  Location loc;
  FloatType type;
  Value batches, heads, queries, depth, keyHeads, valueDepth, splits;
  /// Query heads for each head of keys.
  Value groupSize;
  /// Keys that a sequence has room for.
  Value capacity;
  /// Of a paged cache: how many pages there are, and how many keys in each.
  Value pages, pageSize;

  Value getScale() const { return scale; }

private:
  Value scale;
};

/// The rows of keys and values of one block of keys. Those of a paged cache are
/// looked up once, and kept on the stack.
class BlockRows {
public:
  /// Builds what is on the stack, outside of sequential loops, for blocks of at
  /// most so many keys.
  BlockRows(OpBuilder &builder, Decoding &decoding, int64_t blockKeys);

  /// Builds a body for the blocks of a range of keys, in order.
  void forEachBlock(OpBuilder &builder, Value batch, Value keyHead,
                    IndexRange keys,
                    function_ref<void(OpBuilder &, IndexRange block)> body);
  /// The indices of a key's row, but for the column.
  SmallVector<Value> get(OpBuilder &builder, Value key);
  /// Where a key is in its block.
  Value getPlace(OpBuilder &builder, Value key);

private:
  void build(OpBuilder &builder, IndexRange block);

  Decoding &decoding;
  Location loc;
  int64_t blockKeys;
  Value pages, rows;
  Value batch, keyHead;
  Value first;
};

/// Builds a parallel loop over the splits of all sequences and heads of keys.
void forEachSplit(
    OpBuilder &builder, Decoding &decoding,
    function_ref<void(OpBuilder &, Value batch, Value keyHead, Value split)>
        body);
/// Merges the splits of all queries.
void mergeSplits(OpBuilder &builder, Decoding &decoding);

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOLINALG_DECODING_H
