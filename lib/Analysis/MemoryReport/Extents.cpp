//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extents.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir::pol;

int64_t mlir::pol::addBytes(int64_t a, int64_t b) {
  int64_t sum;
  if (!llvm::AddOverflow(a, b, sum))
    return sum;
  return a > 0 ? std::numeric_limits<int64_t>::max()
               : std::numeric_limits<int64_t>::min();
}

int64_t mlir::pol::getLastStep(const ReportedSpace &space) {
  int64_t last = std::max<int64_t>(space.steps, 0);
  auto include = [&](int64_t begin, int64_t end) {
    last = std::max({last, addBytes(begin, 1), end});
  };
  for (const ReportedBuffer &buffer : space.buffers) {
    include(buffer.begin, buffer.end);
    for (const ReportedLife &life : buffer.lives)
      include(life.begin, life.end);
  }
  return last;
}

std::vector<Extent> mlir::pol::getExtents(const ReportedBuffer &buffer,
                                          int64_t lastStep) {
  auto endOf = [&](int64_t end) { return end < 0 ? lastStep : end; };
  std::vector<Extent> extents;
  for (const ReportedLife &life : buffer.lives)
    extents.push_back({life.offset, buffer.bytes, life.begin, endOf(life.end)});
  if (!extents.empty())
    return extents;
  int64_t end = endOf(buffer.end);
  bool shrinks = buffer.keptFrom >= buffer.begin && buffer.keptFrom < end &&
                 buffer.keptBytes >= 0 && buffer.keptBytes < buffer.bytes;
  int64_t full = shrinks ? buffer.keptFrom : end;
  extents.push_back({buffer.offset, buffer.bytes, buffer.begin, full});
  if (shrinks)
    extents.push_back({buffer.offset, buffer.keptBytes, full, end});
  return extents;
}

std::vector<BytesInUse> mlir::pol::getBytesInUse(const ReportedSpace &space) {
  int64_t lastStep = getLastStep(space);
  std::vector<BytesInUse> changes;
  for (const ReportedBuffer &buffer : space.buffers)
    for (const Extent &extent : getExtents(buffer, lastStep)) {
      if (extent.begin >= extent.end)
        continue;
      changes.push_back({extent.begin, extent.bytes});
      changes.push_back({extent.end, -extent.bytes});
    }
  llvm::sort(changes, [](const BytesInUse &a, const BytesInUse &b) {
    return a.step < b.step;
  });
  std::vector<BytesInUse> result;
  int64_t bytes = 0;
  // All changes of a step are one: what ends is gone when others begin there.
  for (const BytesInUse &change : changes) {
    bytes = addBytes(bytes, change.bytes);
    if (result.empty() || result.back().step != change.step)
      result.push_back({change.step, bytes});
    result.back().bytes = bytes;
  }
  return result;
}

int64_t mlir::pol::getLiveSetBound(const ReportedSpace &space) {
  int64_t most = 0;
  for (const BytesInUse &inUse : getBytesInUse(space))
    most = std::max(most, inUse.bytes);
  return most;
}
