//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/Placement/Placement.h"
#include "Instance.h"

#include <algorithm>

using namespace mlir::pol::placement;

static std::string range(int64_t begin, int64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

static std::optional<std::string> checkGaps(const Buffer &buffer,
                                            const std::string &name) {
  std::vector<Gap> gaps = buffer.gaps;
  std::sort(gaps.begin(), gaps.end(), [](const Gap &a, const Gap &b) {
    return a.begin < b.begin || (a.begin == b.begin && a.end < b.end);
  });
  int64_t time = buffer.begin;
  for (const Gap &gap : gaps) {
    if (gap.begin > gap.end)
      return "expected a gap of " + name +
             " to begin before its end, but got " + range(gap.begin, gap.end);
    if (gap.begin < buffer.begin || gap.end > buffer.end)
      return "expected the gaps of " + name + " in its live range " +
             range(buffer.begin, buffer.end) + ", but got " +
             range(gap.begin, gap.end);
    if (gap.begin < time)
      return "expected the gaps of " + name +
             " to be apart, but got two at time " + std::to_string(gap.begin);
    time = gap.end;
    if (gap.lower < 0 || gap.lower > gap.upper || gap.upper > buffer.size)
      return "expected a gap of " + name + " to leave bytes of its " +
             std::to_string(buffer.size) + " in use, but got " +
             range(gap.lower, gap.upper);
  }
  return std::nullopt;
}

static std::optional<std::string> checkBuffer(const Buffer &buffer,
                                              const std::string &name) {
  if (buffer.begin > buffer.end)
    return "expected " + name + " to begin before its end, but got " +
           range(buffer.begin, buffer.end);
  int64_t length;
  if (__builtin_sub_overflow(buffer.end, buffer.begin, &length))
    return "expected the live range of " + name +
           " to have a length in 64 bits, but got " +
           range(buffer.begin, buffer.end);
  if (buffer.size < 0)
    return "expected the size of " + name + " to be 0 or more, but got " +
           std::to_string(buffer.size);
  if (buffer.alignment <= 0 || (buffer.alignment & (buffer.alignment - 1)) != 0)
    return "expected the alignment of " + name +
           " to be a power of two, but got " + std::to_string(buffer.alignment);
  return checkGaps(buffer, name);
}

std::optional<std::string> mlir::pol::placement::check(const Buffers &buffers) {
  // Solvers number buffers and times, of which gaps add some, in 32 bits.
  size_t count = 0;
  int64_t sum = 0;
  // Solvers add two such sums.
  constexpr int64_t maxSum = (int64_t(1) << 62) - 1;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer &buffer = buffers[i];
    if (auto fault = checkBuffer(buffer, "buffer " + std::to_string(i)))
      return fault;
    if (__builtin_add_overflow(sum, buffer.size, &sum) ||
        __builtin_add_overflow(sum, buffer.alignment - 1, &sum) || sum > maxSum)
      return "expected the sizes and alignments to add up to less than 2^62, "
             "but got too much at buffer " +
             std::to_string(i);
    count += 1 + buffer.gaps.size();
  }
  if (count > size_t(1) << 30)
    return "expected at most 2^30 buffers and gaps, but got " +
           std::to_string(count);
  return std::nullopt;
}

int64_t mlir::pol::placement::getLowerBound(const Buffers &buffers) {
  return Instance(buffers).lowerBound;
}
