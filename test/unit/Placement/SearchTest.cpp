//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Greedy placement and the exact search, compared with exhaustion.

#include "Heuristics.h"
#include "TestSupport.h"
#include "pol/Analysis/Placement/Validate.h"
#include "gtest/gtest.h"

#include <array>

using namespace placement_test;

static void expectValid(const Buffers &buffers, const Placement &placement,
                        int64_t capacity = -1) {
  std::optional<std::string> fault = validate(buffers, placement, capacity);
  EXPECT_FALSE(fault) << *fault;
}

/// The optimum of many small instances is found, and known to be one.
static void compareWithExhaustion(const RandomOptions &options, int count) {
  std::mt19937 random(7);
  int numAboveBound = 0;
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    Buffers buffers = makeHard(random, options);
    ASSERT_FALSE(check(buffers));
    Placement placement = place(buffers);
    expectValid(buffers, placement);
    int64_t optimum = Exhaustion(buffers, placement.height + 1).run();
    ASSERT_LE(getLowerBound(buffers), optimum);
    numAboveBound += optimum > getLowerBound(buffers);
    // The search takes buffers with windows as wholes: what it finds may not be
    // the lowest.
    if (!options.windows || placement.isOptimal)
      EXPECT_EQ(placement.height, optimum);
    EXPECT_TRUE(options.windows || placement.isOptimal);
  }
  // Buffers as few as these reach the bound unless there is more to them.
  if (options.gaps || options.alignments)
    EXPECT_GT(numAboveBound, 0);
}

TEST(Search, FindsTheOptimum) {
  RandomOptions options;
  options.numBuffers = 9;
  options.numTimes = 8;
  options.maxSize = 4;
  compareWithExhaustion(options, 40);
}

TEST(Search, FindsTheOptimumWithAlignments) {
  RandomOptions options;
  options.alignments = true;
  options.numBuffers = 6;
  compareWithExhaustion(options, 100);
}

TEST(Search, FindsTheOptimumWithGaps) {
  RandomOptions options;
  options.gaps = true;
  options.numBuffers = 7;
  options.numTimes = 10;
  compareWithExhaustion(options, 100);
  options.alignments = true;
  options.numBuffers = 6;
  compareWithExhaustion(options, 100);
}

/// Instances whose optimum is above the bound and below the heuristics.
TEST(Search, FindsTheOptimumBetween) {
  RandomOptions options;
  options.gaps = true;
  options.numBuffers = 15;
  options.numTimes = 18;
  options.maxSize = 9;
  for (auto [seed, bound, optimum, heuristic] :
       {std::array{868, 34, 35, 37}, {1300, 32, 33, 35}, {1367, 21, 23, 24}}) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Buffers buffers = makeRandom(random, options);
    EXPECT_EQ(getLowerBound(buffers), bound);
    EXPECT_EQ(placeGreedy(buffers).height, heuristic);
    Placement placement = place(buffers);
    expectValid(buffers, placement);
    EXPECT_EQ(placement.height, optimum);
    EXPECT_TRUE(placement.isOptimal);
  }
}

TEST(Search, IsRightAboutWindows) {
  RandomOptions options;
  options.gaps = options.windows = true;
  compareWithExhaustion(options, 100);
}

TEST(Search, PacksCutRectangles) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Buffers buffers;
    cut(random, 0, 1000, 0, 1000, 5, buffers);
    std::shuffle(buffers.begin(), buffers.end(), random);
    SearchOptions options;
    options.capacity = 1000;
    Placement placement = place(buffers, options);
    expectValid(buffers, placement, 1000);
    EXPECT_TRUE(placement.isOptimal);
  }
}

TEST(Search, StopsAtTheCapacity) {
  // Two of 2 and 3 bytes, and one that lives with both: 8 bytes stacked, 5 at
  // the bound.
  Buffers buffers = {{0, 2, 2}, {2, 4, 3}, {1, 3, 2}};
  SearchOptions options;
  EXPECT_EQ(place(buffers, options).height, 5);
  options.capacity = 100;
  expectValid(buffers, place(buffers, options), 100);
  // Out of reach: as low as possible, and known to be so.
  options.capacity = 4;
  Placement placement = place(buffers, options);
  EXPECT_EQ(placement.height, 5);
  EXPECT_TRUE(placement.isOptimal);
}

