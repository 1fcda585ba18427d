//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the exact search itself says about capacities, with every strategy.

#include "ExactSearch.h"
#include "TestSupport.h"
#include "pol/Analysis/Placement/Validate.h"
#include "gtest/gtest.h"

using namespace placement_test;
using Result = ExactSearch::Result;

static std::vector<Strategy> getStrategies() {
  std::vector<Strategy> strategies;
  for (auto selection :
       {Strategy::Selection::Lowest, Strategy::Selection::Critical,
        Strategy::Selection::EligibleCritical})
    for (auto priority :
         {Strategy::Priority::Area, Strategy::Priority::Sections,
          Strategy::Priority::Conflicts})
      strategies.push_back({selection, priority});
  return strategies;
}

namespace {
/// A search over an instance of its own.
struct Searcher {
  explicit Searcher(const Buffers &buffers)
      : buffers(buffers), instance(buffers), graph(instance),
        search(instance, graph), weights(search.getNumSections(), 1) {}

  Result run(int64_t capacity, const Strategy &strategy, uint64_t seed,
             int64_t maxNodes) {
    Result result =
        search.run(capacity, strategy, weights, 0.3, seed, maxNodes);
    if (result == Result::Found) {
      Placement placement = instance.makePlacement(search.getOffsets());
      std::optional<std::string> fault = validate(buffers, placement, capacity);
      EXPECT_FALSE(fault) << *fault;
    }
    return result;
  }

  const Buffers &buffers;
  Instance instance;
  ConflictGraph graph;
  ExactSearch search;
  std::vector<double> weights;
};
} // namespace

/// Found from the optimum on, and proven impossible below it.
static void compareWithExhaustion(const RandomOptions &options, int count) {
  std::mt19937 random(23);
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    Buffers buffers = makeHard(random, options);
    int64_t optimum =
        Exhaustion(buffers, placeGreedy(buffers).height + 1).run();
    Searcher searcher(buffers);
    for (const Strategy &strategy : getStrategies())
      for (int64_t capacity = std::max<int64_t>(optimum - 3, 0);
           capacity < optimum + 3; ++capacity)
        EXPECT_EQ(searcher.run(capacity, strategy, i, INT64_MAX),
                  capacity < optimum ? Result::Infeasible : Result::Found);
  }
}

TEST(ExactSearch, AgreesWithExhaustion) {
  RandomOptions options;
  options.numBuffers = 9;
  options.numTimes = 8;
  options.maxSize = 4;
  compareWithExhaustion(options, 40);
}

TEST(ExactSearch, AgreesWithExhaustionOnGapsAndAlignments) {
  RandomOptions options;
  options.numBuffers = 7;
  options.numTimes = 10;
  options.gaps = true;
  compareWithExhaustion(options, 500);
  options.alignments = true;
  options.numBuffers = 6;
  compareWithExhaustion(options, 500);
}

/// Hard enough to fail again and again; a wrong reason anywhere would sooner or
/// later prove that there is nothing to be found.
TEST(ExactSearch, NeverGivesUpOnCutRectangles) {
  int numFound = 0, numRuns = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    Buffers buffers;
    cut(random, 0, 1000, 0, 1000, 7, buffers);
    Searcher searcher(buffers);
    for (const Strategy &strategy : getStrategies()) {
      SCOPED_TRACE(seed);
      Result result = searcher.run(1000, strategy, seed, 3000);
      EXPECT_NE(result, Result::Infeasible);
      numFound += result == Result::Found;
      ++numRuns;
    }
    EXPECT_EQ(searcher.run(999, getStrategies()[0], seed, 1000),
              Result::Infeasible);
  }
  EXPECT_GT(numFound, 0);
  EXPECT_LT(numFound, numRuns);
}
