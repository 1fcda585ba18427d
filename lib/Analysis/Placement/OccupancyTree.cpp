//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FirstFit.h"

#include <algorithm>

using namespace mlir::pol::placement;

namespace {
/// Disjoint ranges of addresses; those that touch are one.
class AddressSet {
public:
  /// Returns how many ranges had to move.
  int64_t insert(int64_t low, int64_t high) {
    auto first = std::lower_bound(
        ranges.begin(), ranges.end(), low,
        [](const Range &range, int64_t low) { return range.high < low; });
    auto last = first;
    while (last != ranges.end() && last->low <= high) {
      low = std::min(low, last->low);
      high = std::max(high, last->high);
      ++last;
    }
    int64_t numMoved = ranges.end() - first;
    if (first == last) {
      ranges.insert(first, {low, high});
      return numMoved;
    }
    *first = {low, high};
    ranges.erase(first + 1, last);
    return numMoved;
  }

  /// The end of the first range that has addresses in [low, high), or low.
  int64_t findEnd(int64_t low, int64_t high) const {
    auto it = std::upper_bound(
        ranges.begin(), ranges.end(), low,
        [](int64_t low, const Range &range) { return low < range.high; });
    return it != ranges.end() && it->low < high ? it->high : low;
  }

private:
  struct Range {
    int64_t low, high;
  };
  std::vector<Range> ranges;
};

/// A segment tree over time. A node knows which addresses are in use during all
/// of its time by what was inserted there, and which are in use at some time in
/// it. What is in use in a range of time is then in few sets.
class OccupancyTree {
public:
  explicit OccupancyTree(uint32_t numTimes) {
    while (numLeaves < numTimes)
      numLeaves *= 2;
    throughout.resize(2 * numLeaves);
    sometimes.resize(2 * numLeaves);
  }

  void insert(uint32_t begin, uint32_t end, int64_t low, int64_t high);

  /// About how long it took so far, in searches of a set.
  int64_t getNumSteps() const { return numSteps; }
  void addSteps(int64_t count) { numSteps += count; }

  /// The sets of all that is in use during a range of time.
  void collect(uint32_t begin, uint32_t end,
               std::vector<const AddressSet *> &sets) const;

private:
  template <typename Callback>
  void forEachNode(uint32_t begin, uint32_t end, Callback callback) const {
    for (size_t l = begin + numLeaves, r = end + numLeaves; l < r;
         l /= 2, r /= 2) {
      if (l & 1)
        callback(l++);
      if (r & 1)
        callback(--r);
    }
  }

  void insert(AddressSet &set, int64_t low, int64_t high) {
    numSteps += 1 + set.insert(low, high) / 64;
  }

  size_t numLeaves = 1;
  int64_t numSteps = 0;
  std::vector<AddressSet> throughout, sometimes;
};
} // namespace

void OccupancyTree::insert(uint32_t begin, uint32_t end, int64_t low,
                           int64_t high) {
  forEachNode(begin, end,
              [&](size_t node) { insert(throughout[node], low, high); });
  // The nodes above the range's nodes are those above its two ends.
  for (size_t l = begin + numLeaves, r = end - 1 + numLeaves; l > 0;
       l /= 2, r /= 2) {
    insert(sometimes[l], low, high);
    if (r != l)
      insert(sometimes[r], low, high);
  }
  // Between them a range's nodes stand for all that is below.
  forEachNode(begin, end,
              [&](size_t node) { insert(sometimes[node], low, high); });
}

void OccupancyTree::collect(uint32_t begin, uint32_t end,
                            std::vector<const AddressSet *> &sets) const {
  forEachNode(begin, end, [&](size_t node) {
    sets.push_back(&sometimes[node]);
    for (size_t above = node / 2; above > 0; above /= 2)
      sets.push_back(&throughout[above]);
  });
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
}

int64_t mlir::pol::placement::placeManyInOrder(
    const Instance &instance, const std::vector<uint32_t> &order,
    std::vector<int64_t> &offsets, int64_t maxSteps) {
  OccupancyTree tree(instance.numTimes);
  offsets.assign(instance.items.size(), 0);
  int64_t height = 0;
  std::vector<std::vector<const AddressSet *>> sets;
  for (uint32_t index : order) {
    if (tree.getNumSteps() > maxSteps)
      return INT64_MAX;
    const Item &item = instance.items[index];
    Instance::PieceRange pieces = instance.getPieces(item);
    sets.clear();
    for (const Piece &piece : pieces)
      tree.collect(piece.begin, piece.end, sets.emplace_back());
    // Goes up until nothing stands in the way of any piece.
    int64_t offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t i = 0; i < sets.size(); ++i) {
        const Piece &piece = pieces.first[i];
        tree.addSteps(sets[i].size());
        for (const AddressSet *set : sets[i]) {
          int64_t low = offset + piece.lower;
          int64_t end = set->findEnd(low, offset + piece.upper);
          if (end == low)
            continue;
          offset = alignUp(end - piece.lower, item.alignment);
          moved = true;
        }
      }
    }
    offsets[index] = offset;
    height = std::max(height, offset + item.size);
    for (const Piece &piece : pieces)
      tree.insert(piece.begin, piece.end, offset + piece.lower,
                  offset + piece.upper);
  }
  return height;
}
