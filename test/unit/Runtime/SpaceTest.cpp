//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Runtime/Arena.h"
#include "pol/Runtime/Heap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

// In HeadersAreC.c: 0, or the number of the line that went wrong.
extern "C" int pol_test_from_c(void);

namespace {

pol_site siteOf(const char *buffer, const char *kernel) {
  return {buffer, kernel, "output", "f32", "x.mlir", 3, 4, 4, 0};
}

std::string formatted(const pol_error *error) {
  char text[512];
  return pol_format_error(error, text, sizeof(text));
}

std::string lastLine() { return formatted(pol_last_error()); }

class SpaceTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(pol_arena_init(&arena, slab, sizeof(slab), 0), POL_OK);
  }

  void *carve(const std::vector<int64_t> &dims) {
    return pol_carve(&arena.space, &site, static_cast<int64_t>(dims.size()),
                     dims.data());
  }

  void expectRefused(const std::vector<int64_t> &dims, pol_status code) {
    pol_mark before = pol_arena_mark(&arena);
    EXPECT_EQ(carve(dims), nullptr);
    EXPECT_EQ(pol_last_error()->code, code);
    EXPECT_EQ(pol_arena_mark(&arena).offset, before.offset);
    EXPECT_EQ(pol_arena_mark(&arena).epoch, before.epoch);
  }

  alignas(256) char slab[8192];
  pol_arena arena;
  pol_site site = siteOf("y", "softmax");
};

TEST(HeadersAreCTest, TheRuntimeWorksFromC) { EXPECT_EQ(pol_test_from_c(), 0); }

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

TEST_F(SpaceTest, CarvesTheProductOfTheExtents) {
  EXPECT_EQ(carve({2, 3, 5}), slab);
  EXPECT_EQ(arena.offset, 120);
  EXPECT_EQ(carve({7}), slab + 256);
  EXPECT_EQ(arena.offset, 256 + 28);
}

TEST_F(SpaceTest, RankZeroIsOneElement) {
  EXPECT_EQ(pol_carve(&arena.space, &site, 0, nullptr), slab);
  EXPECT_EQ(arena.offset, 4);
}