TEST(Search, IsTheSameEachTime) {
  std::mt19937 random(3);
  RandomOptions options;
  options.numBuffers = 60;
  options.numTimes = 40;
  options.maxSize = 1000;
  options.gaps = options.windows = options.alignments = true;
  Buffers buffers = makeRandom(random, options);
  SearchOptions search;
  search.maxNodes = 5000;
  Placement first = place(buffers, search);
  expectValid(buffers, first);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(place(buffers, search).offsets, first.offsets);
}

TEST(Search, KeepsToItsLimits) {
  std::mt19937 random(11);
  RandomOptions options;
  options.numBuffers = 300;
  options.numTimes = 100;
  options.maxSize = 1000000;
  Buffers buffers = makeRandom(random, options);
  SearchOptions search;
  search.maxNodes = 1;
  expectValid(buffers, place(buffers, search));
  search.maxNodes = INT64_MAX;
  search.maxSeconds = 0.01;
  expectValid(buffers, place(buffers, search));
}

TEST(Greedy, TakesBuffersThatNeedNothing) {
  Buffers buffers = {{0, 5, 0}, {3, 3, 100, 64}, {0, 5, 7, 8}, {1, 2, 1, 8}};
  for (const Placement &placement : {place(buffers), placeGreedy(buffers)}) {
    expectValid(buffers, placement);
    EXPECT_EQ(placement.offsets[0], 0);
    EXPECT_EQ(placement.offsets[1], 0);
    EXPECT_EQ(placement.height, 9);
  }
  EXPECT_EQ(place({}).height, 0);
  EXPECT_TRUE(place({}).isOptimal);
  // In use at no time, but to be addressed as a whole.
  Buffers idle = {{0, 5, 10, 1, {{0, 5}}}};
  EXPECT_EQ(place(idle).height, 10);
  EXPECT_EQ(getLowerBound(idle), 10);
}

TEST(Greedy, PlacesInTheGivenOrder) {
  Buffers buffers = {{0, 2, 10}, {1, 3, 5}, {2, 4, 10, 4}};
  EXPECT_EQ(placeInOrder(buffers, {0, 1, 2}).offsets,
            (std::vector<int64_t>{0, 10, 0}));
  EXPECT_EQ(placeInOrder(buffers, {1, 0, 2}).offsets,
            (std::vector<int64_t>{5, 0, 8}));
}

TEST(Greedy, OrdersAllBuffers) {
  Buffers buffers = {{0, 0, 9}, {5, 9, 1}, {0, 6, 3}, {2, 3, 8}, {1, 4, 0}};
  using Order = std::vector<size_t>;
  EXPECT_EQ(getOrder(buffers, GreedyOrder::Begin), (Order{2, 3, 1, 0, 4}));
  EXPECT_EQ(getOrder(buffers, GreedyOrder::Size), (Order{3, 2, 1, 0, 4}));
  EXPECT_EQ(getOrder(buffers, GreedyOrder::Lifetime), (Order{2, 1, 3, 0, 4}));
  EXPECT_EQ(getOrder(buffers, GreedyOrder::Area), (Order{2, 3, 1, 0, 4}));
  EXPECT_EQ(getOrder(buffers, GreedyOrder::Breadth), (Order{3, 2, 1, 0, 4}));
  EXPECT_EQ(getOrder(buffers, GreedyOrder::Conflicts), (Order{2, 3, 1, 0, 4}));
}

TEST(Greedy, IsValid) {
  std::mt19937 random(5);
  RandomOptions options;
  options.gaps = options.windows = options.alignments = true;
  options.numTimes = 50;
  options.maxSize = 100;
  for (int i = 0; i < 30; ++i) {
    SCOPED_TRACE(i);
    options.numBuffers = 1 + random() % 200;
    Buffers buffers = makeRandom(random, options);
    Placement best = placeGreedy(buffers);
    expectValid(buffers, best);
    for (GreedyOrder order : greedyOrders) {
      Placement placement = placeInOrder(buffers, getOrder(buffers, order));
      expectValid(buffers, placement);
      EXPECT_LE(best.height, placement.height) << getName(order);
    }
  }
}

