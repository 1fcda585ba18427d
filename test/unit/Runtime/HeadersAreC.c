/*===----------------------------------------------------------------------===*\
|*                                                                            *|
|* Part of the pol project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file at the root of the tree for license       *|
|* information.                                                               *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/* Compiled as C11: the headers must stay C, and the layouts that compiled code
 * relies on must not move. */

#include "pol/Runtime/Arena.h"
#include "pol/Runtime/Error.h"
#include "pol/Runtime/Heap.h"
#include "pol/Runtime/Space.h"

#include <stddef.h>

_Static_assert(sizeof(pol_mark) == 16, "a mark is two 64-bit integers");
_Static_assert(offsetof(pol_error, wanted) == 8, "wanted follows code");
_Static_assert(offsetof(pol_error, what) == 24, "what follows available");
_Static_assert(sizeof(pol_error) == 408, "the record of an entry point");
_Static_assert(offsetof(pol_arena, space) == 0, "an arena is a space");
_Static_assert(offsetof(pol_heap, space) == 0, "a heap is a space");

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(offsetof(pol_site, line) == 40, "five strings come first");
_Static_assert(offsetof(pol_site, element_bytes) == 48, "then line, column");
_Static_assert(sizeof(pol_site) == 64, "sites are constant data");
_Static_assert(offsetof(pol_check_site, line) == 24,
               "three strings come first");
_Static_assert(sizeof(pol_check_site) == 40, "with padding at the end");
_Static_assert(offsetof(pol_arena, base) == 24, "a space is three pointers");
_Static_assert(offsetof(pol_arena, offset) == 48, "after three words");
#endif

int pol_test_from_c(void);

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition))                                                          \
      return __LINE__;                                                         \
  } while (0)

static int check_space(pol_space *space) {
  static const pol_site site = {
      .buffer = "y", .kernel = "softmax", .type = "f32", .element_bytes = 4};
  const int64_t dims[2] = {2, 8};
  const int64_t bad[1] = {-1};
  pol_mark mark = pol_space_mark(space);
  float *data = pol_carve(space, &site, 2, dims);
  CHECK(data);
  data[15] = 1.0f;
  CHECK(pol_carve(space, &site, 1, bad) == NULL);
  CHECK(pol_last_error()->code == POL_INVALID_SIZE);
  CHECK(pol_space_retract(space, mark.offset, mark.epoch) == 1);
  CHECK(pol_space_watermark(space) == 64);
  pol_space_reset(space);
  CHECK(pol_space_retract(space, mark.offset, mark.epoch) == 0);
  CHECK(pol_copy_last_error(NULL) == POL_STALE_MARK);
  return 0;
}

int pol_test_from_c(void) {
  static char slab[1024];
  pol_arena arena;
  pol_heap heap;
  int line;
  CHECK(pol_arena_init(&arena, slab, sizeof(slab), 0) == POL_OK);
  line = check_space(&arena.space);
  if (line)
    return line;
  CHECK(pol_heap_init(&heap, 64) == POL_OK);
  line = check_space(&heap.space);
  pol_heap_destroy(&heap);
  return line;
}
