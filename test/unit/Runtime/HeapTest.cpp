//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Runtime/Heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

// AddressSanitizer would abort where malloc returns null, which is what the
// tests of impossible sizes are about.
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}

namespace {

uintptr_t asInteger(const void *address) {
  return reinterpret_cast<uintptr_t>(address);
}

std::vector<int64_t> stateOf(const pol_heap &heap) {
  return {static_cast<int64_t>(asInteger(heap.last)),
          heap.limit,
          heap.live,
          heap.peak,
          heap.allocations,
          heap.frees,
          heap.sequence,
          heap.epoch};
}

class HeapTest : public ::testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(pol_heap_init(&heap, -1), POL_OK); }
  void TearDown() override {
    pol_heap_destroy(&heap);
    EXPECT_EQ(heap.allocations, heap.frees);
    EXPECT_EQ(heap.live, 0);
    EXPECT_EQ(heap.last, nullptr);
  }

  /// Carves and, so that a sanitizer sees it, writes every byte.
  void *carve(int64_t bytes, int64_t alignment = 0) {
    void *address = heap.space.ops->carve(&heap.space, bytes, alignment);
    if (address && bytes > 0)
      std::memset(address, 0x5A, static_cast<size_t>(bytes));
    return address;
  }

  void limitTo(int64_t limit) {
    pol_heap_destroy(&heap);
    ASSERT_EQ(pol_heap_init(&heap, limit), POL_OK);
  }

  pol_mark mark() { return pol_space_mark(&heap.space); }
  pol_status retract(pol_mark mark) {
    return heap.space.ops->retract(&heap.space, mark);
  }
  void release(void *address) { pol_space_release(&heap.space, address); }

  void expectRefused(int64_t bytes, int64_t alignment, pol_status code) {
    std::vector<int64_t> before = stateOf(heap);
    EXPECT_EQ(heap.space.ops->carve(&heap.space, bytes, alignment), nullptr)
        << bytes << " at " << alignment;
    EXPECT_EQ(pol_last_error()->code, code) << bytes << " at " << alignment;
    EXPECT_EQ(stateOf(heap), before) << bytes << " at " << alignment;
  }

  void expectStale(pol_mark mark) {
    std::vector<int64_t> before = stateOf(heap);
    EXPECT_EQ(retract(mark), POL_STALE_MARK)
        << mark.offset << " of " << mark.epoch;
    EXPECT_EQ(pol_last_error()->code, POL_STALE_MARK);
    EXPECT_EQ(stateOf(heap), before) << mark.offset << " of " << mark.epoch;
  }

  pol_heap heap;
};

//===----------------------------------------------------------------------===//
// Initialization and destruction
//===----------------------------------------------------------------------===//

TEST_F(HeapTest, StartsEmpty) {
  EXPECT_STREQ(heap.space.ops->name, "heap");
  EXPECT_EQ(stateOf(heap), (std::vector<int64_t>{0, -1, 0, 0, 0, 0, 0, 0}));
}

TEST_F(HeapTest, InitRefusesBadArguments) {
  ASSERT_NE(carve(10), nullptr);
  std::vector<int64_t> before = stateOf(heap);
  EXPECT_EQ(pol_heap_init(nullptr, -1), POL_INVALID_ARGUMENT);
  EXPECT_EQ(pol_heap_init(&heap, -2), POL_INVALID_ARGUMENT);
  EXPECT_EQ(pol_heap_init(&heap, INT64_MIN), POL_INVALID_ARGUMENT);
  EXPECT_EQ(stateOf(heap), before);
}

TEST_F(HeapTest, DestroyFreesEverythingAndMayBeRepeated) {
  for (int i = 0; i < 10; ++i)
    ASSERT_NE(carve(100), nullptr);
  pol_heap_destroy(&heap);
  EXPECT_EQ(heap.frees, 10);
  EXPECT_EQ(heap.live, 0);
  pol_heap_destroy(&heap);
  EXPECT_EQ(heap.frees, 10);
  pol_heap_destroy(nullptr);
  pol_heap zeroed = {};
  pol_heap_destroy(&zeroed);
  EXPECT_EQ(zeroed.frees, 0);
}

TEST_F(HeapTest, MayBeInitializedAgainAfterDestroy) {
  ASSERT_NE(carve(100), nullptr);
  pol_heap_destroy(&heap);
  ASSERT_EQ(pol_heap_init(&heap, 50), POL_OK);
  EXPECT_EQ(heap.allocations, 0);
  expectRefused(51, 0, POL_OUT_OF_MEMORY);
  EXPECT_NE(carve(50), nullptr);
}

