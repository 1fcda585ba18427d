//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which values of a region of scalar ops a gradient passes through.

#ifndef POL_IR_REGIONACTIVITY_H
#define POL_IR_REGIONACTIVITY_H

#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::pol {

/// Which argument of its block an op loads from: one that is a `tensor.extract`
/// or `memref.load`. None for all other ops.
std::optional<unsigned> getLoadedArgument(Operation *op);

/// The values of a region of one block that depend on some of its arguments,
/// and on which what it yields depends, by way of floats alone: a derivative
/// ends where a float becomes an integer.
class RegionActivity {
public:
  /// arguments: numbers of the block's arguments, floats or arrays of them.
  RegionActivity(Region &region, ArrayRef<unsigned> arguments);

  bool isActive(Value value) const { return active.contains(value); }
  bool isActive(Operation *op) const;

private:
  DenseSet<Value> active;
};

/// The first op of a region that has no derivative, and would need one for the
/// gradients of argument 0 (`wantsInput`) and of others; null if there is none.
/// Of use to verifiers: "expected ops with derivatives on the way from ..., but
/// got 'math.foo'".
Operation *findUndifferentiable(Region &region, bool wantsInput,
                                ArrayRef<unsigned> arguments);

} // namespace mlir::pol

#endif // POL_IR_REGIONACTIVITY_H
