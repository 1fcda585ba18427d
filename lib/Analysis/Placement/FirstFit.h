//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The lowest offset at which a buffer fits among those that are placed.

#ifndef POL_LIB_ANALYSIS_PLACEMENT_FIRSTFIT_H
#define POL_LIB_ANALYSIS_PLACEMENT_FIRSTFIT_H

#include "Instance.h"

namespace mlir::pol::placement {

/// Another item that is in use at the same time: with it at offset x, this one
/// cannot be strictly between x + below and x + above.
struct Conflict {
  uint32_t item;
  int64_t below, above;
};

/// The conflicts of every item. Items whose gaps leave parts in use can have
/// several with each other.
class ConflictGraph {
public:
  explicit ConflictGraph(const Instance &instance);

  /// How many there would be: for many buffers it may be too many to list.
  static uint64_t count(const Instance &instance);

  struct Range {
    const Conflict *first, *last;
    const Conflict *begin() const { return first; }
    const Conflict *end() const { return last; }
    size_t size() const { return last - first; }
  };
  Range operator[](size_t item) const {
    return {conflicts.data() + starts[item],
            conflicts.data() + starts[item + 1]};
  }

private:
  std::vector<size_t> starts;
  std::vector<Conflict> conflicts;
};

/// Places items in an order, each as low as it fits.
class FirstFit {
public:
  FirstFit(const Instance &instance, const ConflictGraph &graph);

  /// Offsets of all items. Gives up, with a height above the limit, as soon as
  /// an item ends above it.
  int64_t place(const std::vector<uint32_t> &order,
                std::vector<int64_t> &offsets, int64_t limit = INT64_MAX);

private:
  int64_t findOffset(uint32_t item, const std::vector<int64_t> &offsets);

  const Instance &instance;
  const ConflictGraph &graph;
  std::vector<char> isPlaced;
  std::vector<std::pair<int64_t, int64_t>> forbidden;
};

/// The same for any number of items, without a list of their conflicts. Gives
/// up when it takes more steps than that, with the largest height.
int64_t placeManyInOrder(const Instance &instance,
                         const std::vector<uint32_t> &order,
                         std::vector<int64_t> &offsets,
                         int64_t maxSteps = INT64_MAX);

/// Conflicts that are listed at most.
inline constexpr uint64_t maxListedConflicts = 8000000;

} // namespace mlir::pol::placement

#endif // POL_LIB_ANALYSIS_PLACEMENT_FIRSTFIT_H
