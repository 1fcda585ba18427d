//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Runtime/Arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

uintptr_t asInteger(const void *address) {
  return reinterpret_cast<uintptr_t>(address);
}

/// What an arena holds besides memory, to see that a call left it alone.
std::vector<int64_t> stateOf(const pol_arena &arena) {
  return {static_cast<int64_t>(asInteger(arena.base)),
          arena.capacity,
          arena.alignment,
          arena.offset,
          arena.peak,
          arena.epoch};
}

class ArenaTest : public ::testing::Test {
protected:
  static constexpr int64_t capacity = 4096;

  void SetUp() override {
    ASSERT_EQ(pol_arena_init(&arena, slab, capacity, 0), POL_OK);
  }

  /// Carves at the default alignment.
  char *carve(int64_t bytes) {
    return static_cast<char *>(pol_arena_carve(&arena, bytes, 0));
  }

  void expectRefused(int64_t bytes, int64_t alignment, pol_status code) {
    std::vector<int64_t> before = stateOf(arena);
    EXPECT_EQ(pol_arena_carve(&arena, bytes, alignment), nullptr)
        << bytes << " at " << alignment;
    EXPECT_EQ(pol_last_error()->code, code) << bytes << " at " << alignment;
    EXPECT_EQ(stateOf(arena), before) << bytes << " at " << alignment;
  }

  void expectStale(pol_mark mark) {
    std::vector<int64_t> before = stateOf(arena);
    EXPECT_EQ(pol_arena_retract(&arena, mark), POL_STALE_MARK)
        << mark.offset << " of " << mark.epoch;
    EXPECT_EQ(pol_last_error()->code, POL_STALE_MARK);
    EXPECT_EQ(stateOf(arena), before) << mark.offset << " of " << mark.epoch;
  }

  alignas(8192) char slab[8192];
  pol_arena arena;
};

//===----------------------------------------------------------------------===//
// Initialization
//===----------------------------------------------------------------------===//

TEST_F(ArenaTest, StartsEmpty) {
  EXPECT_EQ(arena.base, slab);
  EXPECT_EQ(arena.capacity, capacity);
  EXPECT_EQ(arena.alignment, POL_DEFAULT_ALIGNMENT);
  EXPECT_EQ(arena.offset, 0);
  EXPECT_EQ(pol_arena_watermark(&arena), 0);
  EXPECT_EQ(pol_arena_epoch(&arena), 0);
  EXPECT_EQ(arena.space.observer, nullptr);
  EXPECT_STREQ(arena.space.ops->name, "arena");
}

TEST_F(ArenaTest, InitRefusesBadArguments) {
  ASSERT_NE(carve(100), nullptr);
  std::vector<int64_t> before = stateOf(arena);
  for (int64_t alignment : {INT64_C(3), INT64_C(-1), INT64_C(-256), INT64_C(96),
                            INT64_MIN, INT64_MAX})
    EXPECT_EQ(pol_arena_init(&arena, slab, 64, alignment), POL_INVALID_ARGUMENT)
        << alignment;
  EXPECT_EQ(pol_arena_init(&arena, slab, -1, 0), POL_INVALID_SIZE);
  EXPECT_EQ(pol_arena_init(&arena, slab, INT64_MIN, 0), POL_INVALID_SIZE);
  EXPECT_EQ(pol_arena_init(&arena, nullptr, 1, 0), POL_INVALID_ARGUMENT);
  EXPECT_EQ(pol_arena_init(nullptr, slab, 64, 0), POL_INVALID_ARGUMENT);
  EXPECT_EQ(stateOf(arena), before);
}

TEST_F(ArenaTest, InitRefusesSlabBeyondLastAddress) {
  std::vector<int64_t> before = stateOf(arena);
  auto *high = reinterpret_cast<void *>(UINTPTR_MAX - 100);
  EXPECT_EQ(pol_arena_init(&arena, high, 1000, 0), POL_INVALID_ARGUMENT);
  EXPECT_EQ(pol_arena_init(&arena, high, 10, 0), POL_INVALID_ARGUMENT);
  EXPECT_EQ(stateOf(arena), before);
}

