/*===----------------------------------------------------------------------===*\
|*                                                                            *|
|* Part of the pol project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file at the root of the tree for license       *|
|* information.                                                               *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/* Carves from an arena until it is full, and prints what the runtime says. */

#include "pol/Runtime/Arena.h"
#include "pol/Runtime/Heap.h"

#include <stdio.h>

int main(void) {
  static char slab[4096];
  pol_arena arena;
  char text[256];
  int carves = 0;
  if (pol_arena_init(&arena, slab, sizeof(slab), 0) != POL_OK)
    return 1;
  while (pol_arena_carve(&arena, 256, 0))
    ++carves;
  printf("%d carves, then: %s\n", carves,
         pol_format_error(pol_last_error(), text, sizeof(text)));
  return carves >= 15 && pol_thread_heap() ? 0 : 1;
}
