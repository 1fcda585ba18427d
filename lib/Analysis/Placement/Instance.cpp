//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instance.h"

#include <algorithm>

using namespace mlir::pol::placement;

static bool takesMemory(const Buffer &buffer) {
  return buffer.size > 0 && buffer.begin < buffer.end;
}

Instance::Instance(const Buffers &buffers) : numBuffers(buffers.size()) {
  std::vector<int64_t> times;
  for (const Buffer &buffer : buffers) {
    if (!takesMemory(buffer))
      continue;
    times.insert(times.end(), {buffer.begin, buffer.end});
    for (const Gap &gap : buffer.gaps)
      times.insert(times.end(), {gap.begin, gap.end});
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  numTimes = times.size();
  items.reserve(buffers.size());
  pieces.reserve(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i)
    if (takesMemory(buffers[i]))
      addItem(buffers[i], i, times);

  // Changes first, then their sums.
  load.assign(numTimes, 0);
  for (const Piece &piece : pieces) {
    load[piece.begin] += piece.upper - piece.lower;
    load[piece.end] -= piece.upper - piece.lower;
  }
  int64_t sum = 0;
  for (int64_t &bytes : load) {
    sum += bytes;
    bytes = sum;
    lowerBound = std::max(lowerBound, sum);
  }
  for (const Item &item : items)
    lowerBound = std::max(lowerBound, item.size);
}

void Instance::addItem(const Buffer &buffer, size_t index,
                       const std::vector<int64_t> &times) {
  auto number = [&](int64_t time) -> uint32_t {
    return std::lower_bound(times.begin(), times.end(), time) - times.begin();
  };
  Item item;
  item.buffer = index;
  item.size = buffer.size;
  item.alignment = buffer.alignment;
  item.begin = number(buffer.begin);
  item.end = number(buffer.end);
  item.length = buffer.end - buffer.begin;
  item.firstPiece = pieces.size();
  auto add = [&](uint32_t begin, uint32_t end, int64_t lower, int64_t upper) {
    if (begin == end || lower == upper)
      return;
    if (pieces.size() > item.firstPiece && pieces.back().end == begin &&
        pieces.back().lower == lower && pieces.back().upper == upper) {
      pieces.back().end = end;
      return;
    }
    pieces.push_back({begin, end, lower, upper});
    hasWindows |= upper - lower != buffer.size;
  };
  uint32_t time = item.begin;
  if (!buffer.gaps.empty()) {
    std::vector<Gap> gaps = buffer.gaps;
    std::sort(gaps.begin(), gaps.end(), [](const Gap &a, const Gap &b) {
      return a.begin < b.begin || (a.begin == b.begin && a.end < b.end);
    });
    for (const Gap &gap : gaps) {
      uint32_t begin = number(gap.begin), end = number(gap.end);
      add(time, begin, 0, buffer.size);
      add(begin, end, gap.lower, gap.upper);
      time = end;
    }
  }
  add(time, item.end, 0, buffer.size);
  item.endPiece = pieces.size();
  items.push_back(item);
}

Placement
Instance::makePlacement(const std::vector<int64_t> &itemOffsets) const {
  Placement placement;
  placement.offsets.assign(numBuffers, 0);
  for (size_t i = 0; i < items.size(); ++i) {
    placement.offsets[items[i].buffer] = itemOffsets[i];
    placement.height =
        std::max(placement.height, itemOffsets[i] + items[i].size);
  }
  placement.isOptimal = placement.height == lowerBound;
  return placement;
}
