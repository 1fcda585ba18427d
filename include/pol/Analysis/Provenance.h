//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Where buffers come from: for every value, the allocations and arguments whose
// memory it may be.

#ifndef POL_ANALYSIS_PROVENANCE_H
#define POL_ANALYSIS_PROVENANCE_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::pol {

/// A value that memory originates from: the result of an allocation, an
/// argument of a function, the argument of a frame's body (as a space), or the
/// result of a call that returns memory it allocated.
using Origins = llvm::SmallSetVector<Value, 4>;

/// Frames, as their ops.
using Frames = llvm::SmallSetVector<Operation *, 2>;

/// What a function does with what it is given, for its callers.
struct FunctionSummary {
  /// For each result: the arguments it may alias.
  SmallVector<llvm::SmallSetVector<unsigned, 4>> returnedArguments;
  /// For each result: the space arguments it may have been allocated from.
  SmallVector<llvm::SmallSetVector<unsigned, 4>> returnedAllocations;
  /// Pairs (what, where): buffer argument `what` may be stored in the memory of
  /// argument `where`.
  llvm::SmallSetVector<std::pair<unsigned, unsigned>, 2> storedArguments;
  bool operator==(const FunctionSummary &other) const;
};

/// A store of a reference to memory into memory.
struct ReferenceStore {
  Operation *op;
  Value what;
  Value where;
};

/// The analysis, over a whole module: flow-insensitive, through views,
/// destination-style results, control flow and calls.
class Provenance {
public:
  explicit Provenance(ModuleOp module);

  /// The origins of a tensor, memref or space.
  const Origins &get(Value value) const;
  /// The origins of the space that an origin was allocated from; empty if it is
  /// no allocation.
  Origins getSpaces(Value origin) const;
  /// The summary of a function of the module.
  const FunctionSummary *getSummary(func::FuncOp function) const;
  /// Stores of references, those in callees included, in one function.
  ArrayRef<ReferenceStore> getStores(func::FuncOp function) const;

  /// Whether a reference to an origin's memory is stored in memory.
  bool isStored(Value origin) const;
  /// The `pol.frame`s that an origin's memory goes with.
  Frames getFrames(Value origin) const;

private:
  bool visitFunction(func::FuncOp function);
  bool visitOp(Operation *op);
  bool visitCall(CallOpInterface call);
  bool visitGeneric(Operation *op);
  bool join(Value into, Value from);
  bool addOrigin(Value into, Value origin);
  bool addStore(Operation *op, Value what, Value where);
  FunctionSummary summarize(func::FuncOp function) const;

  ModuleOp module;
  DenseMap<Value, Origins> origins;
  /// Of a call's result that is an origin: the spaces it may come from.
  DenseMap<Value, Origins> callSpaces;
  /// References stored in the memory of an origin.
  DenseMap<Value, Origins> contents;
  DenseMap<Operation *, FunctionSummary> summaries;
  DenseMap<Operation *, SmallVector<ReferenceStore>> stores;
};

/// The innermost parallel region's op around `op`, or null.
Operation *getEnclosingParallel(Operation *op);

} // namespace mlir::pol

#endif // POL_ANALYSIS_PROVENANCE_H