/// What is used for many items gives the same as the list of conflicts, which
/// is too long for them.
TEST(Greedy, PlacesManyInOrder) {
  std::mt19937 random(6);
  RandomOptions options;
  options.gaps = options.windows = options.alignments = true;
  options.numTimes = 60;
  options.maxSize = 100;
  for (int i = 0; i < 30; ++i) {
    SCOPED_TRACE(i);
    options.numBuffers = 1 + random() % 200;
    Buffers buffers = makeRandom(random, options);
    Instance instance(buffers);
    ConflictGraph graph(instance);
    std::vector<uint32_t> order = orderItems(instance, GreedyOrder::Area);
    std::vector<int64_t> listed, many, byTime;
    int64_t height = FirstFit(instance, graph).place(order, listed);
    EXPECT_EQ(placeManyInOrder(instance, order, many), height);
    EXPECT_EQ(many, listed);
    placeByTime(instance, byTime);
    expectValid(buffers, instance.makePlacement(byTime));
  }
}

TEST(Greedy, PlacesMany) {
  std::mt19937 random(4);
  RandomOptions options;
  options.numTimes = 5000;
  options.numBuffers = 6000;
  options.maxSize = 10000;
  Buffers buffers = makeRandom(random, options);
  ASSERT_GT(ConflictGraph::count(Instance(buffers)), maxListedConflicts);
  Placement placement = place(buffers);
  expectValid(buffers, placement);
  EXPECT_LE(placement.height, 1.05 * getLowerBound(buffers));
  expectValid(buffers,
              placeInOrder(buffers, getOrder(buffers, GreedyOrder::Lifetime)));
}

TEST(Check, SaysWhatIsWrong) {
  auto fault = [](const Buffer &buffer) {
    return check({{0, 1, 1}, buffer}).value_or("");
  };
  EXPECT_EQ(fault({0, 1, 1}), "");
  EXPECT_EQ(fault({1, 0, 1}),
            "expected buffer 1 to begin before its end, but got [1, 0)");
  EXPECT_EQ(fault({0, 1, -1}),
            "expected the size of buffer 1 to be 0 or more, but got -1");
  for (int64_t alignment : {0, 3, -4})
    EXPECT_EQ(fault({0, 1, 1, alignment}),
              "expected the alignment of buffer 1 to be a power of two, but "
              "got " +
                  std::to_string(alignment));
  EXPECT_NE(fault({INT64_MIN, INT64_MAX, 1}), "");
  EXPECT_EQ(fault({0, 1, INT64_MAX}),
            "expected the sizes and alignments to add up to less than 2^62, "
            "but got too much at buffer 1");
  // As much as there may be, and a byte more, which once went on forever.
  EXPECT_EQ(fault({0, 1, (int64_t(1) << 62) - 2}), "");
  EXPECT_NE(fault({0, 1, (int64_t(1) << 62) - 1}), "");
  EXPECT_NE(fault({0, 1, INT64_MAX / 2 + 2, int64_t(1) << 62}), "");
  EXPECT_NE(fault({0, 1, 1, INT64_MIN}), "");
  EXPECT_EQ(fault({2, 5, 8, 1, {{1, 3}}}),
            "expected the gaps of buffer 1 in its live range [2, 5), but got "
            "[1, 3)");
  EXPECT_EQ(fault({2, 5, 8, 1, {{4, 3}}}),
            "expected a gap of buffer 1 to begin before its end, but got [4, "
            "3)");
  EXPECT_EQ(fault({2, 5, 8, 1, {{3, 5}, {2, 4}}}),
            "expected the gaps of buffer 1 to be apart, but got two at time 3");
  EXPECT_EQ(fault({2, 5, 8, 1, {{3, 5, 4, 9}}}),
            "expected a gap of buffer 1 to leave bytes of its 8 in use, but "
            "got [4, 9)");
}
