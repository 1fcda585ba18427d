//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Small random buffers, and placements by exhaustion.

#ifndef POL_TEST_UNIT_PLACEMENT_TESTSUPPORT_H
#define POL_TEST_UNIT_PLACEMENT_TESTSUPPORT_H

#include "pol/Analysis/Placement/Placement.h"

#include <algorithm>
#include <random>

namespace placement_test {

using namespace mlir::pol::placement;

struct RandomOptions {
  size_t numBuffers = 5;
  int64_t numTimes = 6, maxSize = 4;
  bool alignments = false, gaps = false, windows = false;
};

/// std::mt19937 is the same everywhere, distributions are not.
inline int64_t pick(std::mt19937 &random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % (high - low + 1));
}

inline Buffers makeRandom(std::mt19937 &random, const RandomOptions &options) {
  Buffers buffers;
  for (size_t i = 0; i < options.numBuffers; ++i) {
    int64_t begin = pick(random, 0, options.numTimes - 1);
    Buffer buffer{begin, pick(random, begin, options.numTimes),
                  pick(random, 0, options.maxSize)};
    if (options.alignments)
      buffer.alignment = int64_t(1) << pick(random, 0, 2);
    if (options.gaps && buffer.begin < buffer.end) {
      int64_t from = pick(random, buffer.begin, buffer.end);
      Gap gap{from, pick(random, from, buffer.end)};
      if (options.windows) {
        gap.lower = pick(random, 0, buffer.size);
        gap.upper = pick(random, gap.lower, buffer.size);
      }
      buffer.gaps.push_back(gap);
    }
    buffers.push_back(buffer);
  }
  return buffers;
}

/// Buffers that orders alone do not place as low as the bound.
inline Buffers makeHard(std::mt19937 &random, const RandomOptions &options) {
  GreedyOptions plain;
  plain.maxTrials = 0;
  while (true) {
    Buffers buffers = makeRandom(random, options);
    if (placeGreedy(buffers, plain).height > getLowerBound(buffers))
      return buffers;
  }
}

/// Whether the buffer uses a byte of its own at a time.
inline bool uses(const Buffer &buffer, int64_t time, int64_t byte) {
  if (time < buffer.begin || time >= buffer.end || byte < 0 ||
      byte >= buffer.size)
    return false;
  for (const Gap &gap : buffer.gaps)
    if (time >= gap.begin && time < gap.end)
      return byte >= gap.lower && byte < gap.upper;
  return true;
}

/// Whether two buffers use a byte at once, looked at byte by byte.
inline bool overlap(const Buffer &a, int64_t offsetOfA, const Buffer &b,
                    int64_t offsetOfB) {
  for (int64_t time = std::max(a.begin, b.begin); time < std::min(a.end, b.end);
       ++time)
    for (int64_t byte = 0; byte < a.size; ++byte)
      if (uses(a, time, byte) && uses(b, time, offsetOfA + byte - offsetOfB))
        return true;
  return false;
}

/// The least height, by trying all offsets of all buffers.
class Exhaustion {
public:
  /// A height that is known to be possible saves time.
  Exhaustion(const Buffers &buffers, int64_t height)
      : buffers(buffers), offsets(buffers.size()), best(height) {
    // Whether two overlap depends on how far they are apart.
    for (const Buffer &buffer : buffers)
      maxSize = std::max(maxSize, buffer.size);
    for (const Buffer &a : buffers)
      for (const Buffer &b : buffers)
        for (int64_t distance = -maxSize; distance <= maxSize; ++distance)
          overlaps.push_back(overlap(a, distance, b, 0));
  }

  int64_t run() {
    place(0, 0);
    return best;
  }

private:
  bool fits(size_t index, int64_t offset) const {
    for (size_t i = 0; i < index; ++i) {
      int64_t distance = offset - offsets[i];
      if (distance >= -maxSize && distance <= maxSize &&
          overlaps[(index * buffers.size() + i) * (2 * maxSize + 1) + distance +
                   maxSize])
        return false;
    }
    return true;
  }

  void place(size_t index, int64_t height) {
    if (index == buffers.size()) {
      best = std::min(best, height);
      return;
    }
    const Buffer &buffer = buffers[index];
    if (buffer.size == 0 || buffer.begin == buffer.end)
      return place(index + 1, height);
    for (int64_t offset = 0; offset + buffer.size < best;
         offset += buffer.alignment) {
      if (!fits(index, offset))
        continue;
      offsets[index] = offset;
      place(index + 1, std::max(height, offset + buffer.size));
    }
  }

  const Buffers &buffers;
  std::vector<int64_t> offsets;
  std::vector<char> overlaps;
  int64_t maxSize = 0;
  int64_t best;
};

/// A rectangle of times and bytes is cut through, again and again: its height
/// is the lower bound, and can be reached.
inline void cut(std::mt19937 &random, int64_t begin, int64_t end, int64_t low,
                int64_t high, int depth, Buffers &buffers) {
  bool inTime = random() % 2;
  if (depth == 0 || (inTime ? end - begin : high - low) < 2) {
    buffers.push_back({begin, end, high - low});
    return;
  }
  int64_t at = inTime ? pick(random, begin + 1, end - 1)
                      : pick(random, low + 1, high - 1);
  cut(random, begin, inTime ? at : end, low, inTime ? high : at, depth - 1,
      buffers);
  cut(random, inTime ? at : begin, end, inTime ? low : at, high, depth - 1,
      buffers);
}

} // namespace placement_test

#endif // POL_TEST_UNIT_PLACEMENT_TESTSUPPORT_H
