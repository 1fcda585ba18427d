//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a GPU's memory is to the host: pointers that it passes on.

#include "GlobalMemory.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "pol/Conversion/Passes.h"
#include "pol/IR/PolOps.h"

namespace mlir::pol {
#define GEN_PASS_DEF_ERASEGPUMEMORYSPACES
#include "pol/Conversion/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// Replaces the types of pol's spaces in global memory by those in default
/// memory.
template <typename SpaceType> static void addSpace(AttrTypeReplacer &replacer) {
  replacer.addReplacement([](SpaceType type) -> std::optional<Type> {
    if (!isGlobalMemorySpace(type.getMemorySpace()))
      return std::nullopt;
    return SpaceType::get(type.getContext(), Attribute());
  });
}

namespace {
struct EraseGPUMemorySpaces
    : pol::impl::EraseGPUMemorySpacesBase<EraseGPUMemorySpaces> {
  using EraseGPUMemorySpacesBase::EraseGPUMemorySpacesBase;

  /// On the host, only spaces give memory of the GPU: what else allocates gets
  /// memory of the host's.
  LogicalResult verify() {
    WalkResult result = getOperation().walk([](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      bool isHosts = isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp,
                         memref::ReallocOp>(op);
      if (isHosts && isInGlobalMemory(op->getResult(0).getType())) {
        op->emitOpError("expected memory of the host, but got ")
            << op->getResult(0).getType()
            << ": memory of the GPU comes from a space";
        return WalkResult::interrupt();
      }
      auto heap = dyn_cast<ThreadHeapOp>(op);
      if (heap && heap.getType().getMemorySpace()) {
        op->emitOpError("expected a heap of the host's memory, but got ")
            << heap.getType();
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  void runOnOperation() override {
    if (failed(verify()))
      return signalPassFailure();
    AttrTypeReplacer replacer;
    replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
      if (!isInGlobalMemory(type))
        return std::nullopt;
      return MemRefType::get(type.getShape(), type.getElementType(),
                             type.getLayout());
    });
    replacer.addReplacement([](UnrankedMemRefType type) -> std::optional<Type> {
      if (!isInGlobalMemory(type))
        return std::nullopt;
      return UnrankedMemRefType::get(type.getElementType(), Attribute());
    });
    addSpace<ArenaType>(replacer);
    addSpace<HeapType>(replacer);
    addSpace<FrameType>(replacer);
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                                 /*replaceLocs=*/false, /*replaceTypes=*/true);
      return WalkResult::advance();
    });
  }
};
} // namespace
