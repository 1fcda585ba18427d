//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Frames of a kernel's threads in the memory that the threads of a block share.

#ifndef POL_LIB_CONVERSION_POLTOGPU_WORKGROUPMEMORY_H
#define POL_LIB_CONVERSION_POLTOGPU_WORKGROUPMEMORY_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::pol {

/// What every GPU has of it for a block, without being asked for more.
constexpr int64_t kWorkgroupBytes = 48 * 1024;

/// Moves the static buffers of frames in a launch of one-dimensional blocks to
/// workgroup memory, a part of each buffer for each thread. In program order,
/// each that still fits moves, as far as all that use it can follow; the others
/// stay where they are.
LogicalResult moveToWorkgroupMemory(gpu::LaunchOp launch, int64_t blockSize);

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOGPU_WORKGROUPMEMORY_H
