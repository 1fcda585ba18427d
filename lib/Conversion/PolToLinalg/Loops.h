//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the expansions of kernels into linalg and loops share, and the patterns
// there are.

#ifndef POL_LIB_CONVERSION_POLTOLINALG_LOOPS_H
#define POL_LIB_CONVERSION_POLTOLINALG_LOOPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include <functional>

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::pol {

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Builds what is done to one row, given its leading indices.
using RowBodyFn = function_ref<void(OpBuilder &, Location, ValueRange)>;

/// Runs the body for every row of a memref, in no order: one `scf.parallel`
/// over all dimensions but the last. An array of rank 1 is its only row: a loop
/// of one trip, as what runs on a GPU is loops.
void buildRowLoop(OpBuilder &builder, Location loc, Value array,
                  RowBodyFn body);

/// A row of a memref of strided layout, as a memref of rank 1 in the same
/// memory space. `length` is that of a row, known or not.
Value getRow(OpBuilder &builder, Location loc, Value array,
             ValueRange leadingIndices, OpFoldResult length);

/// The indices of a row in leading dimensions of these extents, given its
/// number.
SmallVector<Value> getRowIndices(OpBuilder &builder, Location loc, Value row,
                                 ValueRange extents);

/// Builds the body of a loop, given its indices.
using LoopBodyFn = function_ref<void(OpBuilder &, Location, ValueRange)>;

/// Runs the body for all indices from zero to the extents, in no order.
void buildParallelLoop(OpBuilder &builder, Location loc,
                       ArrayRef<OpFoldResult> extents, LoopBodyFn body);

/// Runs the body for every `step`th index from `begin` to `end`, in order.
void buildLoop(OpBuilder &builder, Location loc, Value begin, Value end,
               int64_t step, LoopBodyFn body);

/// The extents of an array's dimensions but the last `numTrailing` ones.
SmallVector<OpFoldResult> getLeadingExtents(OpBuilder &builder, Location loc,
                                            Value array, int64_t numTrailing);

/// The least of two indices, or the greatest.
Value buildMin(OpBuilder &builder, Location loc, Value lhs, Value rhs);
Value buildMax(OpBuilder &builder, Location loc, Value lhs, Value rhs);

/// An element of an array of integers, taken to between two indices.
Value loadWithin(OpBuilder &builder, Location loc, Value array,
                 ValueRange indices, Value least, Value most);

/// Indices from `begin` to `end`, none if that is not greater.
struct IndexRange {
  Value begin;
  Value end;
};

/// Some indices, in order: all of a range, or those of it that `isKept` says,
/// where it is not null.
struct KeptRange {
  IndexRange range;
  std::function<Value(OpBuilder &, Value index)> isKept;
};

/// The indices of a range from `begin` on, at most `size` of them. What is left
/// is taken rather than where they would end, which might not be representable.
IndexRange buildBlock(OpBuilder &builder, Location loc, Value begin, Value end,
                      int64_t size);

/// Runs the body for each index that is kept, in order.
void forEachKept(OpBuilder &builder, Location loc, const KeptRange &kept,
                 function_ref<void(OpBuilder &, Value index)> body);

/// What the body computes, or another value for an index that is not kept.
Value buildWhereKept(OpBuilder &builder, Location loc, const KeptRange &kept,
                     Value index, Value otherwise,
                     function_ref<Value(OpBuilder &)> body);

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Builds the value of one element, given its index.
using ElementFn = function_ref<Value(OpBuilder &, Location, Value)>;

/// A sum, and what its roundings have lost: their own sum (Knuth's two-sum).
/// However many addends there are, it is off by little more than one rounding.
struct Compensated {
  Value sum;
  Value rest;

  static Compensated zero(OpBuilder &builder, Location loc, FloatType type);
  Compensated add(OpBuilder &builder, Location loc, Value addend) const;
  /// Both together; of a sum that is not finite, what is lost has no meaning.
  Value get(OpBuilder &builder, Location loc) const;
};

/// Whether a number is neither infinite nor NaN.
Value buildIsFinite(OpBuilder &builder, Location loc, Value value);

/// Adds the elements 0 to `length`. Each block of `block` elements is summed by
/// itself, from zero, and the blocks are added with compensation, so that the
/// rounding error grows with the block and not with the length. The order
/// depends on these alone.
Value buildBlockedSum(OpBuilder &builder, Location loc, OpFoldResult length,
                      int64_t block, FloatType type, ElementFn element);

/// The same of the elements of a range, added to what there is already.
Compensated addBlockedSum(OpBuilder &builder, Location loc, Compensated sum,
                          IndexRange range, int64_t block, ElementFn element);

/// The largest of the elements of a range and `initial`. NaN if any of them is.
Value buildMaximum(OpBuilder &builder, Location loc, IndexRange range,
                   Value initial, ElementFn element);
/// The same of the elements 0 to `length`.
Value buildMaximum(OpBuilder &builder, Location loc, OpFoldResult length,
                   Value initial, ElementFn element);

/// The largest magnitude of the elements 0 to `length`, 0 if there are none.
Value buildMagnitude(OpBuilder &builder, Location loc, OpFoldResult length,
                     FloatType type, ElementFn element);

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// A constant, rounded to the type.
Value getFloatConstant(OpBuilder &builder, Location loc, FloatType type,
                       double value);

/// Extends or truncates, or does nothing where the type is right already.
/// Floats, or vectors of them.
Value convertFloat(OpBuilder &builder, Location loc, Value value, Type type);

/// Arithmetic in one type, on elements of any.
struct FloatBuilder {
  OpBuilder &builder;
  Location loc;
  FloatType type;

  Value constant(double value) {
    return getFloatConstant(builder, loc, type, value);
  }
  Value add(Value lhs, Value rhs);
  Value subtract(Value lhs, Value rhs);
  Value multiply(Value lhs, Value rhs);
  Value divide(Value lhs, Value rhs);
  Value exp(Value value);
  /// An index, which is not negative.
  Value fromIndex(OpFoldResult index);
  /// The length of rows as a number to divide sums by, 1 at least: the sum of
  /// no elements is 0, and so is their mean.
  Value count(OpFoldResult length);
  /// Elements of arrays, converted from and to their type.
  Value load(Value array, ValueRange indices);
  void store(Value value, Value array, ValueRange indices);
};

/// The indices and one more.
inline SmallVector<Value> append(ValueRange indices, Value last) {
  SmallVector<Value> all(indices);
  all.push_back(last);
  return all;
}

//===----------------------------------------------------------------------===//
// Patterns, by kernel family
//===----------------------------------------------------------------------===//

void populateRmsNormToLinalgPatterns(RewritePatternSet &patterns,
                                     int64_t sumBlock);
void populateLayerNormToLinalgPatterns(RewritePatternSet &patterns,
                                       int64_t sumBlock);
void populateNormGradToLinalgPatterns(RewritePatternSet &patterns,
                                      int64_t sumBlock);
void populateSoftmaxToLinalgPatterns(RewritePatternSet &patterns,
                                     int64_t sumBlock);
void populateAttentionToLinalgPatterns(RewritePatternSet &patterns,
                                       int64_t sumBlock);
void populateAttentionGradToLinalgPatterns(RewritePatternSet &patterns,
                                           int64_t sumBlock);
void populateDecodeAttentionToLinalgPatterns(RewritePatternSet &patterns,
                                             int64_t sumBlock);

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOLINALG_LOOPS_H
