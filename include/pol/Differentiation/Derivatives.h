//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The derivatives of upstream's scalar ops.

#ifndef POL_DIFFERENTIATION_DERIVATIVES_H
#define POL_DIFFERENTIATION_DERIVATIVES_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::pol {

/// Implements `DifferentiableOpInterface` for the ops of arith and math.
///
/// Where a derivative is not one number, it is that of one side, or 0:
///
/// - min and max pass everything to their first operand if both are equal;
/// - absf and copysign have derivative 0 at 0;
/// - ceil, floor, round, roundeven and trunc have derivative 0 everywhere;
/// - powf has derivative 0 by its exponent where the base is 0, and NaN where
/// it
///   is negative.
///
/// Everything is computed in the type of the op.
void registerDerivatives(DialectRegistry &registry);

} // namespace mlir::pol

#endif // POL_DIFFERENTIATION_DERIVATIVES_H
