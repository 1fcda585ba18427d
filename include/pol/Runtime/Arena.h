/*===----------------------------------------------------------------------===*\
|*                                                                            *|
|* Part of the pol project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file at the root of the tree for license       *|
|* information.                                                               *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/* An arena: a bump allocator over memory of the caller's. It never grows,
 * frees nothing one by one, and gives identical addresses to identical
 * sequences of carves. Not thread-safe: one arena, one thread at a time. */

#ifndef POL_RUNTIME_ARENA_H
#define POL_RUNTIME_ARENA_H

#include "pol/Runtime/Space.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POL_DEFAULT_ALIGNMENT 256

/* Read-only for the user. Offsets count from base, which is memory aligned up
 * to max(alignment, 256) (past the end of a slab smaller than that costs): what
 * fits in a capacity does not depend on where the slab lies, as long as no
 * single carve asks for more alignment than that. */
typedef struct pol_arena {
  pol_space space; /* must come first */
  char *base;
  int64_t capacity; /* bytes from base to the end of the slab, >= 0 */
  int64_t alignment;
  int64_t offset; /* end of the last carve */
  int64_t peak;   /* largest offset ever; survives retract and reset */
  int64_t epoch;  /* counts resets; a mark of another epoch is stale */
} pol_arena;

/* Makes an arena over memory[0, bytes). alignment is a power of two, or 0 for
 * POL_DEFAULT_ALIGNMENT. memory may be null only if bytes is 0. On failure
 * *arena is left as it was. */
pol_status pol_arena_init(pol_arena *arena, void *memory, int64_t bytes,
                          int64_t alignment);

/* bytes at an address aligned to max(arena alignment, alignment), or null:
 * then nothing changed, and pol_last_error says why. Zero bytes always succeed
 * and change nothing. */
void *pol_arena_carve(pol_arena *arena, int64_t bytes, int64_t alignment);
/* Of a null arena: {-1, -1}, which is stale everywhere. */
pol_mark pol_arena_mark(const pol_arena *arena);
/* Frees what was carved since mark; POL_STALE_MARK changes nothing. */
pol_status pol_arena_retract(pol_arena *arena, pol_mark mark);
/* Frees everything and makes every mark stale. */
void pol_arena_reset(pol_arena *arena);
/* Both are -1 of a null arena. */
int64_t pol_arena_watermark(const pol_arena *arena);
int64_t pol_arena_epoch(const pol_arena *arena);

#ifdef __cplusplus
}
#endif

#endif /* POL_RUNTIME_ARENA_H */
