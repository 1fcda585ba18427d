//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SampleReports.h"
#include "gtest/gtest.h"

using namespace mlir::pol;

/// What getLiveSetBound says, found step by step.
static int64_t countEveryStep(const ReportedSpace &space, int64_t steps) {
  int64_t most = 0;
  for (int64_t step = 0; step < steps; ++step) {
    int64_t bytes = 0;
    for (const ReportedBuffer &buffer : space.buffers)
      if (buffer.begin <= step && (buffer.end < 0 || step < buffer.end))
        bytes += buffer.keptFrom >= 0 && step >= buffer.keptFrom
                     ? buffer.keptBytes
                     : buffer.bytes;
    most = std::max(most, bytes);
  }
  return most;
}

TEST(LiveSet, IsTheMostOfAllSteps) {
  for (unsigned size : {0, 1, 2, 5, 50, 500}) {
    MemoryReport report = makeSampleReport(size);
    ReportedSpace &space = report.spaces[0];
    EXPECT_EQ(getLiveSetBound(space), countEveryStep(space, space.steps));
    // Some shrink, some stay.
    for (size_t i = 0; i < space.buffers.size(); ++i) {
      ReportedBuffer &buffer = space.buffers[i];
      if (i % 3 == 0) {
        buffer.keptFrom = (buffer.begin + buffer.end) / 2;
        buffer.keptBytes = buffer.bytes / 4;
      } else if (i % 7 == 1) {
        buffer.end = -1;
      }
    }
    EXPECT_EQ(getLiveSetBound(space), countEveryStep(space, space.steps));
  }
}

TEST(LiveSet, CountsLivesOneByOne) {
  ReportedSpace space;
  ReportedBuffer buffer;
  buffer.bytes = 10;
  buffer.begin = 0;
  buffer.end = 6;
  buffer.times = 2;
  space.buffers = {buffer, buffer};
  EXPECT_EQ(getLiveSetBound(space), 20);
  space.buffers[0].lives = {{-1, 0, 1}, {-1, 4, 5}};
  space.buffers[1].lives = {{-1, 1, 2}, {-1, 5, 6}};
  EXPECT_EQ(getLiveSetBound(space), 10);
}

TEST(LiveSet, DoesNotWrap) {
  ReportedSpace space;
  ReportedBuffer buffer;
  buffer.bytes = INT64_MAX / 2 + 1;
  space.buffers = {buffer, buffer, buffer};
  EXPECT_EQ(getLiveSetBound(space), INT64_MAX);
}

TEST(LastStep, IsAfterAllThatIsMentioned) {
  ReportedSpace space;
  EXPECT_EQ(getLastStep(space), 0);
  ReportedBuffer buffer;
  buffer.begin = 7;
  space.buffers = {buffer};
  EXPECT_EQ(getLastStep(space), 8);
  space.buffers[0].end = 12;
  EXPECT_EQ(getLastStep(space), 12);
  space.steps = 20;
  EXPECT_EQ(getLastStep(space), 20);
}