TEST_F(SpaceTest, AlignmentOfTheSiteIsObeyed) {
  ASSERT_NE(carve({1}), nullptr);
  site.alignment = 2048;
  auto *address = static_cast<char *>(carve({1}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 2048, 0u);
  site.alignment = 1;
  EXPECT_EQ(carve({1}), address + 256);
}

TEST_F(SpaceTest, NegativeExtentsAreRefused) {
  expectRefused({-1}, POL_INVALID_SIZE);
  expectRefused({INT64_MIN}, POL_INVALID_SIZE);
  expectRefused({4, -1, 4}, POL_INVALID_SIZE);
  // Two of them make a positive product.
  expectRefused({-2, -2}, POL_INVALID_SIZE);
  // A zero does not excuse them, on either side.
  expectRefused({0, -1}, POL_INVALID_SIZE);
  expectRefused({-1, 0}, POL_INVALID_SIZE);
  EXPECT_EQ(pol_last_error()->wanted, -1);
}

TEST_F(SpaceTest, ProductsThatOverflowAreRefused) {
  expectRefused({INT64_MAX}, POL_INVALID_SIZE);
  expectRefused({INT64_MAX, INT64_MAX}, POL_INVALID_SIZE);
  // These wrap around to 0, to 4 and to a negative number.
  expectRefused({INT64_C(1) << 32, INT64_C(1) << 32}, POL_INVALID_SIZE);
  expectRefused({(INT64_C(1) << 62) + 1}, POL_INVALID_SIZE);
  expectRefused({INT64_C(1) << 61}, POL_INVALID_SIZE);
  EXPECT_EQ(pol_last_error()->wanted, -1);
  EXPECT_EQ(pol_last_error()->available, -1);
}

TEST_F(SpaceTest, LargestSizeIsOnlyTooLargeForTheSpace) {
  site.element_bytes = 1;
  for (int64_t bytes : {INT64_MAX, INT64_MAX - 255}) {
    expectRefused({bytes}, POL_OUT_OF_MEMORY);
    EXPECT_EQ(pol_last_error()->wanted, bytes);
  }
  expectRefused({1, INT64_MAX, 1}, POL_OUT_OF_MEMORY);
}

TEST_F(SpaceTest, ZeroExtentAmongHugeOnesIsZeroBytes) {
  for (const std::vector<int64_t> &dims : {std::vector<int64_t>{0},
                                           {INT64_MAX, INT64_MAX, 0},
                                           {0, INT64_MAX, INT64_MAX},
                                           {INT64_MAX, 0, INT64_MAX}}) {
    EXPECT_NE(carve(dims), nullptr);
    EXPECT_EQ(arena.offset, 0);
  }
  // Of elements without bytes too.
  site.element_bytes = 0;
  EXPECT_NE(carve({INT64_MAX, INT64_MAX}), nullptr);
  expectRefused({-1}, POL_INVALID_SIZE);
}

TEST_F(SpaceTest, NegativeElementSizeIsRefused) {
  site.element_bytes = -4;
  expectRefused({1}, POL_INVALID_SIZE);
  expectRefused({0}, POL_INVALID_SIZE);
}

//===----------------------------------------------------------------------===//
// Bad arguments
//===----------------------------------------------------------------------===//

TEST_F(SpaceTest, NullSpaceIsRefusedEverywhere) {
  int64_t dims[] = {16, 64};
  pol_space noOps = {};
  for (pol_space *space : {static_cast<pol_space *>(nullptr), &noOps}) {
    EXPECT_EQ(pol_carve(space, &site, 2, dims), nullptr);
    EXPECT_EQ(pol_last_error()->code, POL_INVALID_ARGUMENT);
    EXPECT_EQ(lastLine(), "invalid argument: buffer 'y' of kernel 'softmax' "
                          "(16x64xf32) has a null space, at x.mlir:3:4");
    EXPECT_EQ(pol_space_mark(space).offset, -1);
    EXPECT_EQ(lastLine(), "invalid argument: mark of a null space");
    EXPECT_EQ(pol_space_retract(space, 0, 0), 0);
    EXPECT_EQ(lastLine(), "invalid argument: retract of a null space");
    pol_space_release(space, slab);
    EXPECT_EQ(lastLine(), "invalid argument: release of a null space");
    pol_space_reset(space);
    EXPECT_EQ(lastLine(), "invalid argument: reset of a null space");
    EXPECT_EQ(pol_space_watermark(space), -1);
    EXPECT_EQ(lastLine(), "invalid argument: watermark of a null space");
  }
  pol_space_observe(nullptr, nullptr, nullptr);
  EXPECT_EQ(lastLine(), "invalid argument: observation of a null space");
}

TEST_F(SpaceTest, BadSitesAndShapesAreRefused) {
  int64_t dims[] = {1, 1};
  EXPECT_EQ(pol_carve(&arena.space, nullptr, 2, dims), nullptr);
  EXPECT_EQ(lastLine(), "invalid argument: allocation (1x1) has a null site");
  EXPECT_EQ(pol_carve(&arena.space, &site, -1, dims), nullptr);
  EXPECT_EQ(pol_last_error()->code, POL_INVALID_ARGUMENT);
  EXPECT_EQ(pol_carve(&arena.space, &site, 2, nullptr), nullptr);
  EXPECT_EQ(lastLine(), "invalid argument: buffer 'y' of kernel 'softmax' "
                        "(f32) has no shape, at x.mlir:3:4");
  for (int64_t alignment : {INT64_C(3), INT64_C(-8), INT64_MIN, INT64_MAX}) {
    site.alignment = alignment;
    expectRefused({1, 1}, POL_INVALID_ARGUMENT);
  }
  EXPECT_EQ(arena.offset, 0);
}

//===----------------------------------------------------------------------===//
// Error records
//===----------------------------------------------------------------------===//

TEST_F(SpaceTest, FailureNamesBufferKernelTypeAndLocation) {
  ASSERT_NE(carve({2000}), nullptr);
  expectRefused({16, 64}, POL_OUT_OF_MEMORY);
  const pol_error *error = pol_last_error();
  EXPECT_STREQ(error->what, "buffer 'y' of kernel 'softmax' (16x64xf32)");
  EXPECT_STREQ(error->location, "x.mlir:3:4");
  EXPECT_EQ(error->wanted, 4096);
  EXPECT_EQ(error->available, 0);
  EXPECT_EQ(lastLine(),
            "out of memory: buffer 'y' of kernel 'softmax' (16x64xf32) wants "
            "4096 bytes, but 0 are available, at x.mlir:3:4");
}

TEST_F(SpaceTest, AvailableBytesAccountForTheAlignmentAsked) {
  alignas(1024) static char aligned[2048];
  ASSERT_EQ(pol_arena_init(&arena, aligned + 256, 1024, 0), POL_OK);
  site.alignment = 1024;
  expectRefused({100}, POL_OUT_OF_MEMORY);
  EXPECT_EQ(pol_last_error()->available, 256);
}

TEST_F(SpaceTest, DescriptionsAreShorterWhereNamesAreEmpty) {
  struct {
    const char *buffer, *kernel, *type, *file;
    std::vector<int64_t> dims;
    const char *what;
    const char *location;
  } cases[] = {
      {"", "", "f32", "", {-16, 64}, "allocation (-16x64xf32)", ""},
      {"y", "", "f32", "a", {-1}, "buffer 'y' (-1xf32)", "a:3:4"},
      {"", "k", "", "a", {-1}, "allocation of kernel 'k' (-1)", "a:3:4"},
      {nullptr, nullptr, nullptr, nullptr, {-1}, "allocation (-1)", ""}};
  for (const auto &test : cases) {
    site.buffer = test.buffer;
    site.kernel = test.kernel;
    site.type = test.type;
    site.file = test.file;
    expectRefused(test.dims, POL_INVALID_SIZE);
    EXPECT_STREQ(pol_last_error()->what, test.what);
    EXPECT_STREQ(pol_last_error()->location, test.location);
  }
  site.element_bytes = -1;
  expectRefused({}, POL_INVALID_SIZE);
  EXPECT_STREQ(pol_last_error()->what, "allocation");
  site.file = "a";
  site.line = 0;
  expectRefused({}, POL_INVALID_SIZE);
  EXPECT_STREQ(pol_last_error()->location, "a");
}

TEST_F(SpaceTest, LongNamesAreTruncatedAndTerminated) {
  std::string name(500, 'n'), file(500, 'f');
  site.buffer = name.c_str();
  site.file = file.c_str();
  expectRefused({-1}, POL_INVALID_SIZE);
  EXPECT_EQ(std::strlen(pol_last_error()->what), 191u);
  EXPECT_EQ(std::strlen(pol_last_error()->location), 191u);
  EXPECT_EQ(std::string(pol_last_error()->what).substr(0, 10), "buffer 'nn");
}

TEST_F(SpaceTest, TruncationKeepsCharactersWhole) {
  // Two, three and four bytes a character, cut at every phase.
  for (std::string character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x90\x8D"})
    for (size_t shift = 0; shift < 4; ++shift) {
      std::string name(shift, 'n');
      while (name.size() < 400)
        name += character;
      site.buffer = name.c_str();
      expectRefused({-1}, POL_INVALID_SIZE);
      size_t tail = std::strlen(pol_last_error()->what) - strlen("buffer '");
      EXPECT_EQ((tail - shift) % character.size(), 0u);
      EXPECT_GT(tail, 191 - strlen("buffer '") - character.size());
    }
}

TEST_F(SpaceTest, RecordOutlivesTheSite) {
  {
    std::string name = "short-lived";
    pol_site local = siteOf(name.c_str(), "");
    int64_t dims[] = {-1};
    EXPECT_EQ(pol_carve(&arena.space, &local, 1, dims), nullptr);
    name = "overwritten";
  }
  EXPECT_STREQ(pol_last_error()->what, "buffer 'short-lived' (-1xf32)");
}

TEST_F(SpaceTest, SuccessLeavesTheLastErrorAlone) {
  expectRefused({-1}, POL_INVALID_SIZE);
  ASSERT_NE(carve({1}), nullptr);
  EXPECT_EQ(pol_last_error()->code, POL_INVALID_SIZE);
  pol_error copy;
  EXPECT_EQ(pol_copy_last_error(&copy), POL_INVALID_SIZE);
  EXPECT_STREQ(copy.what, pol_last_error()->what);
  EXPECT_STREQ(copy.location, pol_last_error()->location);
  EXPECT_EQ(pol_copy_last_error(nullptr), POL_INVALID_SIZE);
}

TEST_F(SpaceTest, ErrorsOfOneThreadAreNotSeenByAnother) {
  expectRefused({-1}, POL_INVALID_SIZE);
  std::thread([] {
    EXPECT_EQ(pol_last_error()->code, POL_OK);
    EXPECT_EQ(pol_copy_last_error(nullptr), POL_OK);
    EXPECT_EQ(pol_space_mark(nullptr).offset, -1);
    EXPECT_EQ(pol_last_error()->code, POL_INVALID_ARGUMENT);
  }).join();
  EXPECT_EQ(pol_last_error()->code, POL_INVALID_SIZE);
}

TEST(FormatErrorTest, HasALineForEachCode) {
  pol_error error = {POL_OUT_OF_MEMORY, 4096, 100, "buffer 'y'", "x.mlir:3:4"};
  EXPECT_EQ(formatted(&error), "out of memory: buffer 'y' wants 4096 bytes, "
                               "but 100 are available, at x.mlir:3:4");
  error.wanted = error.available = 1;
  EXPECT_EQ(formatted(&error), "out of memory: buffer 'y' wants 1 byte, but 1 "
                               "is available, at x.mlir:3:4");
  error.available = -1;
  EXPECT_EQ(formatted(&error), "out of memory: buffer 'y' wants 1 byte, but "
                               "its space has no room, at x.mlir:3:4");
  error.code = POL_INVALID_SIZE;
  EXPECT_EQ(formatted(&error), "invalid size: buffer 'y' is negative or "
                               "exceeds 64 bits, at x.mlir:3:4");
  error.location[0] = '\0';
  error.code = POL_STALE_MARK;
  EXPECT_EQ(formatted(&error), "stale mark: buffer 'y'");
  error.code = POL_INVALID_ARGUMENT;
  EXPECT_EQ(formatted(&error), "invalid argument: buffer 'y'");
  error.code = 77;
  EXPECT_EQ(formatted(&error), "unknown status 77: buffer 'y'");
  error.code = POL_OK;
  EXPECT_EQ(formatted(&error), "no error");
  EXPECT_EQ(formatted(nullptr), "no error");
}

TEST(FormatErrorTest, FitsTheTextItIsGiven) {
  pol_error error = {POL_INVALID_ARGUMENT, 0, 0, "buffer", ""};
  char text[16];
  std::memset(text, '#', sizeof(text));
  EXPECT_STREQ(pol_format_error(&error, text, 8), "invalid");
  EXPECT_EQ(text[8], '#');
  EXPECT_STREQ(pol_format_error(&error, text, 1), "");
  EXPECT_STREQ(pol_format_error(&error, text, 0), "");
  EXPECT_STREQ(pol_format_error(&error, text, -1), "");
  EXPECT_STREQ(pol_format_error(&error, nullptr, 16), "");
}

TEST(FormatErrorTest, IsOneLineWhateverTheNames) {
  pol_error error = {POL_STALE_MARK, 0, 0, "a\nb\tc\x7F", "d\r\n"};
  EXPECT_EQ(formatted(&error), "stale mark: a b c , at d  ");
}

//===----------------------------------------------------------------------===//
// Mark, retract and the rest, through the space
//===----------------------------------------------------------------------===//

TEST_F(SpaceTest, RetractAnswersOneOnSuccessAndZeroOnFailure) {
  pol_mark mark = pol_space_mark(&arena.space);
  ASSERT_NE(carve({25}), nullptr);
  EXPECT_EQ(pol_space_retract(&arena.space, mark.offset, mark.epoch), 1);
  EXPECT_EQ(arena.offset, 0);
  EXPECT_EQ(pol_space_retract(&arena.space, 100, 0), 0);
  EXPECT_EQ(lastLine(), "stale mark: retract to offset 100 of epoch 0, but the "
                        "arena is at offset 0 of epoch 0");
  pol_space_reset(&arena.space);
  EXPECT_EQ(pol_space_retract(&arena.space, mark.offset, mark.epoch), 0);
  EXPECT_EQ(pol_last_error()->code, POL_STALE_MARK);
  EXPECT_EQ(pol_space_watermark(&arena.space), 100);
}

TEST_F(SpaceTest, ReleaseDoesNothingInAnArena) {
  void *address = carve({1});
  pol_space_release(&arena.space, address);
  pol_space_release(&arena.space, nullptr);
  EXPECT_EQ(arena.offset, 4);
}

//===----------------------------------------------------------------------===//
// Observers
//===----------------------------------------------------------------------===//

struct Log {
  std::vector<pol_event> events;
  static void note(void *user, pol_space *, const pol_event *event) {
    static_cast<Log *>(user)->events.push_back(*event);
  }
};

TEST_F(SpaceTest, ObserverSeesEverySuccess) {
  Log log;
  pol_space_observe(&arena.space, Log::note, &log);
  void *first = carve({10});
  void *second = carve({20});
  void *nothing = carve({0});
  EXPECT_EQ(pol_space_retract(&arena.space, 40, 0), 1);
  pol_space_reset(&arena.space);
  ASSERT_EQ(log.events.size(), 5u);
  void *addresses[] = {first, second, nothing};
  int64_t sizes[] = {40, 80, 0};
  int64_t marks[] = {0, 40, 256 + 80};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(log.events[i].kind, POL_EVENT_CARVE);
    EXPECT_EQ(log.events[i].site, &site);
    EXPECT_EQ(log.events[i].address, addresses[i]);
    EXPECT_EQ(log.events[i].bytes, sizes[i]);
    EXPECT_EQ(log.events[i].mark.offset, marks[i]);
    EXPECT_EQ(log.events[i].mark.epoch, 0);
  }
  EXPECT_EQ(log.events[3].kind, POL_EVENT_RETRACT);
  EXPECT_EQ(log.events[3].mark.offset, 40);
  EXPECT_EQ(log.events[3].site, nullptr);
  EXPECT_EQ(log.events[4].kind, POL_EVENT_RESET);
}

TEST_F(SpaceTest, ObserverSeesNoFailureAndNothingOfAnArenasRelease) {
  Log log;
  void *address = carve({1});
  pol_space_observe(&arena.space, Log::note, &log);
  expectRefused({-1}, POL_INVALID_SIZE);
  expectRefused({100000}, POL_OUT_OF_MEMORY);
  EXPECT_EQ(pol_space_retract(&arena.space, 100, 0), 0);
  pol_space_release(&arena.space, address);
  pol_space_release(&arena.space, nullptr);
  EXPECT_TRUE(log.events.empty());
  pol_space_observe(&arena.space, nullptr, nullptr);
  ASSERT_NE(carve({1}), nullptr);
  EXPECT_TRUE(log.events.empty());
}

TEST_F(SpaceTest, ObserverSeesReleasesOfAHeap) {
  pol_heap heap;
  ASSERT_EQ(pol_heap_init(&heap, -1), POL_OK);
  Log log;
  pol_space_observe(&heap.space, Log::note, &log);
  int64_t dims[] = {3};
  void *address = pol_carve(&heap.space, &site, 1, dims);
  pol_space_release(&heap.space, address);
  pol_space_release(&heap.space, nullptr);
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].bytes, 12);
  EXPECT_EQ(log.events[1].kind, POL_EVENT_RELEASE);
  EXPECT_EQ(log.events[1].address, address);
  pol_heap_destroy(&heap);
}

