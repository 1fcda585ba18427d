//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Runtime/Arena.h"
#include "Detail.h"

#include <algorithm>
#include <cinttypes>
#include <cstddef>

using namespace pol::runtime;

static_assert(offsetof(pol_arena, space) == 0,
              "an arena's address is its space's address");

/// Where base lies at least, so that an offset planned by the compiler is
/// aligned like the address it becomes, whatever the arena's own alignment.
static constexpr int64_t baseAlignment = POL_DEFAULT_ALIGNMENT;

static pol_arena *asArena(pol_space *space) {
  return reinterpret_cast<pol_arena *>(space);
}

/// The address of the next carve; false if it is beyond all memory.
static bool nextAddress(const pol_arena *arena, int64_t alignment,
                        uintptr_t &address) {
  // An integer, not a pointer: it may lie past the end of the slab.
  uintptr_t end = reinterpret_cast<uintptr_t>(arena->base) +
                  static_cast<uintptr_t>(arena->offset);
  return alignUp(end, alignment, address);
}

/// Bytes between the next carve's address and the end of the slab.
static int64_t room(const pol_arena *arena, int64_t alignment) {
  uintptr_t address;
  if (!nextAddress(arena, alignment, address))
    return 0;
  uintptr_t start = address - reinterpret_cast<uintptr_t>(arena->base);
  uintptr_t capacity = static_cast<uintptr_t>(arena->capacity);
  return start < capacity ? static_cast<int64_t>(capacity - start) : 0;
}

//===----------------------------------------------------------------------===//
// The arena as a space
//===----------------------------------------------------------------------===//

static void *carveOp(pol_space *space, int64_t bytes, int64_t alignment) {
  return pol_arena_carve(asArena(space), bytes, alignment);
}

static int64_t availableOp(pol_space *space) {
  return room(asArena(space), asArena(space)->alignment);
}

static pol_mark markOp(pol_space *space) {
  return pol_arena_mark(asArena(space));
}

static pol_status retractOp(pol_space *space, pol_mark mark) {
  return pol_arena_retract(asArena(space), mark);
}

static void resetOp(pol_space *space) { pol_arena_reset(asArena(space)); }

static int64_t watermarkOp(pol_space *space) {
  return pol_arena_watermark(asArena(space));
}

static void trimOp(pol_space *space, void *address, int64_t bytes) {
  pol_arena *arena = asArena(space);
  int64_t offset = static_cast<char *>(address) - arena->base;
  // Compared, never added. What is not within the carved part is no carve.
  if (bytes >= 0 && offset >= 0 && offset <= arena->offset &&
      bytes <= arena->offset - offset)
    arena->offset = offset + bytes;
}

// No release: an arena frees nothing one by one.
static const pol_space_ops arenaOps = {"arena", carveOp,     availableOp,
                                       markOp,  retractOp,   nullptr,
                                       resetOp, watermarkOp, trimOp};

//===----------------------------------------------------------------------===//
// The arena by itself
//===----------------------------------------------------------------------===//

/// True if there is an arena; records a failure if there is not.
static bool checkArena(const pol_arena *arena, const char *action) {
  if (arena)
    return true;
  fail(POL_INVALID_ARGUMENT, -1, -1, "%s of a null arena", action);
  return false;
}

pol_status pol_arena_init(pol_arena *arena, void *memory, int64_t bytes,
                          int64_t alignment) {
  if (!checkArena(arena, "initialization"))
    return POL_INVALID_ARGUMENT;
  if (alignment == 0)
    alignment = POL_DEFAULT_ALIGNMENT;
  if (!isAlignment(alignment))
    return fail(POL_INVALID_ARGUMENT, -1, -1,
                "alignment %" PRId64 " of an arena is no power of two",
                alignment);
  if (bytes < 0)
    return fail(POL_INVALID_SIZE, bytes, -1, "arena of %" PRId64 " bytes",
                bytes);
  if (!memory && bytes > 0)
    return fail(POL_INVALID_ARGUMENT, bytes, 0,
                "arena of %" PRId64 " bytes over null memory", bytes);
  uintptr_t start = reinterpret_cast<uintptr_t>(memory);
  uintptr_t base;
  if (static_cast<uint64_t>(bytes) > UINTPTR_MAX - start ||
      !alignUp(start, std::max(alignment, baseAlignment), base))
    return fail(POL_INVALID_ARGUMENT, bytes, -1,
                "arena of %" PRId64 " bytes reaches past the last address",
                bytes);
  int64_t skipped = static_cast<int64_t>(base - start);
  *arena = pol_arena();
  arena->space.ops = &arenaOps;
  arena->base = reinterpret_cast<char *>(base);
  arena->capacity = std::max<int64_t>(bytes - skipped, 0);
  arena->alignment = alignment;
  return POL_OK;
}

void *pol_arena_carve(pol_arena *arena, int64_t bytes, int64_t alignment) {
  if (!checkArena(arena, "carve"))
    return nullptr;
  if (alignment != 0 && !isAlignment(alignment)) {
    fail(POL_INVALID_ARGUMENT, bytes, -1,
         "alignment %" PRId64 " of a carve is no power of two", alignment);
    return nullptr;
  }
  if (bytes < 0) {
    fail(POL_INVALID_SIZE, bytes, -1, "allocation of %" PRId64 " bytes", bytes);
    return nullptr;
  }
  alignment = std::max(alignment, arena->alignment);
  uintptr_t address;
  bool exists = nextAddress(arena, alignment, address);
  if (bytes == 0)
    return exists && address ? reinterpret_cast<void *>(address)
                             : zeroBytesAddress(alignment);
  // Compared, never added: no size can overflow here.
  int64_t available = room(arena, alignment);
  if (bytes > available) {
    fail(POL_OUT_OF_MEMORY, bytes, available, "allocation");
    return nullptr;
  }
  int64_t offset = arena->capacity - available;
  arena->offset = offset + bytes;
  arena->peak = std::max(arena->peak, arena->offset);
  return arena->base + offset;
}

pol_mark pol_arena_mark(const pol_arena *arena) {
  if (!checkArena(arena, "mark"))
    return noMark;
  return {arena->offset, arena->epoch};
}

pol_status pol_arena_retract(pol_arena *arena, pol_mark mark) {
  if (!checkArena(arena, "retract"))
    return POL_INVALID_ARGUMENT;
  if (mark.epoch != arena->epoch || mark.offset < 0 ||
      mark.offset > arena->offset)
    return failStaleMark("arena", mark, pol_arena_mark(arena));
  arena->offset = mark.offset;
  return POL_OK;
}

void pol_arena_reset(pol_arena *arena) {
  if (!checkArena(arena, "reset"))
    return;
  arena->offset = 0;
  ++arena->epoch;
}

int64_t pol_arena_watermark(const pol_arena *arena) {
  return checkArena(arena, "watermark") ? arena->peak : -1;
}

int64_t pol_arena_epoch(const pol_arena *arena) {
  return checkArena(arena, "epoch") ? arena->epoch : -1;
}