TEST_F(ArenaTest, NullArenaIsRefusedEverywhere) {
  EXPECT_EQ(pol_arena_carve(nullptr, 1, 0), nullptr);
  EXPECT_EQ(pol_last_error()->code, POL_INVALID_ARGUMENT);
  EXPECT_EQ(pol_arena_retract(nullptr, {0, 0}), POL_INVALID_ARGUMENT);
  EXPECT_EQ(pol_arena_mark(nullptr).offset, -1);
  EXPECT_EQ(pol_arena_mark(nullptr).epoch, -1);
  EXPECT_EQ(pol_arena_watermark(nullptr), -1);
  EXPECT_EQ(pol_arena_epoch(nullptr), -1);
  pol_arena_reset(nullptr);
}

//===----------------------------------------------------------------------===//
// Capacity
//===----------------------------------------------------------------------===//

TEST_F(ArenaTest, FillsToTheLastByteAndNeverGrows) {
  ASSERT_EQ(carve(capacity), slab);
  std::memset(slab, 1, capacity);
  EXPECT_EQ(arena.offset, capacity);
  expectRefused(1, 0, POL_OUT_OF_MEMORY);
  pol_arena_reset(&arena);
  expectRefused(capacity + 1, 0, POL_OUT_OF_MEMORY);
  EXPECT_EQ(carve(capacity), slab);
}

TEST_F(ArenaTest, AlignmentPaddingCountsAgainstCapacity) {
  ASSERT_EQ(carve(1), slab);
  expectRefused(capacity - 255, 0, POL_OUT_OF_MEMORY);
  EXPECT_EQ(carve(capacity - 256), slab + 256);
}

TEST_F(ArenaTest, PaddingAloneMayFillTheSlab) {
  ASSERT_EQ(pol_arena_init(&arena, slab, 300, 0), POL_OK);
  ASSERT_EQ(carve(257), slab);
  // The next aligned address is past the end.
  expectRefused(1, 0, POL_OUT_OF_MEMORY);
  EXPECT_EQ(pol_last_error()->available, 0);
  EXPECT_EQ(arena.space.ops->available(&arena.space), 0);
}

TEST_F(ArenaTest, EverySlabMisalignmentFitsTheSameFromBase) {
  for (int64_t shift = 0; shift <= 512; ++shift) {
    int64_t skipped = (256 - shift % 256) % 256;
    ASSERT_EQ(pol_arena_init(&arena, slab + shift, skipped + 1000, 0), POL_OK);
    ASSERT_EQ(arena.base, slab + shift + skipped) << shift;
    ASSERT_EQ(arena.capacity, 1000) << shift;
    ASSERT_EQ(carve(10), arena.base) << shift;
    ASSERT_EQ(carve(300), arena.base + 256) << shift;
    expectRefused(233, 0, POL_OUT_OF_MEMORY);
    ASSERT_EQ(carve(232), arena.base + 768) << shift;
    ASSERT_EQ(arena.offset, 1000) << shift;
  }
}

TEST_F(ArenaTest, SmallAlignmentStillHasBaseAtMultipleOf256) {
  for (int64_t alignment = 1; alignment <= 128; alignment *= 2)
    for (int64_t shift : {1, 8, 64, 255}) {
      ASSERT_EQ(pol_arena_init(&arena, slab + shift, 512, alignment), POL_OK);
      EXPECT_EQ(arena.base, slab + 256);
      EXPECT_EQ(arena.capacity, 256 + shift);
      EXPECT_EQ(carve(1), slab + 256);
      EXPECT_EQ(carve(1), slab + 256 + alignment);
    }
}

TEST_F(ArenaTest, LargeAlignmentMovesBase) {
  ASSERT_EQ(pol_arena_init(&arena, slab + 1, 8000, 4096), POL_OK);
  EXPECT_EQ(arena.base, slab + 4096);
  EXPECT_EQ(arena.capacity, 8001 - 4096);
  expectRefused(8002 - 4096, 0, POL_OUT_OF_MEMORY);
  EXPECT_EQ(carve(8001 - 4096), slab + 4096);
}

