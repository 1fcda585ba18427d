//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Scalar ops that have a derivative.

#ifndef POL_IR_DIFFERENTIABLEOPINTERFACE_H
#define POL_IR_DIFFERENTIABLEOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::pol {

/// One evaluation of an op that is differentiated.
struct OpEvaluation {
  /// What the op was given and gave.
  ValueRange operands, results;
  /// The cotangent of each result; null where nothing depends on it. One is
  /// there at least.
  ValueRange cotangents;
  /// Whether the cotangent of each operand is of use.
  ArrayRef<bool> wanted;
};

} // namespace mlir::pol

#include "pol/IR/DifferentiableOpInterface.h.inc"

#endif // POL_IR_DIFFERENTIABLEOPINTERFACE_H
