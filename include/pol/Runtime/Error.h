/*===----------------------------------------------------------------------===*\
|*                                                                            *|
|* Part of the pol project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file at the root of the tree for license       *|
|* information.                                                               *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/* The status of a compiled entry point, and the record it fills on failure. */

#ifndef POL_RUNTIME_ERROR_H
#define POL_RUNTIME_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call of the runtime, or a compiled entry point, returns. */
typedef enum pol_status {
  POL_OK = 0,
  /* A carve did not fit; nothing was changed. */
  POL_OUT_OF_MEMORY = 1,
  /* A size was negative or overflowed 64 bits; nothing was changed. */
  POL_INVALID_SIZE = 2,
  /* A mark was taken before a reset, or lies above the current offset;
   * nothing was changed. */
  POL_STALE_MARK = 3,
  /* A null pointer, an alignment that is no power of two, and the like. */
  POL_INVALID_ARGUMENT = 4,
  /* Operands of a kernel do not fit each other; the kernel has not run. */
  POL_SHAPE_MISMATCH = 5
} pol_status;

/* What went wrong. Strings are copied in, truncated if need be, and always
 * terminated: the record outlives the code that filled it. */
typedef struct pol_error {
  int32_t code;       /* a pol_status */
  int64_t wanted;     /* bytes asked for, -1 where 64 bits cannot say; of a
                       * mismatch the extent or number expected */
  int64_t available;  /* bytes that were free, -1 where that is unknown; of a
                       * mismatch what was there instead */
  char what[192];     /* "buffer 'y' of kernel 'softmax' (16x64xf32)"; of a
                       * mismatch "extent 0 of y of kernel 'softmax' to be", or
                       * "... to be at most" and so on, before the number */
  char location[192]; /* "file.mlir:12:8", empty if unknown */
} pol_error;

/* What is compared at one place in a program: constant data of the compiled
 * code. */
typedef enum pol_relation {
  POL_EQUAL = 0,
  POL_AT_MOST = 1,
  POL_AT_LEAST = 2,
  POL_MULTIPLE_OF = 3
} pol_relation;

typedef struct pol_check_site {
  const char *what;   /* "extent 0 of y" */
  const char *kernel; /* whose operand it is, "" if none's */
  const char *file;   /* source location, "" if unknown */
  int32_t line;
  int32_t column;
  int32_t relation; /* a pol_relation: how got had to compare with wanted */
} pol_check_site;

/* What compiled code calls where a comparison fails: records
 * POL_SHAPE_MISMATCH. */
void pol_report_mismatch(const pol_check_site *site, int64_t got,
                         int64_t wanted);

/* The last failure on this thread: never null; its code is POL_OK as long as
 * there was none. Success leaves it as it is. */
const pol_error *pol_last_error(void);

/* Copies this thread's last failure to *error, if error is not null, and
 * returns its code. Compiled entry points end with this on failure. */
int32_t pol_copy_last_error(pol_error *error);

/* Writes one line without a newline, "out of memory: <what> wants N bytes, but
 * M are available, at <location>", "shape mismatch: expected <what> N, but got
 * M, at <location>" or the like for other codes, into text[0, size); truncated
 * if need be, always terminated. Returns text, or "" where
 * there is none to write to. */
const char *pol_format_error(const pol_error *error, char *text, int64_t size);

#ifdef __cplusplus
}
#endif

#endif /* POL_RUNTIME_ERROR_H */
