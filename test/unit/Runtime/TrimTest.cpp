//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What is given back of the last carve.

#include "pol/Runtime/Arena.h"
#include "pol/Runtime/Heap.h"

#include <gtest/gtest.h>

namespace {

class TrimTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(pol_arena_init(&arena, slab, sizeof(slab), 0), POL_OK);
  }

  char *carve(int64_t bytes) {
    return static_cast<char *>(pol_arena_carve(&arena, bytes, 0));
  }

  alignas(256) char slab[4096];
  pol_arena arena;
};

TEST_F(TrimTest, KeepsTheFirstBytes) {
  carve(100);
  char *last = carve(1000);
  ASSERT_EQ(last, slab + 256);
  pol_space_trim(&arena.space, last, 300);
  EXPECT_EQ(arena.offset, 556);
  EXPECT_EQ(arena.peak, 1256);
  // The next carve is right behind it.
  EXPECT_EQ(carve(1), slab + 768);
}

TEST_F(TrimTest, ToNothingAndToAll) {
  char *last = carve(1000);
  pol_space_trim(&arena.space, last, 1000);
  EXPECT_EQ(arena.offset, 1000);
  pol_space_trim(&arena.space, last, 0);
  EXPECT_EQ(arena.offset, 0);
}

TEST_F(TrimTest, NeverGrows) {
  char *last = carve(1000);
  for (int64_t bytes : {int64_t(1001), int64_t(-1), INT64_MAX, INT64_MIN}) {
    pol_space_trim(&arena.space, last, bytes);
    EXPECT_EQ(arena.offset, 1000) << bytes;
  }
}

TEST_F(TrimTest, OfWhatIsNotCarvedDoesNothing) {
  carve(1000);
  char other[16];
  for (void *address : {static_cast<void *>(slab + 2000), (void *)(slab + 1001),
                        static_cast<void *>(other), (void *)nullptr}) {
    pol_space_trim(&arena.space, address, 0);
    EXPECT_EQ(arena.offset, 1000);
  }
}

TEST(TrimOfHeapTest, KeepsAll) {
  pol_heap heap;
  ASSERT_EQ(pol_heap_init(&heap, -1), POL_OK);
  pol_site site = {"y", "k", "output", "f32", "x.mlir", 3, 4, 4, 0};
  int64_t dims[] = {100};
  void *address = pol_carve(&heap.space, &site, 1, dims);
  ASSERT_NE(address, nullptr);
  pol_space_trim(&heap.space, address, 4);
  EXPECT_EQ(heap.live, 400);
  pol_heap_destroy(&heap);
}

TEST(TrimOfHeapTest, OfNoSpaceIsRefused) {
  pol_space_trim(nullptr, nullptr, 0);
  EXPECT_EQ(pol_last_error()->code, POL_INVALID_ARGUMENT);
}

TEST(SlabErrorTest, SaysWhoseItIs) {
  alignas(256) static char memory[256];
  pol_arena arena;
  ASSERT_EQ(pol_arena_init(&arena, memory, sizeof(memory), 0), POL_OK);
  pol_site site = {"", "step", "slab", "i8", "x.mlir", 3, 4, 1, 256};
  int64_t dims[] = {257};
  EXPECT_EQ(pol_carve(&arena.space, &site, 1, dims), nullptr);
  char text[512];
  EXPECT_STREQ(pol_format_error(pol_last_error(), text, sizeof(text)),
               "out of memory: all that function 'step' allocates wants 257 "
               "bytes, but 256 are available, at x.mlir:3:4");
}

} // namespace
