//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Named variants of attention: which keys a query keeps, and what is made of a
// score. Each is a function that builds scalar ops; they are put together here,
// and written into the regions of an op (docs/Variants.md).
//
// A function that finds a capture which does not fit emits an error and returns
// a null value.

#ifndef POL_IR_ATTENTIONVARIANTS_H
#define POL_IR_ATTENTIONVARIANTS_H

#include "mlir/IR/Builders.h"

#include <functional>

namespace mlir::pol {

/// Where a score or mask is evaluated. Query and key are absolute positions.
struct AttentionPosition {
  Value batch, head, query, key;
  ValueRange captures;
};

/// Builds whether a key is kept, an i1.
using MaskFn =
    std::function<Value(OpBuilder &, Location, const AttentionPosition &)>;
/// Builds the score that takes the place of the given one, of its type.
using ScoreFn = std::function<Value(OpBuilder &, Location, Value,
                                    const AttentionPosition &)>;

/// A capture, by its number. Where several ranks are allowed, an array of fewer
/// dimensions has the last ones: it is the same for all batches and heads.
struct CaptureRef {
  unsigned number;
};

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// All keys.
MaskFn getFullMask();
/// key ≤ query.
MaskFn getCausalMask();
/// query − window ≤ key ≤ query.
MaskFn getWindowMask(int64_t window);
/// key < length.
MaskFn getPrefixMask(int64_t length);
/// key < length[batch], of integers; or one number for all.
MaskFn getPrefixMask(CaptureRef length);
/// The prefix, and beyond it what is causal.
MaskFn getPrefixLMMask(int64_t length);
MaskFn getPrefixLMMask(CaptureRef length);
/// Keys whose id is that of the query: integers [B, N] or [N], at the positions
/// of queries and of keys. Both may be one capture.
MaskFn getDocumentMask(CaptureRef queryIds, CaptureRef keyIds);

/// Keys that both keep, that one of them keeps, or that it does not keep.
MaskFn getAndMask(MaskFn a, MaskFn b);
MaskFn getOrMask(MaskFn a, MaskFn b);
MaskFn getNotMask(MaskFn mask);

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// The score as it is.
ScoreFn getPlainScore();
/// cap · tanh(score / cap). `cap` is above 0.
ScoreFn getSoftcapScore(double cap);
/// score + slope[head] · (key − query): with a slope above 0, the farther back
/// a key is, the less it counts. Implementations that subtract slope · (query −
/// key) do the same; those that add slope · (query − key) want the slope
/// negated. Keys after the query gain: use it with a causal mask.
ScoreFn getALiBiScore(CaptureRef slopes);
/// score + bias[batch, head, query, key], or of the last three or two of these.
ScoreFn getBiasScore(CaptureRef bias);
/// score + table[head, clamp(key − query + reach, 0, 2 · reach)], or of the
/// last index alone.
ScoreFn getRelativeScore(CaptureRef table, int64_t reach);
/// score − gamma · |x[query] − y[key]|²: x and y are points [B, N, D] or [N,
/// D], and may be one capture. D is static, and all its terms are written out.
/// gamma is a number or has one for each head, [H].
ScoreFn getRBFScore(CaptureRef queryPoints, CaptureRef keyPoints,
                    CaptureRef gamma);
/// One after the other: second(first(score)).
ScoreFn getComposedScore(ScoreFn first, ScoreFn second);

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Gives an empty region the block of a mask: batch, head, query, key,
/// captures. Its dialects, arith, math, tensor and memref, must be loaded.
LogicalResult buildMaskRegion(Region &region, Location loc, TypeRange captures,
                              const MaskFn &mask);
/// The same of a score: the score, which is a float, batch, head, query, key,
/// captures.
LogicalResult buildScoreRegion(Region &region, Location loc, Type scoreType,
                               TypeRange captures, const ScoreFn &score);

} // namespace mlir::pol

#endif // POL_IR_ATTENTIONVARIANTS_H
