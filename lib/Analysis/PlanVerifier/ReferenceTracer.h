//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Where references to a piece of memory go: along the uses of the values that
// are references to it, one after the other.

#ifndef POL_LIB_ANALYSIS_PLANVERIFIER_REFERENCETRACER_H
#define POL_LIB_ANALYSIS_PLANVERIFIER_REFERENCETRACER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::pol {

/// What a value may be to a piece of memory: a reference to it, or to memory
/// that holds one, directly or not. Combined by |.
enum ReferenceKind : unsigned { Direct = 1, Holding = 2 };

/// What becomes of references to a piece of memory in one function.
struct ReferenceTrace {
  llvm::MapVector<Value, unsigned> values;
  /// Ops that may read or write the memory, calls included.
  llvm::SmallSetVector<Operation *, 8> accesses;
  /// For each result of the function, what it is.
  SmallVector<unsigned> returned;
  /// Arguments of the function whose memory is given one.
  llvm::SmallSetVector<unsigned, 2> storedIn;
  /// Whether one was stored in memory, and whether it is somewhere where
  /// nothing follows.
  bool isStored = false, isLost = false;

  bool isReturned() const {
    return llvm::any_of(returned, [](unsigned kind) { return kind != 0; });
  }
};

/// Where a reference may come from: a value, and what it is.
using ReferenceStart = std::pair<Value, unsigned>;

class ReferenceTracer {
public:
  explicit ReferenceTracer(ModuleOp module);

  /// Of the memory of an allocation, or of what a call allocates from the space
  /// argument of that number.
  ReferenceTrace traceAllocation(Operation *op, unsigned argument);

  /// The argument of its function that a space is, or that its frame is on.
  static std::optional<unsigned> getSpaceArgument(Value space);

private:
  /// What a function does with one reference that it is given, or with memory
  /// that it allocates.
  struct Flow {
    SmallVector<unsigned> returned;
    SmallVector<unsigned> storedIn;
    bool isLost = false;
    bool operator==(const Flow &other) const;
  };
  /// For each argument: of a memref, what becomes of it and of what its memory
  /// holds; of a space, of what is allocated from it.
  struct Summary {
    SmallVector<Flow> memory, contents;
    bool operator==(const Summary &other) const;
  };
  class Walk;

  void collectForwards(Operation *op);
  void summarize();
  Summary summarize(func::FuncOp function);
  Flow getFlow(const ReferenceTrace &trace) const;
  ReferenceTrace traceSpace(func::FuncOp function, unsigned argument);
  func::FuncOp getCallee(CallOpInterface call);
  const llvm::SmallSetVector<Value, 2> &getContainers(Value value);

  ModuleOp module;
  SymbolTableCollection symbols;
  /// Values that an operand of a branch becomes.
  DenseMap<OpOperand *, SmallVector<Value, 2>> forwards;
  DenseMap<Operation *, Summary> summaries;
  /// Of values whose memory holds references, by function: the allocations,
  /// arguments and so on that they may be.
  DenseMap<Operation *, DenseMap<Value, llvm::SmallSetVector<Value, 2>>>
      containers;
};

} // namespace mlir::pol

#endif // POL_LIB_ANALYSIS_PLANVERIFIER_REFERENCETRACER_H
