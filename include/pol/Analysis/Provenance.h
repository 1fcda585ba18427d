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

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "pol/IR/PolOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::pol {

/// A value that memory originates from: the result of an allocation, an
/// argument of a function, the argument of a frame's body (as a space), the
/// result of a call that returns memory it allocated, or of a load of a
/// reference from memory that somebody else filled.
using Origins = llvm::SmallSetVector<Value, 4>;

/// Frames, as their ops.
using Frames = llvm::SmallSetVector<Operation *, 2>;

/// What memory that a function passes on may be: an argument, an allocation
/// from a space argument, or what an argument's memory holds a reference to.
enum class SourceKind { Argument, Allocation, Contents };
using Source = std::pair<SourceKind, unsigned>;
using Sources = llvm::SmallSetVector<Source, 4>;

/// What a function does with what it is given, for its callers.
struct FunctionSummary {
  /// What each result may be, or hold a reference to.
  SmallVector<Sources> returned;
  /// Pairs (what, where): references to `what` that are stored in the memory of
  /// argument `where`.
  llvm::SmallSetVector<std::pair<Source, unsigned>, 2> stored;
  bool operator==(const FunctionSummary &other) const;
};

/// A store of a reference to memory into memory. Where a call stores what it
/// allocates, `what` is the space.
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
  /// Those, and the origins of all that can be reached from them through
  /// references stored in memory.
  Origins getReachable(Value value) const;
  /// The origins of the space that an origin was allocated from; empty if it is
  /// no allocation.
  Origins getSpaces(Value origin) const;
  /// The spaces that `space` shares memory with: itself, what its frames are
  /// opened on, and arguments that some call passes the same for.
  Origins getSpacesBelow(Value space) const;
  /// Stores of references, those in callees included, in one function.
  ArrayRef<ReferenceStore> getStores(func::FuncOp function) const;

  /// The `pol.frame`s that an origin's memory goes with.
  Frames getFrames(Value origin) const;
  /// The frames around `op` that are open on the memory of one of `spaces`:
  /// what a callee allocates from it lies above their marks.
  Frames getOpenFrames(Operation *op, const Origins &spaces) const;
  /// The op in `alloc`'s block at which its buffer is used last; null if it may
  /// be in use outside of the block or on another trip through it.
  Operation *getLastUseInBlock(AllocOp alloc) const;

private:
  bool visitFunction(func::FuncOp function);
  bool visitOp(Operation *op);
  bool visitControlFlow(Operation *op);
  bool visitCall(CallOpInterface call);
  bool visitUnknownCall(CallOpInterface call);
  bool visitLoad(Value result, Value container);
  bool visitStore(Operation *op, Value container);
  bool visitGeneric(Operation *op);
  bool join(Value into, Value from);
  bool addOrigin(Value into, Value origin);
  bool addContents(Value into, Value container);
  bool addStore(Operation *op, Value what, Value where);
  bool shareSpaces(func::FuncOp function, ValueRange arguments);
  Sources getSources(func::FuncOp function, Value origin) const;
  FunctionSummary summarize(func::FuncOp function) const;

  ModuleOp module;
  SymbolTableCollection symbols;
  DenseMap<Value, Origins> origins;
  /// Of a call's result that is an origin: the spaces it may come from.
  DenseMap<Value, Origins> callSpaces;
  /// References stored in the memory of an origin.
  DenseMap<Value, Origins> contents;
  /// Of an origin that was loaded from memory that somebody else filled: the
  /// origins of that memory.
  DenseMap<Value, Origins> containers;
  DenseMap<Operation *, FunctionSummary> summaries;
  DenseMap<Operation *, SmallVector<ReferenceStore>> stores;
  /// Pairs of space arguments that some call passes shared memory for.
  DenseMap<Operation *, llvm::SmallSetVector<std::pair<unsigned, unsigned>, 2>>
      sharing;
};

/// The innermost parallel region's op around `op`, or null.
Operation *getEnclosingParallel(Operation *op);

/// Whether a user of memory may keep a reference to it where nothing follows.
bool mayKeepReference(Operation *user);

/// Whether `op`, a descendant of `ancestor`, may run more than once while
/// `ancestor` runs once.
bool mayRepeatWithin(Operation *op, Operation *ancestor);

} // namespace mlir::pol

#endif // POL_ANALYSIS_PROVENANCE_H
