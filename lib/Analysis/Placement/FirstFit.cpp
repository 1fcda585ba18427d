//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FirstFit.h"

#include <algorithm>
#include <tuple>

using namespace mlir::pol::placement;

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

/// Calls back for each two pieces, of different items, that are in use at the
/// same time.
template <typename Callback>
static void forEachPair(const Instance &instance, Callback callback) {
  struct Owned {
    Piece piece;
    uint32_t item;
  };
  std::vector<Owned> pieces;
  for (uint32_t i = 0; i < instance.items.size(); ++i)
    for (const Piece &piece : instance.getPieces(instance.items[i]))
      pieces.push_back({piece, i});
  std::sort(pieces.begin(), pieces.end(), [](const Owned &a, const Owned &b) {
    return std::tie(a.piece.begin, a.item) < std::tie(b.piece.begin, b.item);
  });
  std::vector<Owned> active;
  for (const Owned &owned : pieces) {
    active.erase(std::remove_if(active.begin(), active.end(),
                                [&](const Owned &other) {
                                  return other.piece.end <= owned.piece.begin;
                                }),
                 active.end());
    for (const Owned &other : active)
      if (other.item != owned.item)
        callback(owned.item, owned.piece, other.item, other.piece);
    active.push_back(owned);
  }
}

uint64_t ConflictGraph::count(const Instance &instance) {
  std::vector<uint32_t> begins(instance.numTimes), ends(instance.numTimes);
  for (const Piece &piece : instance.pieces) {
    ++begins[piece.begin];
    ++ends[piece.end];
  }
  uint64_t sum = 0, active = 0;
  for (uint32_t time = 0; time < instance.numTimes; ++time) {
    active -= ends[time];
    for (uint32_t i = 0; i < begins[time]; ++i)
      sum += 2 * active++;
  }
  return sum;
}

ConflictGraph::ConflictGraph(const Instance &instance) {
  struct Entry {
    uint32_t item;
    Conflict conflict;
  };
  std::vector<Entry> entries;
  forEachPair(instance, [&](uint32_t a, const Piece &ofA, uint32_t b,
                            const Piece &ofB) {
    entries.push_back({a, {b, ofB.lower - ofA.upper, ofB.upper - ofA.lower}});
    entries.push_back({b, {a, ofA.lower - ofB.upper, ofA.upper - ofB.lower}});
  });
  auto key = [](const Entry &e) {
    return std::tuple(e.item, e.conflict.item, e.conflict.below,
                      e.conflict.above);
  };
  std::sort(entries.begin(), entries.end(),
            [&](const Entry &a, const Entry &b) { return key(a) < key(b); });
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [&](const Entry &a, const Entry &b) {
                              return key(a) == key(b);
                            }),
                entries.end());
  starts.assign(instance.items.size() + 1, 0);
  conflicts.reserve(entries.size());
  for (const Entry &entry : entries) {
    ++starts[entry.item + 1];
    conflicts.push_back(entry.conflict);
  }
  for (size_t i = 1; i < starts.size(); ++i)
    starts[i] += starts[i - 1];
}

//===----------------------------------------------------------------------===//
// First fit
//===----------------------------------------------------------------------===//

FirstFit::FirstFit(const Instance &instance, const ConflictGraph &graph)
    : instance(instance), graph(graph) {}

int64_t FirstFit::findOffset(uint32_t item,
                             const std::vector<int64_t> &offsets) {
  forbidden.clear();
  for (const Conflict &conflict : graph[item])
    if (isPlaced[conflict.item])
      forbidden.push_back({offsets[conflict.item] + conflict.below,
                           offsets[conflict.item] + conflict.above});
  std::sort(forbidden.begin(), forbidden.end());
  int64_t offset = 0;
  for (auto [low, high] : forbidden) {
    if (low >= offset)
      break;
    if (high > offset)
      offset = alignUp(high, instance.items[item].alignment);
  }
  return offset;
}

int64_t FirstFit::place(const std::vector<uint32_t> &order,
                        std::vector<int64_t> &offsets, int64_t limit) {
  isPlaced.assign(instance.items.size(), false);
  offsets.assign(instance.items.size(), 0);
  int64_t height = 0;
  for (uint32_t item : order) {
    offsets[item] = findOffset(item, offsets);
    isPlaced[item] = true;
    height = std::max(height, offsets[item] + instance.items[item].size);
    if (height > limit)
      break;
  }
  return height;
}