//===----------------------------------------------------------------------===//
// Carving
//===----------------------------------------------------------------------===//

TEST_F(HeapTest, AddressesAreAlignedTo64OrAsAsked) {
  for (int64_t alignment = 1; alignment <= 65536; alignment *= 2)
    for (int64_t bytes : {1, 63, 64, 1000}) {
      int64_t rule = std::max<int64_t>(alignment, 64);
      EXPECT_EQ(
          asInteger(carve(bytes, alignment)) % static_cast<uintptr_t>(rule), 0u)
          << bytes << " at " << alignment;
    }
  EXPECT_EQ(asInteger(carve(7)) % 64, 0u);
}

TEST_F(HeapTest, AlignmentThatIsNoPowerOfTwoIsRefused) {
  for (int64_t alignment : {INT64_C(3), INT64_C(-1), INT64_C(-64), INT64_C(65),
                            INT64_MIN, INT64_MAX}) {
    expectRefused(16, alignment, POL_INVALID_ARGUMENT);
    expectRefused(0, alignment, POL_INVALID_ARGUMENT);
  }
}

TEST_F(HeapTest, NegativeSizesAreRefused) {
  for (int64_t bytes : {INT64_C(-1), INT64_C(-64), INT64_MIN})
    expectRefused(bytes, 0, POL_INVALID_SIZE);
}

TEST_F(HeapTest, SizesThatTheSystemLacksAreRefused) {
  ASSERT_NE(carve(10), nullptr);
  for (int64_t bytes : {INT64_MAX, INT64_MAX - 63, INT64_MAX - 255,
                        INT64_MAX / 2, INT64_C(1) << 60}) {
    expectRefused(bytes, 0, POL_OUT_OF_MEMORY);
    EXPECT_EQ(pol_last_error()->wanted, bytes);
    EXPECT_EQ(pol_last_error()->available, -1);
  }
  expectRefused(1, INT64_C(1) << 62, POL_OUT_OF_MEMORY);
  EXPECT_NE(carve(10), nullptr);
}

TEST_F(HeapTest, ZeroBytesAllocateNothing) {
  limitTo(0);
  std::vector<int64_t> before = stateOf(heap);
  for (int64_t alignment :
       {INT64_C(0), INT64_C(1), INT64_C(64), INT64_C(4096), INT64_C(1) << 62}) {
    void *address = carve(0, alignment);
    ASSERT_NE(address, nullptr);
    int64_t rule = std::max<int64_t>(alignment, 64);
    EXPECT_EQ(asInteger(address) % static_cast<uintptr_t>(rule), 0u);
    release(address);
    release(address);
    EXPECT_EQ(stateOf(heap), before);
  }
}

TEST_F(HeapTest, ZeroBytesMayBeReleasedAmongLiveBlocks) {
  void *first = carve(10);
  void *nothing = carve(0);
  void *second = carve(10);
  release(nothing);
  EXPECT_EQ(heap.frees, 0);
  release(first);
  release(second);
  EXPECT_EQ(heap.frees, 2);
}

TEST_F(HeapTest, BlocksDoNotOverlap) {
  std::vector<std::pair<unsigned char *, int64_t>> blocks;
  for (int64_t bytes : {1, 100, 64, 4096, 3}) {
    auto *address = static_cast<unsigned char *>(carve(bytes));
    std::memset(address, int(blocks.size()), static_cast<size_t>(bytes));
    blocks.push_back({address, bytes});
  }
  for (size_t i = 0; i < blocks.size(); ++i)
    for (int64_t byte = 0; byte < blocks[i].second; ++byte)
      ASSERT_EQ(blocks[i].first[byte], i);
}

//===----------------------------------------------------------------------===//
// The limit
//===----------------------------------------------------------------------===//

TEST_F(HeapTest, LimitBoundsTheBytesLiveAtOnce) {
  limitTo(1000);
  EXPECT_EQ(heap.space.ops->available(&heap.space), 1000);
  void *first = carve(600);
  ASSERT_NE(first, nullptr);
  expectRefused(401, 0, POL_OUT_OF_MEMORY);
  EXPECT_EQ(pol_last_error()->wanted, 401);
  EXPECT_EQ(pol_last_error()->available, 400);
  expectRefused(INT64_MAX, 0, POL_OUT_OF_MEMORY);
  ASSERT_NE(carve(400), nullptr);
  expectRefused(1, 0, POL_OUT_OF_MEMORY);
  EXPECT_EQ(heap.space.ops->available(&heap.space), 0);
  release(first);
  expectRefused(601, 0, POL_OUT_OF_MEMORY);
  EXPECT_NE(carve(600), nullptr);
  EXPECT_EQ(heap.peak, 1000);
}

