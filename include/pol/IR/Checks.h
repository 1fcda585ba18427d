//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What kernels build their run-time checks with: extents that are taken from
// where they are known, and checks only of what is not known to hold.

#ifndef POL_IR_CHECKS_H
#define POL_IR_CHECKS_H

#include "pol/IR/PolOps.h"

namespace mlir::pol {

/// Whether the predicate holds of two numbers, as compiled code finds out.
bool holds(int64_t got, CheckPredicate predicate, int64_t want);

/// Whether the predicate is known to hold: of constants, or because both are
/// computed alike from the same values.
bool isKnownToHold(OpFoldResult got, CheckPredicate predicate,
                   OpFoldResult want);

/// One extent of a tensor or memref, from where it is known: a cast's source,
/// the extents of a carve, the sizes of a view. Built where it is not.
OpFoldResult getKnownExtent(OpBuilder &builder, Location loc, Value shaped,
                            int64_t dimension);

/// Checks `got` against `want`, with `what` in the message: "expected <what> of
/// kernel '<kernel>' to be 64, but got 63". Nothing is built where it is known
/// to hold.
void buildCheck(OpBuilder &builder, Location loc, OpFoldResult got,
                CheckPredicate predicate, OpFoldResult want, StringRef what,
                StringRef kernel);

/// Checks one extent of the operand that is called `name`.
void buildExtentCheck(OpBuilder &builder, Location loc, Value shaped,
                      int64_t dimension, OpFoldResult want,
                      CheckPredicate predicate, StringRef name,
                      StringRef kernel);

/// Checks that an operand has a shape.
void buildShapeCheck(OpBuilder &builder, Location loc, Value shaped,
                     ArrayRef<OpFoldResult> shape, StringRef name,
                     StringRef kernel);

/// The least difference of neighbours in an array of rank 1 of integers, an
/// index; null where it is not for this code to read.
Value buildLeastStep(OpBuilder &builder, Location loc, Value array);

} // namespace mlir::pol

#endif // POL_IR_CHECKS_H
