//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Reverse-mode differentiation of regions of scalar ops: one block whose
// argument 0 is a number, and whose further arguments are indices, and arrays
// and numbers that it captures. It reads arrays by `tensor.extract` or
// `memref.load`, and its terminator yields a number.
//
// What has no influence on the result has no influence on the gradient: where
// the cotangent of an op's result is exactly 0, so are those of its operands,
// be the derivative infinite or NaN. So nothing leaks out of a branch that a
// select does not take, as in select(s > 0, log(s), s). In turn a cotangent of
// 0 hides a derivative of NaN that the formula would show.

#ifndef POL_DIFFERENTIATION_REVERSEMODE_H
#define POL_DIFFERENTIATION_REVERSEMODE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::pol {

/// One evaluation of a region and its derivatives, times the seed.
struct RegionGradient {
  /// A use of a captured array or number, and its cotangent there.
  struct Load {
    /// The load in the region; null for a number.
    Operation *op;
    /// Which argument of the block.
    unsigned capture;
    /// The indices at this place; none for a number.
    SmallVector<Value> indices;
    /// Of the capture's element type, or of the wider one to which the region
    /// extends what it loads, so that nothing is rounded before it is summed.
    Value cotangent;
  };

  /// What the region yields.
  Value value;
  /// The cotangent of argument 0; null where it is 0 everywhere.
  Value input;
  /// In the order of the region, those of numbers last. A load whose cotangent
  /// is 0 everywhere is not among them.
  SmallVector<Load> loads;
};

/// Clones the ops of a region with these arguments in the place of its own, and
/// returns what it yields. The mapping is then that of all its values.
Value buildRegion(OpBuilder &builder, Region &region, ValueRange arguments,
                  IRMapping &mapping);

/// Builds the derivatives of a region that `buildRegion` has cloned.
///
/// seed: the cotangent of what it yields, of that type or a wider one.
/// captures: the arguments of the block, from 1 on, whose cotangents are
/// wanted.
///
/// Every op between these and the yield must have a derivative
/// (`findUndifferentiable`): the others are taken for constants.
RegionGradient buildRegionGradient(OpBuilder &builder, Region &region,
                                   const IRMapping &mapping, Value seed,
                                   bool wantsInput,
                                   ArrayRef<unsigned> captures);

/// Both, for a seed that does not depend on what the region yields.
RegionGradient buildRegionGradient(OpBuilder &builder, Region &region,
                                   ValueRange arguments, Value seed,
                                   bool wantsInput,
                                   ArrayRef<unsigned> captures);

} // namespace mlir::pol

#endif // POL_DIFFERENTIATION_REVERSEMODE_H
