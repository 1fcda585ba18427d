//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/Placement/Validate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

using namespace mlir::pol::placement;

namespace {
/// Addresses that a buffer uses for a while: [low, high) during [begin, end).
struct Use {
  int64_t begin, end;
  int64_t low, high;
  size_t buffer;
};
} // namespace

static std::string range(int64_t begin, int64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

/// Whether the buffer occupies anything at all.
static bool takesMemory(const Buffer &buffer) {
  return buffer.size > 0 && buffer.begin < buffer.end;
}

/// What is wrong with where one buffer is, whatever the others do.
static std::optional<std::string> validateOne(const Buffer &buffer,
                                              size_t index, int64_t offset,
                                              int64_t capacity) {
  std::string name = "buffer " + std::to_string(index);
  std::string at = std::to_string(offset);
  if (offset < 0)
    return "expected " + name + " at an offset of 0 or more, but got " + at;
  if (buffer.alignment > 1 && offset % buffer.alignment != 0)
    return "expected " + name + " at a multiple of " +
           std::to_string(buffer.alignment) + ", but got " + at;
  if (!takesMemory(buffer))
    return std::nullopt;
  if (offset > std::numeric_limits<int64_t>::max() - buffer.size)
    return "expected the end of " + name + " in 64 bits, but got " + at +
           " + " + std::to_string(buffer.size);
  if (capacity >= 0 && offset + buffer.size > capacity)
    return "expected " + name + " to end at most at " +
           std::to_string(capacity) + ", but got bytes " +
           range(offset, offset + buffer.size);
  return std::nullopt;
}

/// Cuts a buffer at its gaps into what it uses when.
static void addUses(const Buffer &buffer, size_t index, int64_t offset,
                    std::vector<Use> &uses) {
  std::vector<Gap> gaps = buffer.gaps;
  std::sort(gaps.begin(), gaps.end(), [](const Gap &a, const Gap &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  auto add = [&](int64_t begin, int64_t end, int64_t lower, int64_t upper) {
    if (begin < end && lower < upper)
      uses.push_back({begin, end, offset + lower, offset + upper, index});
  };
  int64_t time = buffer.begin;
  for (const Gap &gap : gaps) {
    add(time, std::min(gap.begin, buffer.end), 0, buffer.size);
    add(std::max(gap.begin, time), std::min(gap.end, buffer.end), gap.lower,
        gap.upper);
    time = std::max(time, gap.end);
  }
  add(time, buffer.end, 0, buffer.size);
}

static std::string describeOverlap(const Use &one, const Use &other) {
  const Use &a = one.buffer < other.buffer ? one : other;
  const Use &b = one.buffer < other.buffer ? other : one;
  return "expected buffers " + std::to_string(a.buffer) + " and " +
         std::to_string(b.buffer) + " to be apart, but got both in bytes " +
         range(std::max(a.low, b.low), std::min(a.high, b.high)) + " during " +
         range(std::max(a.begin, b.begin), std::min(a.end, b.end));
}

/// Goes through time with all that is in use, by address. What comes in must
/// fit between its two neighbors; then no two overlap.
static std::optional<std::string> validateApart(std::vector<Use> uses) {
  std::sort(uses.begin(), uses.end(), [](const Use &a, const Use &b) {
    return std::tie(a.begin, a.low, a.buffer) <
           std::tie(b.begin, b.low, b.buffer);
  });
  std::multimap<int64_t, const Use *> ends;
  std::map<int64_t, const Use *> inUse;
  for (const Use &use : uses) {
    while (!ends.empty() && ends.begin()->first <= use.begin) {
      inUse.erase(ends.begin()->second->low);
      ends.erase(ends.begin());
    }
    auto above = inUse.lower_bound(use.low);
    if (above != inUse.end() && above->first < use.high)
      return describeOverlap(use, *above->second);
    if (above != inUse.begin() && std::prev(above)->second->high > use.low)
      return describeOverlap(use, *std::prev(above)->second);
    inUse.emplace_hint(above, use.low, &use);
    ends.emplace(use.end, &use);
  }
  return std::nullopt;
}

std::optional<std::string>
mlir::pol::placement::validate(const Buffers &buffers,
                               const std::vector<int64_t> &offsets,
                               int64_t capacity) {
  if (offsets.size() != buffers.size())
    return "expected " + std::to_string(buffers.size()) + " offsets, but got " +
           std::to_string(offsets.size());
  std::vector<Use> uses;
  uses.reserve(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (auto fault = validateOne(buffers[i], i, offsets[i], capacity))
      return fault;
    if (takesMemory(buffers[i]))
      addUses(buffers[i], i, offsets[i], uses);
  }
  return validateApart(std::move(uses));
}

std::optional<std::string>
mlir::pol::placement::validate(const Buffers &buffers,
                               const Placement &placement, int64_t capacity) {
  if (auto fault = validate(buffers, placement.offsets, capacity))
    return fault;
  int64_t height = 0;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (takesMemory(buffers[i]))
      height = std::max(height, placement.offsets[i] + buffers[i].size);
  if (height != placement.height)
    return "expected a height of " + std::to_string(height) + ", but got " +
           std::to_string(placement.height);
  return std::nullopt;
}
