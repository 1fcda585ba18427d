//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// An allocator's run through time, which takes n log n time on any buffers.

#include "Heuristics.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

using namespace mlir::pol::placement;

namespace {
/// Free addresses, by place and by size.
class FreeList {
public:
  FreeList() { add(0, std::numeric_limits<int64_t>::max() / 2); }

  /// Takes the smallest free range in which it fits, and its lowest part.
  int64_t allocate(int64_t size, int64_t alignment);
  void release(int64_t low, int64_t high);

private:
  void add(int64_t low, int64_t high) {
    if (low == high)
      return;
    highs[low] = high;
    bySize.insert({high - low, low});
  }
  void remove(std::map<int64_t, int64_t>::iterator range) {
    bySize.erase({range->second - range->first, range->first});
    highs.erase(range);
  }

  std::map<int64_t, int64_t> highs;
  std::set<std::pair<int64_t, int64_t>> bySize;
};
} // namespace

int64_t FreeList::allocate(int64_t size, int64_t alignment) {
  // Some may be large enough but for the alignment.
  auto it = bySize.lower_bound({size, -1});
  for (int tries = 0;
       alignUp(it->second, alignment) + size > it->second + it->first; ++tries)
    it = tries < 8 ? std::next(it)
                   : bySize.lower_bound({size + alignment - 1, -1});
  int64_t low = it->second, high = low + it->first;
  int64_t offset = alignUp(low, alignment);
  remove(highs.find(low));
  add(low, offset);
  add(offset + size, high);
  return offset;
}

void FreeList::release(int64_t low, int64_t high) {
  auto next = highs.lower_bound(low);
  if (next != highs.end() && next->first == high) {
    high = next->second;
    remove(next);
  }
  next = highs.lower_bound(low);
  if (next != highs.begin() && std::prev(next)->second == low) {
    low = std::prev(next)->first;
    remove(std::prev(next));
  }
  add(low, high);
}

int64_t mlir::pol::placement::placeByTime(const Instance &instance,
                                          std::vector<int64_t> &offsets) {
  const std::vector<Item> &items = instance.items;
  std::vector<uint32_t> byBegin(items.size()), byEnd(items.size());
  for (uint32_t i = 0; i < items.size(); ++i)
    byBegin[i] = byEnd[i] = i;
  std::sort(byBegin.begin(), byBegin.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(items[a].begin, items[b].size, a) <
           std::tie(items[b].begin, items[a].size, b);
  });
  std::sort(byEnd.begin(), byEnd.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(items[a].end, a) < std::tie(items[b].end, b);
  });
  FreeList freeList;
  offsets.assign(items.size(), 0);
  int64_t height = 0;
  auto ended = byEnd.begin();
  for (uint32_t i : byBegin) {
    for (; items[*ended].end <= items[i].begin; ++ended)
      freeList.release(offsets[*ended], offsets[*ended] + items[*ended].size);
    offsets[i] = freeList.allocate(items[i].size, items[i].alignment);
    height = std::max(height, offsets[i] + items[i].size);
  }
  return height;
}