TEST_F(HeapTest, LimitOfZeroRefusesEverythingButNothing) {
  limitTo(0);
  expectRefused(1, 0, POL_OUT_OF_MEMORY);
  EXPECT_NE(carve(0), nullptr);
}

TEST_F(HeapTest, WithoutALimitWhatIsAvailableIsUnknown) {
  EXPECT_EQ(heap.space.ops->available(&heap.space), -1);
}

//===----------------------------------------------------------------------===//
// Freeing
//===----------------------------------------------------------------------===//

TEST_F(HeapTest, ReleaseFreesOneBlockWhereverItLies) {
  for (int victim = 0; victim < 3; ++victim) {
    int64_t freesBefore = heap.frees;
    void *blocks[] = {carve(1), carve(10), carve(100)};
    int64_t sizes[] = {1, 10, 100};
    release(blocks[victim]);
    EXPECT_EQ(heap.live, 111 - sizes[victim]);
    EXPECT_EQ(heap.frees, freesBefore + 1);
    for (int i = 0; i < 3; ++i)
      if (i != victim)
        release(blocks[i]);
    EXPECT_EQ(heap.live, 0);
    EXPECT_EQ(heap.last, nullptr);
    EXPECT_EQ(heap.frees, freesBefore + 3);
  }
}

TEST_F(HeapTest, ReleaseOfNullDoesNothing) {
  ASSERT_NE(carve(10), nullptr);
  std::vector<int64_t> before = stateOf(heap);
  release(nullptr);
  heap.space.ops->release(&heap.space, nullptr);
  EXPECT_EQ(stateOf(heap), before);
}

TEST_F(HeapTest, CountersAreExact) {
  void *first = carve(100);
  void *second = carve(200);
  release(first);
  ASSERT_NE(carve(50), nullptr);
  EXPECT_EQ(heap.live, 250);
  EXPECT_EQ(heap.peak, 300);
  EXPECT_EQ(heap.allocations, 3);
  EXPECT_EQ(heap.frees, 1);
  release(second);
  EXPECT_EQ(heap.live, 50);
  EXPECT_EQ(pol_space_watermark(&heap.space), 300);
}

TEST_F(HeapTest, RetractFreesExactlyWhatCameAfterTheMark) {
  void *kept = carve(1);
  pol_mark outer = mark();
  ASSERT_NE(carve(10), nullptr);
  pol_mark inner = mark();
  ASSERT_NE(carve(100), nullptr);
  ASSERT_NE(carve(1000), nullptr);
  EXPECT_EQ(retract(inner), POL_OK);
  EXPECT_EQ(heap.live, 11);
  EXPECT_EQ(heap.frees, 2);
  EXPECT_EQ(retract(outer), POL_OK);
  EXPECT_EQ(heap.live, 1);
  EXPECT_EQ(heap.frees, 3);
  EXPECT_EQ(*static_cast<char *>(kept), 0x5A);
}

TEST_F(HeapTest, RetractPassesOverWhatWasReleased) {
  void *before = carve(1);
  pol_mark start = mark();
  void *first = carve(10);
  ASSERT_NE(carve(100), nullptr);
  void *third = carve(1000);
  release(third);
  release(first);
  release(before);
  EXPECT_EQ(retract(start), POL_OK);
  EXPECT_EQ(heap.live, 0);
  EXPECT_EQ(heap.frees, 4);
}

TEST_F(HeapTest, RetractToTheSameMarkTwiceDoesNothing) {
  ASSERT_NE(carve(1), nullptr);
  pol_mark start = mark();
  ASSERT_NE(carve(10), nullptr);
  EXPECT_EQ(retract(start), POL_OK);
  std::vector<int64_t> before = stateOf(heap);
  EXPECT_EQ(retract(start), POL_OK);
  EXPECT_EQ(stateOf(heap), before);
}

TEST_F(HeapTest, StaleMarksAreRefused) {
  pol_mark empty = mark();
  ASSERT_NE(carve(1), nullptr);
  pol_mark one = mark();
  ASSERT_EQ(retract(empty), POL_OK);
  expectStale(one);
  ASSERT_NE(carve(1), nullptr);
  pol_space_reset(&heap.space);
  expectStale(one);
  expectStale(empty);
  ASSERT_NE(carve(1), nullptr);
  expectStale({2, 1});
  expectStale({-1, 1});
  expectStale({INT64_MAX, 1});
  expectStale({-1, -1});
}

