//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a GPU's memory is to the host: pointers that it passes on.

#include "GlobalMemory.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "pol/Conversion/Passes.h"
#include "pol/IR/PolTypes.h"

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

  void runOnOperation() override {
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