TEST_F(ArenaTest, SlabSmallerThanItsAlignmentCostHasNoCapacity) {
  ASSERT_EQ(pol_arena_init(&arena, slab + 1, 200, 0), POL_OK);
  EXPECT_EQ(arena.capacity, 0);
  expectRefused(1, 0, POL_OUT_OF_MEMORY);
  char *none = carve(0);
  EXPECT_NE(none, nullptr);
  EXPECT_EQ(asInteger(none) % 256, 0u);
}

TEST_F(ArenaTest, NullSlabHasNoCapacity) {
  ASSERT_EQ(pol_arena_init(&arena, nullptr, 0, 0), POL_OK);
  EXPECT_EQ(arena.capacity, 0);
  expectRefused(1, 0, POL_OUT_OF_MEMORY);
  expectRefused(INT64_MAX, 0, POL_OUT_OF_MEMORY);
  EXPECT_NE(carve(0), nullptr);
  EXPECT_EQ(asInteger(pol_arena_carve(&arena, 0, 4096)) % 4096, 0u);
  EXPECT_EQ(arena.offset, 0);
}

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

TEST_F(ArenaTest, AlignmentIsOfTheAddress) {
  for (int64_t shift : {0, 1, 7, 100, 255}) {
    ASSERT_EQ(pol_arena_init(&arena, slab + shift, 4000, 0), POL_OK);
    for (int64_t bytes : {1, 255, 256, 257})
      EXPECT_EQ(asInteger(carve(bytes)) % 256, 0u) << shift << " " << bytes;
  }
}

TEST_F(ArenaTest, LargerAlignmentOfACarveIsObeyedAtTheAddress) {
  // The base is aligned to 256 but not to 1024: the offset is not what counts.
  ASSERT_EQ(pol_arena_init(&arena, slab + 256, 4096, 0), POL_OK);
  ASSERT_EQ(arena.base, slab + 256);
  EXPECT_EQ(pol_arena_carve(&arena, 10, 1024), slab + 1024);
  EXPECT_EQ(arena.offset, 1024 - 256 + 10);
  EXPECT_EQ(carve(10), slab + 1280);
  expectRefused(1, 8192, POL_OUT_OF_MEMORY);
  expectRefused(1, INT64_C(1) << 62, POL_OUT_OF_MEMORY);
  EXPECT_EQ(carve(10), slab + 1536);
}

TEST_F(ArenaTest, SmallerAlignmentOfACarveChangesNothing) {
  ASSERT_EQ(carve(1), slab);
  EXPECT_EQ(pol_arena_carve(&arena, 1, 1), slab + 256);
  EXPECT_EQ(pol_arena_carve(&arena, 1, 64), slab + 512);
  EXPECT_EQ(pol_arena_carve(&arena, 1, 256), slab + 768);
}

