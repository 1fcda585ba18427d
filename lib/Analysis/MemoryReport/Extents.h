//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Reports as rectangles of time and address.

#ifndef POL_LIB_ANALYSIS_MEMORYREPORT_EXTENTS_H
#define POL_LIB_ANALYSIS_MEMORYREPORT_EXTENTS_H

#include "pol/Analysis/MemoryReport.h"

namespace mlir::pol {

/// Bytes [offset, offset + bytes) in use during [begin, end).
struct Extent {
  int64_t offset; // -1: unknown
  int64_t bytes;
  int64_t begin, end;
};

/// A sum that stays at the most that there is.
int64_t addBytes(int64_t a, int64_t b);

/// All that the buffer takes, with ends of -1 at `lastStep`.
std::vector<Extent> getExtents(const ReportedBuffer &buffer, int64_t lastStep);

/// Bytes in use from a step to the next change.
struct BytesInUse {
  int64_t step, bytes;
};

/// The changes, in the order of time; empty without buffers.
std::vector<BytesInUse> getBytesInUse(const ReportedSpace &space);

} // namespace mlir::pol

#endif // POL_LIB_ANALYSIS_MEMORYREPORT_EXTENTS_H
