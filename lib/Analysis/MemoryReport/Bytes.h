//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Bytes and steps in words, and the ticks of their axes.

#ifndef POL_LIB_ANALYSIS_MEMORYREPORT_BYTES_H
#define POL_LIB_ANALYSIS_MEMORYREPORT_BYTES_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::pol {

/// "256 B", "16 KiB", "1.53 MiB": three digits, or fewer if those are exact.
std::string formatBytes(int64_t bytes);

struct Tick {
  int64_t value;
  std::string text;
};

/// A few values from 0 to `most` that are round in powers of two, all in one
/// unit.
std::vector<Tick> getByteTicks(int64_t most, unsigned atMost);

/// A few values from `first` to `last` that are round in powers of ten.
std::vector<Tick> getStepTicks(int64_t first, int64_t last, unsigned atMost);

} // namespace mlir::pol

#endif // POL_LIB_ANALYSIS_MEMORYREPORT_BYTES_H
