//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The validator, compared with what each byte is used for.

#include "pol/Analysis/Placement/Validate.h"
#include "TestSupport.h"
#include "gtest/gtest.h"

using namespace placement_test;

TEST(Validate, SaysWhatIsWrong) {
  Buffers buffers = {{0, 4, 8}, {2, 6, 8, 4}};
  auto fault = [&](std::vector<int64_t> offsets, int64_t capacity = -1) {
    return validate(buffers, offsets, capacity).value_or("");
  };
  EXPECT_EQ(fault({0, 8}), "");
  EXPECT_EQ(fault({0, 8}, 16), "");
  EXPECT_EQ(fault({0, 8}, 15),
            "expected buffer 1 to end at most at 15, but got bytes [8, 16)");
  EXPECT_EQ(fault({0, 4}), "expected buffers 0 and 1 to be apart, but got both "
                           "in bytes [4, 8) during [2, 4)");
  EXPECT_EQ(fault({0, 10}), "expected buffer 1 at a multiple of 4, but got 10");
  EXPECT_EQ(fault({-8, 0}),
            "expected buffer 0 at an offset of 0 or more, but got -8");
  EXPECT_EQ(fault({0, INT64_MAX - 7}),
            "expected the end of buffer 1 in 64 bits, but got "
            "9223372036854775800 + 8");
  EXPECT_EQ(fault({0}), "expected 2 offsets, but got 1");
  EXPECT_EQ(validate(buffers, Placement{{0, 8}, 15, false}).value_or(""),
            "expected a height of 16, but got 15");
}

TEST(Validate, LeavesWhatTakesNothingAlone) {
  Buffers buffers = {{0, 4, 8}, {2, 2, 8}, {0, 4, 0}};
  EXPECT_FALSE(validate(buffers, {0, 0, 4}, 8));
}

/// As the validator has it, but by looking at each two buffers byte by byte.
static bool isValid(const Buffers &buffers,
                    const std::vector<int64_t> &offsets) {
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (overlap(buffers[i], offsets[i], buffers[j], offsets[j]))
        return false;
  return true;
}

TEST(Validate, AgreesWithEachByte) {
  std::mt19937 random(1);
  RandomOptions options;
  options.numTimes = 10;
  options.maxSize = 6;
  options.gaps = true;
  int numValid = 0, numRuns = 3000;
  for (int i = 0; i < numRuns; ++i) {
    SCOPED_TRACE(i);
    options.windows = i % 2;
    options.numBuffers = 2 + i % 5;
    Buffers buffers = makeRandom(random, options);
    std::vector<int64_t> offsets;
    for (size_t j = 0; j < buffers.size(); ++j)
      offsets.push_back(pick(random, 0, 14));
    bool expected = isValid(buffers, offsets);
    EXPECT_EQ(!validate(buffers, offsets), expected);
    numValid += expected;
  }
  // Enough of both.
  EXPECT_GT(numValid, numRuns / 5);
  EXPECT_LT(numValid, numRuns * 4 / 5);
}

/// Each buffer of a placement, moved into another one, is found out.
TEST(Validate, FindsEachBufferThatMoves) {
  std::mt19937 random(2);
  RandomOptions options;
  options.numBuffers = 40;
  options.numTimes = 30;
  options.maxSize = 50;
  Buffers buffers = makeRandom(random, options);
  Placement placement = place(buffers);
  int numMoved = 0;
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = 0; j < buffers.size(); ++j) {
      std::vector<int64_t> offsets = placement.offsets;
      offsets[i] = offsets[j];
      if (i == j || !overlap(buffers[i], offsets[i], buffers[j], offsets[j]))
        continue;
      ++numMoved;
      EXPECT_TRUE(validate(buffers, offsets));
    }
  EXPECT_GT(numMoved, 100);
}