TEST_F(HeapTest, ReleasingDoesNotMakeAMarkStale) {
  void *block = carve(1);
  pol_mark one = mark();
  release(block);
  EXPECT_EQ(retract(one), POL_OK);
  EXPECT_EQ(heap.frees, 1);
}

TEST_F(HeapTest, ResetFreesEverythingAndAdvancesTheEpoch) {
  ASSERT_NE(carve(10), nullptr);
  ASSERT_NE(carve(20), nullptr);
  pol_space_reset(&heap.space);
  EXPECT_EQ(heap.live, 0);
  EXPECT_EQ(heap.frees, 2);
  EXPECT_EQ(heap.epoch, 1);
  EXPECT_EQ(mark().offset, 0);
  EXPECT_EQ(pol_space_watermark(&heap.space), 30);
}

TEST_F(HeapTest, AgreesWithAModelOver20000Operations) {
  struct Entry {
    void *address;
    int64_t bytes;
    int64_t sequence;
  };
  limitTo(20000);
  std::mt19937 random(7);
  std::vector<Entry> live;
  std::vector<pol_mark> marks;
  int64_t bytesLive = 0, allocations = 0, frees = 0, sequence = 0, refusals = 0;
  auto drop = [&](size_t index) {
    bytesLive -= live[index].bytes;
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(index));
    ++frees;
  };
  for (int step = 0; step < 20000; ++step) {
    unsigned choice = random() % 100;
    if (choice < 55) {
      int64_t bytes = 1 + random() % 2000;
      void *address = carve(bytes, INT64_C(1) << (random() % 10));
      ASSERT_EQ(address != nullptr, bytesLive + bytes <= 20000) << step;
      if (!address) {
        ++refusals;
        continue;
      }
      live.push_back({address, bytes, ++sequence});
      bytesLive += bytes;
      ++allocations;
    } else if (choice < 80 && !live.empty()) {
      size_t index = random() % live.size();
      release(live[index].address);
      drop(index);
    } else if (choice < 92) {
      marks.push_back(mark());
      ASSERT_EQ(marks.back().offset, sequence);
    } else if (!marks.empty()) {
      pol_mark to = marks.back();
      marks.pop_back();
      bool isValid = to.offset <= sequence;
      ASSERT_EQ(retract(to) == POL_OK, isValid) << step;
      while (isValid && !live.empty() && live.back().sequence > to.offset)
        drop(live.size() - 1);
      sequence = isValid ? to.offset : sequence;
    }
    ASSERT_EQ(heap.live, bytesLive) << step;
    ASSERT_EQ(heap.allocations, allocations) << step;
    ASSERT_EQ(heap.frees, frees) << step;
  }
  EXPECT_GT(refusals, 100);
}

//===----------------------------------------------------------------------===//
// The heap of a thread
//===----------------------------------------------------------------------===//

TEST(ThreadHeapTest, IsOneForEachThread) {
  pol_space *mine = pol_thread_heap();
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(pol_thread_heap(), mine);
  pol_space *other = nullptr;
  std::thread([&] { other = pol_thread_heap(); }).join();
  EXPECT_NE(other, nullptr);
  EXPECT_NE(other, mine);
}

TEST(ThreadHeapTest, HasNoLimit) {
  pol_space *space = pol_thread_heap();
  EXPECT_EQ(space->ops->available(space), -1);
  EXPECT_EQ(space->ops->carve(space, INT64_MAX, 0), nullptr);
  void *address = space->ops->carve(space, 1 << 20, 0);
  ASSERT_NE(address, nullptr);
  pol_space_release(space, address);
}

/// Looks at its thread's heap when the thread ends.
struct Witness {
  pol_heap *heap = nullptr;
  std::vector<int64_t> *result = nullptr;
  ~Witness() {
    if (heap)
      *result = {heap->allocations, heap->frees, heap->live};
  }
};

TEST(ThreadHeapTest, IsFreedWhenItsThreadEnds) {
  std::vector<int64_t> result;
  std::thread([&] {
    // Made before the heap's owner, so destroyed after it.
    static thread_local Witness witness;
    witness.result = &result;
    pol_space *space = pol_thread_heap();
    witness.heap = reinterpret_cast<pol_heap *>(space);
    for (int i = 0; i < 3; ++i)
      EXPECT_NE(space->ops->carve(space, 100, 0), nullptr);
    EXPECT_EQ(witness.heap->live, 300);
  }).join();
  EXPECT_EQ(result, (std::vector<int64_t>{3, 3, 0}));
}

} // namespace
