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

/// Whether one buffer does for an allocation, however often it is made while
/// its frame is open: it is made once, or each is done with before the next.
static bool isOneBuffer(AllocOp alloc, FrameOp frame,
                        const Provenance &provenance) {
  return getEnclosingParallel(alloc) == getEnclosingParallel(frame) &&
         (!mayRepeatWithin(alloc, frame) ||
          provenance.getLastUseInBlock(alloc));
}

/// The bytes of a frame whose buffers are all static, and which nothing but
/// allocations and other frames uses. The stack is default memory, except in a
/// parallel region: that of a thread of a GPU is as good as the GPU's memory.
static std::optional<uint64_t>
getStaticFrameBytes(FrameOp frame, const Provenance &provenance) {
  if (cast<SpaceTypeInterface>(frame.getSpace().getType()).getMemorySpace() &&
      !getEnclosingParallel(frame))
    return std::nullopt;
  uint64_t total = 0;
  for (Operation *user : frame.getFrame().getUsers()) {
    if (isa<FrameOp>(user))
      continue;
    auto alloc = dyn_cast<AllocOp>(user);
    auto type = alloc ? dyn_cast<MemRefType>(alloc.getType()) : MemRefType();
    if (!type || !isOneBuffer(alloc, frame, provenance))
      return std::nullopt;
    FailureOr<std::optional<int64_t>> bytes = getStaticBytes(type);
    if (failed(bytes) || !*bytes || **bytes > INT32_MAX)
      return std::nullopt;
    total = llvm::SaturatingAdd(total,
                                llvm::alignTo(**bytes, StackBudget::alignment));
  }
  return total;
}

/// The functions of the module that `function` may call. A call through a
/// pointer may be of any whose address is taken.
SmallVector<func::FuncOp> StackBudget::getCallees(func::FuncOp function) {
  SmallVector<func::FuncOp> callees;
  function.walk([&](CallOpInterface call) {
    auto symbol = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
    if (!symbol) {
      callees.append(indirect.begin(), indirect.end());
      return;
    }
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, symbol);
    if (callee && !callee.isExternal())
      callees.push_back(callee);
  });
  return callees;
}

StackBudget::StackBudget(ModuleOp module, const Provenance &provenance,
                         int64_t maxBytes)
    : provenance(provenance), maxBytes(maxBytes) {
  // A function that is called through a pointer may be called from anywhere.
  module.walk([&](func::ConstantOp constant) {
    auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        constant, constant.getValueAttr());
    if (function && !function.isExternal() && barred.insert(function).second)
      indirect.push_back(function);
  });
  // First find recursion, which bars every function on a cycle; what bars one
  // while visiting would come too late for those visited before it.
  module.walk([&](func::FuncOp function) {
    SmallVector<func::FuncOp> worklist{function};
    DenseSet<Operation *> reached;
    while (!worklist.empty())
      for (func::FuncOp callee : getCallees(worklist.pop_back_val()))
        if (reached.insert(callee).second)
          worklist.push_back(callee);
    if (reached.contains(function))
      barred.insert(function);
  });
  do {
    choose(module);
  } while (barOneOfTooMany(module));
}

void StackBudget::choose(ModuleOp module) {
  frames.clear();
  bytes.clear();
  ownBytes.clear();
  visiting.clear();
  module.walk([&](func::FuncOp function) { visit(function); });
}

bool StackBudget::barOneOfTooMany(ModuleOp module) {
  func::FuncOp largest;
  module.walk([&](func::FuncOp function) {
    if (bytes.lookup(function) <= static_cast<uint64_t>(maxBytes))
      return WalkResult::advance();
    SmallVector<func::FuncOp> worklist{function};
    DenseSet<Operation *> reached;
    while (!worklist.empty())
      for (func::FuncOp callee : getCallees(worklist.pop_back_val())) {
        if (!reached.insert(callee).second)
          continue;
        worklist.push_back(callee);
        if (ownBytes.lookup(callee) > (largest ? ownBytes.lookup(largest) : 0))
          largest = callee;
      }
    return WalkResult::interrupt();
  });
  return largest && barred.insert(largest).second;
}

void StackBudget::visit(func::FuncOp function) {
  if (bytes.contains(function) || !visiting.insert(function).second)
    return;
  uint64_t used = 0;
  for (func::FuncOp callee : getCallees(function)) {
    visit(callee);
    used = llvm::SaturatingAdd(used, bytes.lookup(callee));
  }
  if (!barred.contains(function))
    function.walk([&](FrameOp frame) {
      std::optional<uint64_t> own = getStaticFrameBytes(frame, provenance);
      if (!own ||
          llvm::SaturatingAdd(used, *own) > static_cast<uint64_t>(maxBytes))
        return;
      used += *own;
      ownBytes[function] += *own;
      frames.insert(frame);
    });
  bytes[function] = used;
}
