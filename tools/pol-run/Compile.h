//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// From a module of MLIR to machine code in memory.

#ifndef POL_TOOLS_POL_RUN_COMPILE_H
#define POL_TOOLS_POL_RUN_COMPILE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "pol/Analysis/PlanDescription.h"
#include "llvm/Support/Error.h"

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace pol_run {

struct CompileOptions {
  unsigned optLevel = 3;
  bool strict = false;
  bool openmp = false;
  bool checks = true;
  int64_t maxStackBytes = 64 * 1024;
  std::string placement = "plan";
  /// Expands kernels by the reference, and not for the CPU.
  bool isReference = false;
  std::string cpu = "host";
  int64_t maxWorkers = 0;
  /// Places everything, and makes no code.
  bool planOnly = false;
};

/// A buffer that lies on the stack, which no allocator sees.
struct StackBuffer {
  std::string name, kernel;
  std::string function;
  int64_t bytes;
};

/// A step of compiling, and how long it took.
struct CompilePhase {
  const char *name;
  double seconds;
};

/// An entry point of a compiled module.
class CompiledEntry {
public:
  /// Compiles `module`, which it changes, and finds the entry point: the
  /// function of that name, or the only public one. Diagnostics go to the
  /// context's handler; what is wrong with the request itself is the error.
  static llvm::Expected<CompiledEntry> compile(mlir::ModuleOp module,
                                               llvm::StringRef name,
                                               const CompileOptions &options);
  CompiledEntry(CompiledEntry &&);
  ~CompiledEntry();

  llvm::StringRef getName() const { return name; }
  /// Arguments and results as they are once frames are lowered: memrefs,
  /// spaces, scalars.
  mlir::FunctionType getType() const { return type; }
  llvm::ArrayRef<StackBuffer> getStackBuffers() const { return stack; }
  /// Where everything goes that it allocates; null where that is not planned.
  const mlir::pol::PlanDescription *getPlan() const;

  /// What was done to compile it, in order.
  llvm::ArrayRef<CompilePhase> getPhases() const { return phases; }

  /// Calls `pol_entry_<name>` with pointers to its arguments, the status last.
  void call(llvm::MutableArrayRef<void *> packed) const {
    function(packed.data());
  }

private:
  CompiledEntry();

  std::string name;
  mlir::FunctionType type;
  std::vector<StackBuffer> stack;
  std::vector<CompilePhase> phases;
  mlir::pol::ModulePlan plan;
  std::unique_ptr<mlir::ExecutionEngine> engine;
  void (*function)(void **) = nullptr;
};

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_COMPILE_H
