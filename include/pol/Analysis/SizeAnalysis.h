//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which index values of a program, and which extents of its memrefs, follow
// from the shapes that functions are called with, and how.

#ifndef POL_ANALYSIS_SIZEANALYSIS_H
#define POL_ANALYSIS_SIZEANALYSIS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "pol/Analysis/SizeExpr.h"

namespace mlir::pol {

/// What a function's sizes are functions of: an `index` argument, or a dynamic
/// extent of a memref argument.
struct SizeParameter {
  unsigned argument;
  /// -1 of an `index` argument.
  int64_t dimension;
};

/// The parameters of a function, in the order of its arguments.
SmallVector<SizeParameter> getSizeParameters(func::FuncOp function);

/// Why a number is not known before a run.
struct UnknownSize {
  Location location;
  std::string reason;
};

/// The analysis, on functions of structured control flow, on demand. Numbers
/// are expressions in the parameters of the function that the value is in.
class SizeAnalysis {
public:
  SizeAnalysis(ModuleOp module, SizeContext &sizes)
      : module(module), sizes(sizes) {}

  /// An index, an i64 or an i1 (0 or 1); null if it does not follow from
  /// shapes.
  Size get(Value value);
  Size getExtent(Value memref, int64_t dimension);
  /// What a call passes for a parameter of its callee.
  Size getArgument(ValueRange arguments, SizeParameter parameter) {
    return lookup({arguments[parameter.argument], parameter.dimension});
  }
  /// How often a loop runs its body; null if that is not known.
  Size getTrips(LoopLikeOpInterface loop);
  /// An expression of a callee in the parameters of its caller; null if it
  /// takes one that is not known there.
  Size translate(Size expr, func::FuncOp callee, ValueRange arguments);

  /// Of a value for which `get` gave null.
  UnknownSize getReason(Value value);
  SizeContext &getContext() { return sizes; }

private:
  /// A value itself, or an extent of it: dimension -1 or the extent's.
  using Key = std::pair<Value, int64_t>;

  Size lookup(Key key);
  Size compute(Key key);
  Size computeArgument(Key key);
  Size computeOp(Key key, Operation *op);
  Size computeExtent(Key key, Operation *op);
  Size computeAffine(Operation *op);
  Size computeAffine(AffineExpr expr, ArrayRef<Size> dims,
                     ArrayRef<Size> symbols);
  Size computeCall(Key key, func::CallOp call);
  Size computeJoin(Key key, RegionBranchOpInterface branch);
  Size computeMixed(OpFoldResult value);
  Size unknown(Key key, Location loc, const Twine &reason);

  ModuleOp module;
  SizeContext &sizes;
  SymbolTableCollection symbols;
  DenseMap<Key, Size> known;
  /// Of what a loop carries: what it starts with, while its trips are looked
  /// at.
  DenseMap<Key, Size> assumed;
  /// Calls whose results are being computed.
  DenseSet<Operation *> active;
  /// What was computed, to take it back where an assumption fails.
  SmallVector<Key> trail;
  DenseMap<Value, UnknownSize> reasons;
};

} // namespace mlir::pol

#endif // POL_ANALYSIS_SIZEANALYSIS_H
