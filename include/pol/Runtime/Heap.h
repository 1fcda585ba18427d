/*===----------------------------------------------------------------------===*\
|*                                                                            *|
|* Part of the pol project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file at the root of the tree for license       *|
|* information.                                                               *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/* A heap: every carve is an allocation of its own, freed exactly once: by
 * release, by a retract to an earlier mark (newest first), by reset, or by
 * destroy. Addresses are aligned to 64 bytes or more. A carve of zero bytes
 * allocates nothing and counts nowhere. Not thread-safe: one heap, one thread
 * at a time. */

#ifndef POL_RUNTIME_HEAP_H
#define POL_RUNTIME_HEAP_H

#include "pol/Runtime/Space.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pol_heap_block;

/* Read-only for the user. */
typedef struct pol_heap {
  pol_space space;             /* must come first */
  struct pol_heap_block *last; /* blocks in order of allocation, newest first */
  int64_t limit;               /* bytes live at once, -1 for no limit */
  int64_t live;                /* bytes */
  int64_t peak;                /* bytes */
  int64_t allocations;         /* ever; survives retract and reset */
  int64_t frees;               /* likewise: all equal once none is live */
  int64_t sequence; /* number of the newest carve; what a mark's offset is */
  int64_t epoch;    /* counts resets; a mark of another epoch is stale */
} pol_heap;

/* limit >= 0 bounds the bytes live at once; -1 is no limit. Initializing a heap
 * that has live blocks loses them. */
pol_status pol_heap_init(pol_heap *heap, int64_t limit);
/* Frees every live block; of a null or destroyed heap, nothing. The counters
 * stay. The heap may be initialized again. */
void pol_heap_destroy(pol_heap *heap);

/* This thread's own heap, made on first use, for buffers of compiled code that
 * no space argument covers. It frees what is live when the thread ends. */
pol_space *pol_thread_heap(void);

#ifdef __cplusplus
}
#endif

#endif /* POL_RUNTIME_HEAP_H */