//===----------------------------------------------------------------------===//
// Spaces of the user's own
//===----------------------------------------------------------------------===//

/// Hands out one buffer, and records what it was asked for.
struct OneBuffer {
  pol_space space;
  char buffer[256];
  bool isTaken;
  int64_t bytes;
  int64_t alignment;

  static OneBuffer *of(pol_space *space) {
    return reinterpret_cast<OneBuffer *>(space);
  }
  static void *carve(pol_space *space, int64_t bytes, int64_t alignment) {
    of(space)->bytes = bytes;
    of(space)->alignment = alignment;
    if (of(space)->isTaken || bytes > 256)
      return nullptr;
    of(space)->isTaken = true;
    return of(space)->buffer;
  }
  static int64_t available(pol_space *space) {
    return of(space)->isTaken ? 0 : 256;
  }
  static pol_status retract(pol_space *space, pol_mark mark) {
    if (mark.offset != 0)
      return POL_STALE_MARK;
    of(space)->isTaken = false;
    return POL_OK;
  }
};

TEST_F(SpaceTest, UserDefinedSpaceIsCarvedFrom) {
  pol_space_ops ops = {"one buffer",
                       OneBuffer::carve,
                       OneBuffer::available,
                       nullptr,
                       OneBuffer::retract,
                       nullptr,
                       nullptr,
                       nullptr};
  OneBuffer one = {};
  one.space.ops = &ops;
  Log log;
  pol_space_observe(&one.space, Log::note, &log);
  int64_t dims[] = {8, 4};
  site.alignment = 32;
  EXPECT_EQ(pol_carve(&one.space, &site, 2, dims), one.buffer);
  EXPECT_EQ(one.bytes, 128);
  EXPECT_EQ(one.alignment, 32);
  EXPECT_EQ(log.events.size(), 1u);
  EXPECT_EQ(pol_carve(&one.space, &site, 2, dims), nullptr);
  EXPECT_EQ(lastLine(), "out of memory: buffer 'y' of kernel 'softmax' "
                        "(8x4xf32) wants 128 bytes, but 0 are available, at "
                        "x.mlir:3:4");
  EXPECT_EQ(pol_space_retract(&one.space, 5, 0), 0);
  EXPECT_EQ(lastLine(), "stale mark: retract to offset 5 of epoch 0 in space "
                        "'one buffer'");
  EXPECT_EQ(pol_space_retract(&one.space, 0, 0), 1);
  EXPECT_EQ(pol_carve(&one.space, &site, 2, dims), one.buffer);
}

