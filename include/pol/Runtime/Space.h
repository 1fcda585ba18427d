/*===----------------------------------------------------------------------===*\
|*                                                                            *|
|* Part of the pol project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file at the root of the tree for license       *|
|* information.                                                               *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/* A space: where buffers come from. Arenas and heaps are spaces; so is any
 * struct that starts with a pol_space and fills in its operations. Compiled
 * code sees spaces and frames alike as a pol_space pointer. */

#ifndef POL_RUNTIME_SPACE_H
#define POL_RUNTIME_SPACE_H

#include "pol/Runtime/Error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pol_space pol_space;

/* A point in a space's sequence of carves, to return to. */
typedef struct pol_mark {
  int64_t offset;
  int64_t epoch;
} pol_mark;

/* One place in a program that carves: constant data of the compiled code. */
typedef struct pol_site {
  const char *buffer; /* name in its description, "" if it has none */
  const char *kernel; /* kernel that described it, "" if none */
  const char *role; /* "output", "checkpoint", "scratch", "hidden", "slab" (all
                     * that the function kernel allocates) or "" */
  const char *type; /* element type as text, "f32" */
  const char *file; /* source location, "" if unknown */
  int32_t line;
  int32_t column;
  int64_t element_bytes;
  int64_t alignment; /* of the address; a power of two, 0 for the default */
} pol_site;

typedef enum pol_event_kind {
  POL_EVENT_CARVE = 0,
  POL_EVENT_RELEASE = 1, /* one buffer, of a heap */
  POL_EVENT_RETRACT = 2, /* all carved since mark */
  POL_EVENT_RESET = 3
} pol_event_kind;

typedef struct pol_event {
  pol_event_kind kind;
  const pol_site *site; /* of a carve, else null */
  void *address;        /* of a carve or a release */
  int64_t bytes;        /* of a carve */
  pol_mark mark;        /* before a carve; what a retract returned to */
} pol_event;

typedef void (*pol_observer)(void *user, pol_space *space,
                             const pol_event *event);

/* The operations of a space. Each leaves the space unchanged on failure. Only
 * carve must be there: call the others through pol_space_*, which refuse what
 * a space leaves null. */
typedef struct pol_space_ops {
  const char *name; /* "arena" */
  /* bytes >= 0; alignment a power of two, 0 for the space's default. Returns
   * null when the space is full. A carve of zero bytes always succeeds, takes
   * nothing, and gives an aligned address that is not null. */
  void *(*carve)(pol_space *space, int64_t bytes, int64_t alignment);
  /* Bytes a carve of default alignment could still get, -1 if unknown. */
  int64_t (*available)(pol_space *space);
  pol_mark (*mark)(pol_space *space);
  pol_status (*retract)(pol_space *space, pol_mark mark);
  /* Frees one buffer early. Null, as in an arena, where the space cannot: then
   * pol_space_release does nothing. */
  void (*release)(pol_space *space, void *address);
  void (*reset)(pol_space *space);
  int64_t (*watermark)(pol_space *space); /* bytes, at its peak */
  /* Keeps the first bytes of the last carve, which is address, and has the
   * others again. Null where the space cannot. */
  void (*trim)(pol_space *space, void *address, int64_t bytes);
} pol_space_ops;

struct pol_space {
  const pol_space_ops *ops;
  pol_observer observer; /* null: none */
  void *observer_user;
};

/* Calls observer after every success of the pol_carve and pol_space_* functions
 * below, null: no longer. Direct calls of pol_arena_* are not observed. */
void pol_space_observe(pol_space *space, pol_observer observer, void *user);

/* What compiled code calls. Every function records a failure on this thread
 * (see pol_last_error). A null space is POL_INVALID_ARGUMENT in all of them. */

/* A buffer of dims[0] x ... x dims[rank-1] elements of site->element_bytes.
 * Null on failure: a negative extent, a size beyond 64 bits, a full space. A
 * zero extent among huge ones makes zero bytes. */
void *pol_carve(pol_space *space, const pol_site *site, int64_t rank,
                const int64_t *dims);
/* On failure {-1, -1}, which is stale in every space. */
pol_mark pol_space_mark(pol_space *space);
/* 1 on success, 0 on failure. */
int32_t pol_space_retract(pol_space *space, int64_t offset, int64_t epoch);
/* address is null (then nothing happens) or what a carve of this very space
 * returned and nothing freed since; that is not checked. */
void pol_space_release(pol_space *space, void *address);
/* Gives back all but the first bytes of the last carve, which is address. Does
 * nothing where a space cannot, or where it is not the last. */
void pol_space_trim(pol_space *space, void *address, int64_t bytes);
void pol_space_reset(pol_space *space);
/* -1 on failure. */
int64_t pol_space_watermark(pol_space *space);

#ifdef __cplusplus
}
#endif

#endif /* POL_RUNTIME_SPACE_H */
