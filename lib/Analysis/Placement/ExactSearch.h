//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// An exact search for a placement that is not above a capacity.
//
// Any placement can be pushed down until each buffer is at 0 or rests on one
// below it, so it is enough to look for those, which are called canonical. The
// search builds them from below. Its state is a lowest offset for each buffer
// that is still open; it is above all placed ones that conflict with it. A
// decision places a buffer at its lowest offset. When that fails, the buffer
// has to rest on an open one, which gives it a higher lowest offset. A buffer
// is eligible for a decision when no open one still fits below it.
//
// All buffers that are in use at a time, a section, have to be stacked on each
// other: that gives bounds, as for the jobs of one machine with release dates.
//
// Every lowest offset comes with its reasons, the decisions that it follows
// from for all canonical placements. When a bound fails, the search goes back
// to the last decision that has a part in it (conflict-directed backjumping),
// past those that concern other times only.

#ifndef POL_LIB_ANALYSIS_PLACEMENT_EXACTSEARCH_H
#define POL_LIB_ANALYSIS_PLACEMENT_EXACTSEARCH_H

#include "FirstFit.h"

#include <chrono>

namespace mlir::pol::placement {

/// Which eligible item a decision is about.
struct Strategy {
  enum class Selection {
    /// The lowest of all.
    Lowest,
    /// The lowest of the most critical section, one that has little room left
    /// and has failed often; or what has to go below it.
    Critical,
    /// The same, but what is eligible in that section goes first.
    EligibleCritical,
  };
  Selection selection;
  /// Among several that are as low: the largest, the one that lives in most
  /// sections, or that with most conflicts.
  enum class Priority { Area, Sections, Conflicts };
  Priority priority;
};

class ExactSearch {
public:
  enum class Result { Found, Infeasible, Limit };
  using Clock = std::chrono::steady_clock;

  /// For items whose gaps leave nothing in use.
  ExactSearch(const Instance &instance, const ConflictGraph &graph);

  /// Whether the search would fit into a modest amount of memory.
  static bool isPossible(const Instance &instance, const ConflictGraph &graph);

  /// Looks for a placement, with that many decisions at most. The weights, one
  /// for each section, are changed and make the next run a different one;
  /// noise other than 0 does it by random numbers that start with the seed.
  Result run(int64_t capacity, const Strategy &strategy,
             std::vector<double> &weights, double noise, uint64_t seed,
             int64_t maxNodes);

  /// Of the placement that was found.
  const std::vector<int64_t> &getOffsets() const { return low; }
  /// Decisions of the last run.
  int64_t getNumNodes() const { return numNodes; }
  size_t getNumSections() const { return sections.size(); }

  /// A run also ends at this time.
  std::optional<Clock::time_point> deadline;

private:
  using Word = uint64_t;
  using ItemSet = std::vector<Word>;

  struct Section {
    /// The open ones come first.
    std::vector<uint32_t> items;
    uint32_t numOpen = 0;
    /// Of the open ones: the sum of their sizes, their two lowest offsets and
    /// the two lowest ends that they can have.
    int64_t bytes = 0;
    int64_t low1 = 0, low2 = 0, end1 = 0, end2 = 0;
  };
  /// A changed lowest offset, or base.
  struct Change {
    uint32_t item;
    bool isBase;
    int64_t old;
  };
  struct Decision {
    uint32_t item;
    size_t numChanges, numChangedWords;
  };

  void addSections();
  void addSection(const std::vector<uint32_t> &items);
  void reset(const Strategy &strategy, double noise, uint64_t seed);

  Word *reasonsOf(uint32_t item) { return &reasons[item * numWords]; }
  void joinReasons(ItemSet &set, uint32_t item) {
    const Word *other = reasonsOf(item);
    for (size_t i = 0; i < numWords; ++i)
      set[i] |= other[i];
  }

  // Propagation. Where the result is false, `conflict` has decisions that no
  // canonical placement can have together.
  bool raise(uint32_t item, int64_t offset, const ItemSet &why);
  bool propagate();
  bool propagateSection(uint32_t index);
  bool raiseAboveLowest(uint32_t index);
  bool propagateSupport(uint32_t item);
  int64_t findSupport(uint32_t item, ItemSet &why);

  // Decisions.
  bool isEligible(uint32_t item) const;
  bool isFree(uint32_t item) const;
  bool goesBefore(uint32_t a, uint32_t b) const;
  uint32_t choose() const;
  uint32_t chooseCritical() const;
  uint32_t findEligibleBelow(uint32_t item) const;
  bool place(uint32_t item);
  bool raiseAbove(uint32_t placed);
  void retract();
  bool resolveConflict();

  void mark(uint32_t section);
  void clearMarks();

  const Instance &instance;
  const ConflictGraph &graph;
  size_t numItems, numWords;
  std::vector<int64_t> size, alignment;
  std::vector<std::vector<uint32_t>> sectionsOf;
  /// A bit for each two items that conflict.
  std::vector<Word> neighbors;

  // Of the run.
  int64_t capacity = 0;
  Strategy::Selection selection = Strategy::Selection::Lowest;
  std::vector<double> priority;
  std::vector<double> *weights = nullptr;
  int64_t numNodes = 0;

  // The state: lowest offsets, or those of placed items, their reasons, and the
  // highest end of the placed items that each conflicts with.
  std::vector<int64_t> low, base;
  std::vector<Word> reasons;
  std::vector<char> isPlaced;
  ItemSet placedSet;
  size_t numPlaced = 0;
  std::vector<Section> sections;

  // What changed, to take it back.
  std::vector<Change> changes;
  std::vector<Word> changedWords;
  std::vector<Decision> decisions;

  /// Sections that have changed.
  std::vector<uint32_t> marked;
  std::vector<char> isMarked;
  ItemSet conflict, scratch;
};

} // namespace mlir::pol::placement

#endif // POL_LIB_ANALYSIS_PLACEMENT_EXACTSEARCH_H