TEST_F(SpaceTest, UserDefinedSpaceNeedsOnlyCarve) {
  pol_space_ops ops = {};
  OneBuffer one = {};
  one.space.ops = &ops;
  int64_t dims[] = {1000};
  EXPECT_EQ(pol_carve(&one.space, &site, 1, dims), nullptr);
  EXPECT_EQ(pol_last_error()->code, POL_INVALID_ARGUMENT);
  ops.carve = OneBuffer::carve;
  EXPECT_EQ(pol_carve(&one.space, &site, 1, dims), nullptr);
  EXPECT_EQ(pol_last_error()->code, POL_OUT_OF_MEMORY);
  EXPECT_EQ(pol_last_error()->available, -1);
  EXPECT_EQ(pol_space_mark(&one.space).epoch, -1);
  EXPECT_EQ(lastLine(),
            "invalid argument: mark of space '', which has no such operation");
  ops.name = "mine";
  EXPECT_EQ(pol_space_retract(&one.space, 0, 0), 0);
  EXPECT_EQ(lastLine(), "invalid argument: retract of space 'mine', which has "
                        "no such operation");
  EXPECT_EQ(pol_space_watermark(&one.space), -1);
  EXPECT_EQ(pol_last_error()->code, POL_INVALID_ARGUMENT);
  pol_space_reset(&one.space);
  EXPECT_EQ(lastLine(), "invalid argument: reset of space 'mine', which has no "
                        "such operation");
  pol_space_release(&one.space, one.buffer);
  int64_t few[] = {4};
  EXPECT_EQ(pol_carve(&one.space, &site, 1, few), one.buffer);
}

TEST_F(SpaceTest, BadRequestsDoNotReachAUserDefinedSpace) {
  pol_space_ops ops = {};
  ops.carve = OneBuffer::carve;
  OneBuffer one = {};
  one.bytes = 77;
  one.space.ops = &ops;
  int64_t negative[] = {-1};
  int64_t huge[] = {INT64_MAX};
  EXPECT_EQ(pol_carve(&one.space, &site, 1, negative), nullptr);
  EXPECT_EQ(pol_carve(&one.space, &site, 1, huge), nullptr);
  site.alignment = 24;
  EXPECT_EQ(pol_carve(&one.space, &site, 0, nullptr), nullptr);
  EXPECT_EQ(one.bytes, 77);
}

} // namespace
