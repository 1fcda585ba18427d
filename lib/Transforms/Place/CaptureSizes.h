//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Whether a size follows from shapes, or from what memory holds.

#ifndef POL_LIB_TRANSFORMS_PLACE_CAPTURESIZES_H
#define POL_LIB_TRANSFORMS_PLACE_CAPTURESIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::pol {

/// What a scalar, or the shape of a tensor or memref, is computed from.
struct SizeSources {
  /// An op whose result is not a function of shapes; null if there is none.
  Operation *data = nullptr;
  /// Arguments of the function.
  llvm::SmallSetVector<unsigned, 4> arguments;
};

/// Follows sizes backwards through arithmetic, control flow and calls within a
/// module. Arguments of the function are where it ends.
class CaptureSizes {
public:
  explicit CaptureSizes(SymbolTableCollection &symbols) : symbols(symbols) {}
  SizeSources getSources(ValueRange sizes);

private:
  class Slice;
  SizeSources getReturned(func::FuncOp function, unsigned result);

  SymbolTableCollection &symbols;
  /// Of results of functions; one that is being computed is empty, so that
  /// recursion ends.
  DenseMap<std::pair<Operation *, unsigned>, SizeSources> returned;
};

} // namespace mlir::pol

#endif // POL_LIB_TRANSFORMS_PLACE_CAPTURESIZES_H
