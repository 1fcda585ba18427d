//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which memory is a GPU's.

#ifndef POL_LIB_CONVERSION_POLTOGPU_GLOBALMEMORY_H
#define POL_LIB_CONVERSION_POLTOGPU_GLOBALMEMORY_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::pol {

/// Whether a memory space is the global memory of a GPU.
inline bool isGlobalMemorySpace(Attribute space) {
  auto address = dyn_cast_or_null<gpu::AddressSpaceAttr>(space);
  return address && address.getValue() == gpu::AddressSpace::Global;
}

/// Whether a type is that of an array in the global memory of a GPU.
inline bool isInGlobalMemory(Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  return memref && isGlobalMemorySpace(memref.getMemorySpace());
}

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOGPU_GLOBALMEMORY_H
