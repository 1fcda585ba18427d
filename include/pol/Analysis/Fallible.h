//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What can fail at run time.

#ifndef POL_ANALYSIS_FALLIBLE_H
#define POL_ANALYSIS_FALLIBLE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::pol {

/// The status of an op that can fail, a carve, a retract or a check; null for
/// all others.
Value getStatus(Operation *op);

/// The functions of a module in which a carve, retract or check can fail whose
/// status the program does not look at itself, and those that call one.
class FallibleFunctions {
public:
  explicit FallibleFunctions(ModuleOp module);

  bool contains(Operation *function) const {
    return functions.contains(function);
  }
  /// Whether an op can fail without the program looking at it: a carve, a
  /// retract, a check or a call of one of the functions.
  bool mayFail(Operation *op);

private:
  SymbolTableCollection symbols;
  DenseSet<Operation *> functions;
};

/// A worker cannot fail on its own, and nothing looks at its status: an error
/// for what may fail in a parallel region.
LogicalResult verifyParallelRegions(ModuleOp module);

} // namespace mlir::pol

#endif // POL_ANALYSIS_FALLIBLE_H
