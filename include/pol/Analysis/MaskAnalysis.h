//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a mask, the region of an attention, says of many positions at once:
// which boxes of queries and keys it empties, keeps in part or keeps in full.

#ifndef POL_ANALYSIS_MASKANALYSIS_H
#define POL_ANALYSIS_MASKANALYSIS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <memory>

namespace mlir::pol {
namespace mask {
class Formula;
} // namespace mask

/// Positions, half open: `begin` to before `end`; none where end <= begin.
struct IndexBounds {
  Value begin, end;
};

/// How much of a box of queries and keys a mask keeps.
enum class TileClass : int32_t { Empty = 0, Partial = 1, Full = 2 };

/// What can be told of a mask before anything is known of a box. A mask is a
/// block of arguments (batch, head, query, key: index; captures...) whose
/// terminator yields one i1 and whose other ops have no side effects; it must
/// stay as it is while the analysis, or an emitter made of it, is in use.
///
/// Queries q with |q| <= 2^61, keys 0 <= k < 2^40, and batches and heads of at
/// most 2^32 are assumed, and that a load of a capture is within it at every
/// position of a box that has any. All else may be any number: arithmetic
/// wraps, and what is said holds all the same.
class MaskAnalysis {
public:
  /// Null: everything is kept.
  explicit MaskAnalysis(Block *mask);

  /// Everything is kept: by no mask, or one that is true of all positions.
  bool isFull() const;

  /// Whether each query keeps one interval of keys, of bounds that are linear
  /// in the query: one conjunction of difference bounds that are known to be
  /// small and of conditions that depend on neither query nor key. getKeys is
  /// exact then, and so is getQueries.
  bool isInterval() const;

  /// Whether the mask is not the same for all batches, or for all heads.
  bool usesBatch() const;
  bool usesHead() const;

  Block *getBlock() const { return block; }

private:
  friend class MaskEmitter;

  Block *block;
  std::shared_ptr<const mask::Formula> formula;
};

/// Emits what a mask says of boxes, for one batch, one head and captures. With
/// bounds and captures that are constants, the answers are constants.
class MaskEmitter {
public:
  MaskEmitter(const MaskAnalysis &analysis, Location loc, Value batch,
              Value head, ValueRange captures);

  /// A superset of the keys among `keys` that any of `queries` keeps, within
  /// `keys`; exact, for any queries, where the analysis says isInterval. Empty
  /// where there are none: end == begin.
  IndexBounds getKeys(OpBuilder &builder, IndexBounds queries,
                      IndexBounds keys);

  /// The other way round: the queries among `queries` that keep any of `keys`.
  IndexBounds getQueries(OpBuilder &builder, IndexBounds queries,
                         IndexBounds keys);

  /// The TileClass of a box, an i32; Empty of a box of no positions. Empty and
  /// Full are certain. It is exact for and, or, not, xor and select of
  /// comparisons of q, k or q - k with what depends on neither.
  Value getClass(OpBuilder &builder, IndexBounds queries, IndexBounds keys);

  /// The mask itself at a position: an i1.
  Value isKept(OpBuilder &builder, Value query, Value key);

private:
  IndexBounds getBounds(OpBuilder &builder, IndexBounds queries,
                        IndexBounds keys, bool ofKeys);

  Block *block;
  std::shared_ptr<const mask::Formula> formula;
  Location loc;
  Value batch, head;
  SmallVector<Value> captures;
};

} // namespace mlir::pol

#endif // POL_ANALYSIS_MASKANALYSIS_H