TEST_F(ArenaTest, AlignmentThatIsNoPowerOfTwoIsRefused) {
  for (int64_t alignment : {INT64_C(3), INT64_C(-1), INT64_C(-2), INT64_C(257),
                            INT64_MIN, INT64_MAX}) {
    expectRefused(16, alignment, POL_INVALID_ARGUMENT);
    expectRefused(0, alignment, POL_INVALID_ARGUMENT);
  }
  EXPECT_EQ(carve(16), slab);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

TEST_F(ArenaTest, NegativeSizesAreRefused) {
  ASSERT_NE(carve(1), nullptr);
  for (int64_t bytes :
       {INT64_C(-1), INT64_C(-255), INT64_C(-256), INT64_MIN, INT64_MIN + 1}) {
    expectRefused(bytes, 0, POL_INVALID_SIZE);
    expectRefused(bytes, 1, POL_INVALID_SIZE);
  }
  EXPECT_EQ(carve(1), slab + 256);
}

TEST_F(ArenaTest, SizesWhoseEndOverflowsAreRefused) {
  for (bool isEmpty : {true, false}) {
    ASSERT_NE(carve(isEmpty ? 0 : 1), nullptr);
    for (int64_t bytes : {INT64_MAX, INT64_MAX - 255, INT64_MAX - 256,
                          INT64_MAX - 257, INT64_MAX / 2}) {
      expectRefused(bytes, 0, POL_OUT_OF_MEMORY);
      EXPECT_EQ(pol_last_error()->wanted, bytes);
    }
  }
  EXPECT_EQ(carve(1), slab + 256);
}

TEST_F(ArenaTest, OffsetsNearTheLargestDoNotOverflow) {
  // Never touched, only counted: the slab is not that large.
  ASSERT_EQ(pol_arena_init(&arena, slab, INT64_MAX, 0), POL_OK);
  ASSERT_EQ(arena.capacity, INT64_MAX);
  ASSERT_NE(carve(INT64_MAX - 100), nullptr);
  // The next multiple of 256 is beyond INT64_MAX.
  expectRefused(1, 0, POL_OUT_OF_MEMORY);
  expectRefused(INT64_MAX, 0, POL_OUT_OF_MEMORY);
  EXPECT_EQ(pol_last_error()->available, 0);
}

TEST_F(ArenaTest, ZeroBytesAlwaysSucceedAndChangeNothing) {
  for (int64_t used : {0, 1, 4095, 4096}) {
    pol_arena_reset(&arena);
    ASSERT_NE(carve(used), nullptr);
    std::vector<int64_t> before = stateOf(arena);
    for (int64_t alignment : {INT64_C(0), INT64_C(1), INT64_C(256),
                              INT64_C(4096), INT64_C(1) << 62}) {
      void *address = pol_arena_carve(&arena, 0, alignment);
      ASSERT_NE(address, nullptr);
      int64_t rule = std::max<int64_t>(alignment, 256);
      EXPECT_EQ(asInteger(address) % static_cast<uintptr_t>(rule), 0u);
      EXPECT_EQ(stateOf(arena), before);
    }
  }
}

TEST_F(ArenaTest, FailedCarveLeavesLaterAddressesAlone) {
  pol_arena other;
  alignas(256) static char otherSlab[capacity];
  ASSERT_EQ(pol_arena_init(&other, otherSlab, capacity, 0), POL_OK);
  for (int64_t bytes : {100, 700, 1, 2000}) {
    expectRefused(capacity + 1, 0, POL_OUT_OF_MEMORY);
    expectRefused(-1, 0, POL_INVALID_SIZE);
    expectRefused(1, 3, POL_INVALID_ARGUMENT);
    auto *expected = static_cast<char *>(pol_arena_carve(&other, bytes, 0));
    EXPECT_EQ(carve(bytes) - arena.base, expected - other.base);
  }
  EXPECT_EQ(arena.peak, other.peak);
}

TEST_F(ArenaTest, FailureSaysWhatWasWantedAndAvailable) {
  ASSERT_NE(carve(1000), nullptr);
  expectRefused(5000, 0, POL_OUT_OF_MEMORY);
  EXPECT_EQ(pol_last_error()->wanted, 5000);
  EXPECT_EQ(pol_last_error()->available, capacity - 1024);
  // A larger alignment leaves less.
  expectRefused(3000, 2048, POL_OUT_OF_MEMORY);
  EXPECT_EQ(pol_last_error()->available, capacity - 2048);
  EXPECT_EQ(arena.space.ops->available(&arena.space), capacity - 1024);
}

//===----------------------------------------------------------------------===//
// Mark, retract, reset
//===----------------------------------------------------------------------===//

TEST_F(ArenaTest, IdenticalSequencesGiveIdenticalAddresses) {
  std::vector<void *> first;
  for (int round = 0; round < 3; ++round) {
    std::vector<void *> addresses;
    for (int64_t bytes : {3, 0, 500, 256, 1})
      addresses.push_back(carve(bytes));
    if (round == 0)
      first = addresses;
    EXPECT_EQ(addresses, first);
    if (round > 0)
      pol_arena_reset(&arena);
    ASSERT_EQ(pol_arena_retract(&arena, {0, arena.epoch}), POL_OK);
  }
}

TEST_F(ArenaTest, RetractGivesBackWhatCameAfterTheMark) {
  ASSERT_EQ(carve(100), slab);
  pol_mark outer = pol_arena_mark(&arena);
  EXPECT_EQ(outer.offset, 100);
  EXPECT_EQ(outer.epoch, 0);
  ASSERT_EQ(carve(100), slab + 256);
  pol_mark inner = pol_arena_mark(&arena);
  ASSERT_EQ(carve(1000), slab + 512);
  EXPECT_EQ(pol_arena_retract(&arena, inner), POL_OK);
  EXPECT_EQ(arena.offset, 356);
  EXPECT_EQ(pol_arena_retract(&arena, outer), POL_OK);
  EXPECT_EQ(arena.offset, 100);
  EXPECT_EQ(pol_arena_epoch(&arena), 0);
  EXPECT_EQ(carve(1), slab + 256);
}

TEST_F(ArenaTest, RetractToTheSameMarkTwiceDoesNothing) {
  pol_mark mark = pol_arena_mark(&arena);
  ASSERT_NE(carve(100), nullptr);
  EXPECT_EQ(pol_arena_retract(&arena, mark), POL_OK);
  std::vector<int64_t> before = stateOf(arena);
  EXPECT_EQ(pol_arena_retract(&arena, mark), POL_OK);
  EXPECT_EQ(stateOf(arena), before);
}

TEST_F(ArenaTest, MarkAlreadyRetractedPastIsStale) {
  pol_mark outer = pol_arena_mark(&arena);
  ASSERT_NE(carve(100), nullptr);
  pol_mark inner = pol_arena_mark(&arena);
  ASSERT_NE(carve(100), nullptr);
  ASSERT_EQ(pol_arena_retract(&arena, outer), POL_OK);
  expectStale(inner);
}

TEST_F(ArenaTest, MarkFromBeforeAResetIsStale) {
  pol_mark empty = pol_arena_mark(&arena);
  ASSERT_NE(carve(100), nullptr);
  pol_mark mark = pol_arena_mark(&arena);
  pol_arena_reset(&arena);
  expectStale(mark);
  expectStale(empty);
  ASSERT_NE(carve(2000), nullptr);
  expectStale(mark);
  expectStale(empty);
}

TEST_F(ArenaTest, MarkThatNeverWasIsStale) {
  ASSERT_NE(carve(100), nullptr);
  expectStale({101, 0});
  expectStale({-1, 0});
  expectStale({0, 1});
  expectStale({0, -1});
  expectStale({INT64_MAX, 0});
  expectStale({INT64_MIN, 0});
  expectStale({-1, -1});
}

TEST_F(ArenaTest, ResetEmptiesAndAdvancesTheEpoch) {
  ASSERT_NE(carve(100), nullptr);
  pol_arena_reset(&arena);
  EXPECT_EQ(arena.offset, 0);
  EXPECT_EQ(pol_arena_epoch(&arena), 1);
  pol_arena_reset(&arena);
  EXPECT_EQ(pol_arena_epoch(&arena), 2);
  EXPECT_EQ(carve(1), slab);
  EXPECT_EQ(pol_arena_mark(&arena).epoch, 2);
}

TEST_F(ArenaTest, WatermarkIsThePeakAndSurvives) {
  ASSERT_NE(carve(1000), nullptr);
  EXPECT_EQ(pol_arena_watermark(&arena), 1000);
  ASSERT_EQ(pol_arena_retract(&arena, {0, 0}), POL_OK);
  EXPECT_EQ(pol_arena_watermark(&arena), 1000);
  ASSERT_NE(carve(10), nullptr);
  EXPECT_EQ(pol_arena_watermark(&arena), 1000);
  pol_arena_reset(&arena);
  EXPECT_EQ(pol_arena_watermark(&arena), 1000);
  ASSERT_NE(carve(1001), nullptr);
  EXPECT_EQ(pol_arena_watermark(&arena), 1001);
  expectRefused(capacity, 0, POL_OUT_OF_MEMORY);
  EXPECT_EQ(pol_arena_watermark(&arena), 1001);
}

TEST_F(ArenaTest, OperationsOfTheSpaceAreTheArenas) {
  pol_space *space = &arena.space;
  const pol_space_ops *ops = space->ops;
  EXPECT_EQ(ops->available(space), capacity);
  EXPECT_EQ(ops->carve(space, 10, 0), slab);
  EXPECT_EQ(ops->carve(space, 10, 512), slab + 512);
  EXPECT_EQ(ops->carve(space, -1, 0), nullptr);
  EXPECT_EQ(ops->carve(space, capacity, 0), nullptr);
  EXPECT_EQ(ops->mark(space).offset, 522);
  EXPECT_EQ(ops->retract(space, {523, 0}), POL_STALE_MARK);
  EXPECT_EQ(ops->retract(space, {10, 0}), POL_OK);
  EXPECT_EQ(ops->watermark(space), 522);
  ops->reset(space);
  EXPECT_EQ(arena.epoch, 1);
  EXPECT_EQ(ops->release, nullptr);
}

//===----------------------------------------------------------------------===//
// Against a model
//===----------------------------------------------------------------------===//

/// The arena once more, by counting: it tries one address after the other.
struct Model {
  int64_t base;
  int64_t capacity;
  int64_t alignment;
  int64_t offset = 0;
  int64_t peak = 0;
  int64_t epoch = 0;

  /// The address, or 0 on failure.
  int64_t carve(int64_t bytes, int64_t ownAlignment) {
    int64_t address = base + offset;
    while (address % alignment != 0 ||
           (ownAlignment != 0 && address % ownAlignment != 0))
      ++address;
    if (bytes == 0)
      return address;
    if (bytes < 0 || bytes > capacity || address + bytes > base + capacity)
      return 0;
    offset = address + bytes - base;
    peak = std::max(peak, offset);
    return address;
  }

  bool retract(pol_mark mark) {
    if (mark.epoch != epoch || mark.offset > offset)
      return false;
    offset = mark.offset;
    return true;
  }
};

class ArenaRandomTest : public ::testing::Test {
protected:
  int64_t below(int64_t end) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(end));
  }

  void startOver() {
    int64_t alignment = INT64_C(1) << below(12);
    ASSERT_EQ(pol_arena_init(&arena, slab + below(1024), 40000, alignment),
              POL_OK);
    model = Model{static_cast<int64_t>(asInteger(arena.base)), arena.capacity,
                  alignment};
    marks.clear();
  }

  void carveInBoth() {
    static const int64_t odd[] = {0, -1, INT64_MIN, INT64_MAX, INT64_MAX - 255};
    int64_t bytes = below(10) == 0 ? odd[below(5)] : below(3000);
    int64_t own = below(4) == 0 ? INT64_C(1) << below(13) : 0;
    int64_t expected = model.carve(bytes, own);
    void *address = pol_arena_carve(&arena, bytes, own);
    ASSERT_EQ(static_cast<int64_t>(asInteger(address)), expected);
    ++(address ? carves : refusals);
  }

  void retractBoth() {
    if (marks.empty())
      return;
    // Marks are kept: many are stale by the time they are used.
    int64_t count = static_cast<int64_t>(marks.size());
    int64_t age = below(std::min<int64_t>(8, count));
    pol_mark mark = marks[static_cast<size_t>(count - 1 - age)];
    bool expected = model.retract(mark);
    ASSERT_EQ(pol_arena_retract(&arena, mark),
              expected ? POL_OK : POL_STALE_MARK);
    ++(expected ? retracts : stale);
  }

  void step() {
    int64_t choice = below(100);
    if (choice < 60) {
      carveInBoth();
    } else if (choice < 80) {
      marks.push_back(pol_arena_mark(&arena));
    } else if (choice < 98) {
      retractBoth();
    } else {
      pol_arena_reset(&arena);
      model.offset = 0;
      ++model.epoch;
    }
    ASSERT_EQ(arena.offset, model.offset);
    ASSERT_EQ(pol_arena_mark(&arena).offset, model.offset);
    ASSERT_EQ(pol_arena_watermark(&arena), model.peak);
    ASSERT_EQ(pol_arena_epoch(&arena), model.epoch);
  }

  alignas(4096) char slab[65536];
  std::mt19937 random{20240607};
  pol_arena arena;
  Model model{};
  std::vector<pol_mark> marks;
  int64_t refusals = 0, carves = 0, stale = 0, retracts = 0;
};

TEST_F(ArenaRandomTest, AgreesWithAModelOver100000Operations) {
  for (int i = 0; i < 100000; ++i) {
    if (i % 5000 == 0)
      startOver();
    step();
    ASSERT_FALSE(HasFatalFailure()) << "at operation " << i;
  }
  // All four outcomes were met often, or the test tests little.
  EXPECT_GT(std::min({refusals, carves, stale, retracts}), 1000);
}

} // namespace
