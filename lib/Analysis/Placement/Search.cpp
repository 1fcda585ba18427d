//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The best of the heuristics, and what the exact search makes of it.

#include "ExactSearch.h"
#include "Heuristics.h"

#include <algorithm>
#include <numeric>

using namespace mlir::pol::placement;
using Result = ExactSearch::Result;
using Clock = ExactSearch::Clock;

//===----------------------------------------------------------------------===//
// Portfolio
//===----------------------------------------------------------------------===//

static constexpr Strategy strategies[] = {
    {Strategy::Selection::Critical, Strategy::Priority::Sections},
    {Strategy::Selection::Lowest, Strategy::Priority::Area},
    {Strategy::Selection::Critical, Strategy::Priority::Conflicts},
    {Strategy::Selection::Lowest, Strategy::Priority::Sections},
    {Strategy::Selection::EligibleCritical, Strategy::Priority::Sections},
    {Strategy::Selection::Lowest, Strategy::Priority::Conflicts},
    {Strategy::Selection::EligibleCritical, Strategy::Priority::Area},
};
static constexpr uint64_t numStrategies = std::size(strategies);

/// The k-th, from 1, of 1, 1, 2, 1, 1, 2, 4, 1, ... (Luby's sequence).
static int64_t getLuby(uint64_t k) {
  uint64_t length = 1, last = 1;
  while (length < k) {
    length = 2 * length + 1;
    last *= 2;
  }
  return length == k ? last : getLuby(k - length / 2);
}

namespace {
/// Runs the exact search with one strategy after the other, for longer and
/// longer, until one has an answer.
class Portfolio {
public:
  Portfolio(const Instance &instance, const ConflictGraph &graph,
            int64_t maxNodes, std::optional<Clock::time_point> deadline)
      : search(instance, graph), numItems(instance.items.size()),
        nodesLeft(maxNodes),
        weights(numStrategies,
                std::vector<double>(search.getNumSections(), 1)) {
    search.deadline = deadline;
  }

  /// Limit when that many decisions were not enough or all are used up.
  Result run(int64_t capacity, int64_t maxNodes);

  const std::vector<int64_t> &getOffsets() const { return search.getOffsets(); }
  bool isOver() const {
    return nodesLeft <= 0 ||
           (search.deadline && Clock::now() > *search.deadline);
  }

  /// An earlier time to stop at, or the last one.
  std::optional<Clock::time_point> &getDeadline() { return search.deadline; }

private:
  ExactSearch search;
  int64_t numItems;
  int64_t nodesLeft;
  uint64_t numRuns = 0;
  std::vector<std::vector<double>> weights;
};
} // namespace

Result Portfolio::run(int64_t capacity, int64_t maxNodes) {
  int64_t nodes = std::min(maxNodes, nodesLeft);
  while (nodes > 0 && !isOver()) {
    uint64_t index = numRuns % numStrategies, round = numRuns / numStrategies;
    // A run without any failure makes one decision for each item.
    int64_t limit = (500 + numItems) * getLuby(round + 1);
    double noise = round == 0 ? 0 : 0.3;
    Result result = search.run(capacity, strategies[index], weights[index],
                               noise, numRuns, std::min(limit, nodes));
    ++numRuns;
    nodes -= search.getNumNodes() + 1;
    nodesLeft -= search.getNumNodes() + 1;
    if (result != Result::Limit)
      return result;
  }
  return Result::Limit;
}

//===----------------------------------------------------------------------===//
// Lower and lower capacities
//===----------------------------------------------------------------------===//

namespace {
/// Lowers a placement between a lower bound and its height.
class Minimizer {
public:
  Minimizer(const Instance &instance, const ConflictGraph &graph,
            const SearchOptions &options,
            std::optional<Clock::time_point> deadline, Placement &best);

  void run();

private:
  int64_t roundDown(int64_t height) const { return height / unit * unit; }
  /// What is low enough.
  int64_t getTarget() const {
    return std::max(lowerBound, roundDown(options.capacity));
  }
  bool isDone() const {
    return best.height <= getTarget() || portfolio.isOver();
  }
  void search(int64_t capacity, int64_t maxNodes);
  void bisect(int64_t maxNodes);

