//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StackBudget.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pol;

/// The bytes of a frame whose buffers are all static and in default memory, and
/// which nothing but allocations and other frames uses.
static std::optional<int64_t> getStaticFrameBytes(FrameOp frame) {
  if (cast<SpaceTypeInterface>(frame.getSpace().getType()).getMemorySpace())
    return std::nullopt;
  int64_t total = 0;
  for (Operation *user : frame.getFrame().getUsers()) {
    if (isa<FrameOp>(user))
      continue;
    auto alloc = dyn_cast<AllocOp>(user);
    auto type = alloc ? dyn_cast<MemRefType>(alloc.getType()) : MemRefType();
    if (!type)
      return std::nullopt;
    FailureOr<std::optional<int64_t>> bytes = getStaticBytes(type);
    if (failed(bytes) || !*bytes || **bytes > INT32_MAX)
      return std::nullopt;
    total += llvm::alignTo(**bytes, StackBudget::alignment);
  }
  return total;
}

StackBudget::StackBudget(ModuleOp module, int64_t maxBytes)
    : maxBytes(maxBytes) {
  // A function that is called through a pointer may be called from anywhere.
  module.walk([&](func::ConstantOp constant) {
    if (auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(
            constant, constant.getValueAttr()))
      barred.insert(function);
  });
  // First find recursion, which bars every function on a cycle; what bars one
  // while visiting would come too late for those visited before it.
  module.walk([&](func::FuncOp function) {
    SmallVector<func::FuncOp> worklist{function};
    DenseSet<Operation *> reached;
    while (!worklist.empty()) {
      func::FuncOp caller = worklist.pop_back_val();
      caller.walk([&](func::CallOp call) {
        auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
            call, call.getCalleeAttr());
        if (callee && reached.insert(callee).second)
          worklist.push_back(callee);
      });
    }
    if (reached.contains(function))
      barred.insert(function);
  });
  module.walk([&](func::FuncOp function) { visit(function); });
}

void StackBudget::visit(func::FuncOp function) {
  if (bytes.contains(function) || !visiting.insert(function).second)
    return;
  int64_t used = 0;
  function.walk([&](func::CallOp call) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!callee || callee.isExternal())
      return;
    visit(callee);
    used += bytes.lookup(callee);
  });
  if (!barred.contains(function))
    function.walk([&](FrameOp frame) {
      std::optional<int64_t> own = getStaticFrameBytes(frame);
      if (!own || used + *own > maxBytes)
        return;
      used += *own;
      frames.insert(frame);
    });
  bytes[function] = used;
}
