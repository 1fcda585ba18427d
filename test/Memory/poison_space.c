/*===----------------------------------------------------------------------===*\
|*                                                                            *|
|* Part of the pol project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file at the root of the tree for license       *|
|* information.                                                               *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/* Spaces that fill memory with a pattern where its contents are undefined: when
 * it is given out, and when it is taken back. A heap, which also finds what is
 * freed twice, written past its end or after it was freed; and an arena. */

#include "pol/Runtime/Arena.h"
#include "pol/Runtime/Space.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 256 };

typedef struct block {
  struct block *older;
  char *memory; /* GUARD bytes, the buffer, GUARD bytes */
  int64_t bytes;
  int64_t sequence;
  int is_live;
} block;

/* Blocks stay in the list after they are freed: nothing else gets their memory,
 * and whoever reads it sees the pattern. */
typedef struct poison_heap {
  pol_space space;
  block *last;
  int64_t sequence, live, peak, epoch, faults;
  int pattern;
} poison_heap;

static void fill(const poison_heap *heap, const block *b) {
  memset(b->memory, heap->pattern, (size_t)(b->bytes + 2 * GUARD));
}

static int is_filled(const char *begin, int64_t bytes, int pattern) {
  for (int64_t i = 0; i < bytes; ++i)
    if ((unsigned char)begin[i] != pattern)
      return 0;
  return 1;
}

static int guards_are_whole(const poison_heap *heap, const block *b) {
  return is_filled(b->memory, GUARD, heap->pattern) &&
         is_filled(b->memory + GUARD + b->bytes, GUARD, heap->pattern);
}

static void *heap_carve(pol_space *space, int64_t bytes, int64_t alignment) {
  poison_heap *heap = (poison_heap *)space;
  if (alignment < 64)
    alignment = 64;
  if (bytes == 0)
    return (void *)(uintptr_t)alignment;
  block *b = malloc(sizeof *b);
  void *memory;
  /* The buffer lies GUARD bytes into it, which is aligned to no more. */
  if (!b || alignment > GUARD || bytes > (INT64_C(1) << 40) ||
      posix_memalign(&memory, GUARD, (size_t)(bytes + 2 * GUARD))) {
    free(b);
    return NULL;
  }
  *b = (block){heap->last, memory, bytes, ++heap->sequence, 1};
  heap->last = b;
  heap->live += bytes;
  if (heap->live > heap->peak)
    heap->peak = heap->live;
  fill(heap, b);
  return b->memory + GUARD;
}

static void kill_block(poison_heap *heap, block *b) {
  heap->faults += !guards_are_whole(heap, b);
  heap->live -= b->bytes;
  b->is_live = 0;
  fill(heap, b);
}

static int64_t heap_available(pol_space *space) {
  (void)space;
  return -1;
}

static pol_mark heap_mark(pol_space *space) {
  poison_heap *heap = (poison_heap *)space;
  return (pol_mark){heap->sequence, heap->epoch};
}

static pol_status heap_retract(pol_space *space, pol_mark mark) {
  poison_heap *heap = (poison_heap *)space;
  if (mark.epoch != heap->epoch || mark.offset < 0 ||
      mark.offset > heap->sequence) {
    ++heap->faults;
    return POL_STALE_MARK;
  }
  for (block *b = heap->last; b; b = b->older)
    if (b->is_live && b->sequence > mark.offset)
      kill_block(heap, b);
  return POL_OK;
}

static void heap_release(pol_space *space, void *address) {
  poison_heap *heap = (poison_heap *)space;
  /* What carves of no bytes get. */
  if ((uintptr_t)address <= 4096)
    return;
  for (block *b = heap->last; b; b = b->older)
    if (b->memory + GUARD == (char *)address && b->is_live) {
      kill_block(heap, b);
      return;
    }
  ++heap->faults;
}

static void heap_reset(pol_space *space) {
  poison_heap *heap = (poison_heap *)space;
  ++heap->epoch;
  for (block *b = heap->last; b; b = b->older)
    if (b->is_live)
      kill_block(heap, b);
}

static int64_t heap_watermark(pol_space *space) {
  return ((poison_heap *)space)->peak;
}

static const pol_space_ops heap_ops = {
    "poison heap", heap_carve,   heap_available, heap_mark,
    heap_retract,  heap_release, heap_reset,     heap_watermark};

poison_heap *poison_heap_new(int pattern) {
  poison_heap *heap = calloc(1, sizeof *heap);
  heap->space.ops = &heap_ops;
  heap->pattern = pattern;
  return heap;
}

int64_t poison_heap_live(const poison_heap *heap) { return heap->live; }
int64_t poison_heap_carves(const poison_heap *heap) { return heap->sequence; }

/* How often something was wrong, and frees all. */
int64_t poison_heap_delete(poison_heap *heap) {
  int64_t faults = heap->faults;
  while (heap->last) {
    block *b = heap->last;
    heap->last = b->older;
    faults += !guards_are_whole(heap, b);
    /* Written after it was freed. */
    faults += !b->is_live &&
              !is_filled(b->memory, b->bytes + 2 * GUARD, heap->pattern);
    free(b->memory);
    free(b);
  }
  free(heap);
  return faults;
}

/* An arena in memory of the caller's. */
typedef struct poison_arena {
  pol_space space;
  pol_arena arena;
  int pattern;
} poison_arena;

static void *arena_carve(pol_space *space, int64_t bytes, int64_t alignment) {
  poison_arena *self = (poison_arena *)space;
  void *address = pol_arena_carve(&self->arena, bytes, alignment);
  if (address && bytes)
    memset(address, self->pattern, (size_t)bytes);
  return address;
}

static pol_space *inner(pol_space *space) {
  return &((poison_arena *)space)->arena.space;
}

static int64_t arena_available(pol_space *space) {
  return inner(space)->ops->available(inner(space));
}

static pol_mark arena_mark(pol_space *space) {
  return pol_arena_mark(&((poison_arena *)space)->arena);
}

static pol_status arena_retract(pol_space *space, pol_mark mark) {
  poison_arena *self = (poison_arena *)space;
  int64_t end = self->arena.offset;
  pol_status status = pol_arena_retract(&self->arena, mark);
  if (status == POL_OK)
    memset(self->arena.base + mark.offset, self->pattern,
           (size_t)(end - mark.offset));
  return status;
}

static void arena_reset(pol_space *space) {
  pol_arena_reset(&((poison_arena *)space)->arena);
}

static int64_t arena_watermark(pol_space *space) {
  return pol_arena_watermark(&((poison_arena *)space)->arena);
}

static const pol_space_ops arena_ops = {
    "poison arena", arena_carve, arena_available, arena_mark,
    arena_retract,  NULL,        arena_reset,     arena_watermark};

poison_arena *poison_arena_new(void *memory, int64_t bytes, int pattern) {
  poison_arena *self = calloc(1, sizeof *self);
  self->space.ops = &arena_ops;
  self->pattern = pattern;
  if (pol_arena_init(&self->arena, memory, bytes, 0) != POL_OK) {
    free(self);
    return NULL;
  }
  memset(self->arena.base, pattern, (size_t)self->arena.capacity);
  return self;
}

pol_arena *poison_arena_inner(poison_arena *self) { return &self->arena; }
void poison_arena_delete(poison_arena *self) { free(self); }