  const Instance &instance;
  const SearchOptions &options;
  Placement &best;
  Portfolio portfolio;
  /// The heights that count are multiples of it.
  int64_t unit = 0;
  int64_t lowerBound;
};
} // namespace

Minimizer::Minimizer(const Instance &instance, const ConflictGraph &graph,
                     const SearchOptions &options,
                     std::optional<Clock::time_point> deadline, Placement &best)
    : instance(instance), options(options), best(best),
      portfolio(instance, graph, options.maxNodes, deadline) {
  for (const Item &item : instance.items) {
    unit = std::gcd(unit, item.size);
    if (item.alignment > 1)
      unit = std::gcd(unit, item.alignment);
  }
  lowerBound = roundDown(instance.lowerBound + (unit - 1));
}

void Minimizer::search(int64_t capacity, int64_t maxNodes) {
  switch (portfolio.run(capacity, maxNodes)) {
  case Result::Limit:
    return;
  case Result::Infeasible:
    lowerBound = roundDown(capacity) + unit;
    return;
  case Result::Found:
    best = instance.makePlacement(portfolio.getOffsets());
    return;
  }
}

/// The lower bound itself is often met. Otherwise what cannot be found in so
/// many decisions is taken to be too low, until it is looked for in more.
void Minimizer::bisect(int64_t maxNodes) {
  search(getTarget(), maxNodes);
  int64_t tooLow = getTarget(), precision = std::max(unit, tooLow / 1024);
  while (!isDone() && best.height - tooLow > precision) {
    int64_t capacity = roundDown(tooLow + (best.height - tooLow) / 2);
    int64_t height = best.height;
    search(capacity, maxNodes);
    if (best.height == height)
      tooLow = std::max(capacity, getTarget()) + unit;
  }
  if (!isDone())
    search(best.height - unit, maxNodes);
}

void Minimizer::run() {
  if (options.capacity >= lowerBound && !isDone()) {
    // A part is left to get near to it if that fails.
    std::optional<Clock::time_point> deadline = portfolio.getDeadline();
    if (deadline)
      portfolio.getDeadline() = *deadline - (*deadline - Clock::now()) / 5;
    search(getTarget(), options.maxNodes - options.maxNodes / 5);
    portfolio.getDeadline() = deadline;
  }
  int64_t maxNodes = 1000 + 4 * static_cast<int64_t>(instance.items.size());
  for (; !isDone(); maxNodes *= 2)
    bisect(maxNodes);
  best.isOptimal = best.height <= lowerBound;
}

/// The same buffers with less gaps: those that leave something in use.
static Buffers closeWindows(const Buffers &buffers) {
  Buffers closed = buffers;
  for (Buffer &buffer : closed)
    buffer.gaps.erase(
        std::remove_if(buffer.gaps.begin(), buffer.gaps.end(),
                       [](const Gap &gap) { return gap.lower < gap.upper; }),
        buffer.gaps.end());
  return closed;
}

Placement mlir::pol::placement::place(const Buffers &buffers,
                                      const SearchOptions &options) {
  std::optional<Clock::time_point> deadline;
  if (options.maxSeconds > 0)
    deadline =
        Clock::now() +
        std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(std::min(options.maxSeconds, 1e8)));
  GreedyOptions greedy;
  greedy.capacity = options.capacity;
  Placement best = placeGreedy(buffers, greedy);
  int64_t lowerBound = getLowerBound(buffers);
  if (best.height <= std::max(lowerBound, options.capacity))
    return best;
  // The search takes buffers as wholes.
  Instance instance(closeWindows(buffers));
  if (ConflictGraph::count(instance) > maxListedConflicts)
    return best;
  ConflictGraph graph(instance);
  if (!ExactSearch::isPossible(instance, graph))
    return best;
  Minimizer(instance, graph, options, deadline, best).run();
  if (instance.lowerBound != lowerBound || Instance(buffers).hasWindows)
    best.isOptimal = best.height == lowerBound;
  return best;
}
