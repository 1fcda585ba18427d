// A call that is refused has written nothing, and leaves the arena as it was,
// even if other kernels come before the wrong one.

// RUN: split-file %s %t
// RUN: pol-opt %t/module.mlir --pol-to-llvm \
// RUN:   | mlir-translate --mlir-to-llvmir -o %t/module.ll
// RUN: %cc_with_pol %t/module.ll %t/driver.c %pol_runtime -o %t/driver
// RUN: %t/driver | FileCheck %t/driver.c

//--- module.mlir
!vector = tensor<?xf32>
!rows = tensor<?x?xf32>
!vectorPair = !pol.duplicated<tensor<?xf32>>
!rowsPair = !pol.duplicated<tensor<?x?xf32>>

// Only the second norm has a weight, which may be wrong.
func.func @norms(%arena: !pol.arena, %x: !rows, %w: !vector, %y: !rows,
                 %rstd: !vector) -> (!rows, !vector, !rows) {
  %0:2 = pol.rms_norm ins(%x : !rows) outs(%y : !rows)
      checkpoints(%rstd : !vector) -> !rows, !vector
  %1, %2 = pol.apply "pol.rms_norm"(%0#0, %w) in %arena
      : (!rows, !vector), !pol.arena -> !rows, !vector
  return %0#0, %0#1, %1 : !rows, !vector, !rows
}

// Into the caller's shadows, with scratch of the arena.
func.func @norm_grad(%arena: !pol.arena, %x: !rows, %w: !vector, %dy: !rows,
                     %rstd: !vector, %dx: !rows, %dw: !vector)
    -> (!rows, !vector) {
  %xp = pol.duplicated %x, %dx : !rows, !rows
  %wp = pol.duplicated %w, %dw : !vector, !vector
  %0, %1 = pol.apply "pol.rms_norm_grad"(%xp, %dy, %wp, %rstd) in %arena
      : (!rowsPair, !rows, !vectorPair, !vector), !pol.arena -> !rows, !vector
  return %0, %1 : !rows, !vector
}

// The last of the lengths may be wrong. They are read where the kernel is, after
// what comes before it.
func.func @attention(%arena: !pol.arena, %q: tensor<?x1x1x2xf32>,
                     %n: tensor<?xi64>, %o: tensor<?x1x1x2xf32>,
                     %sum: tensor<?x1x1xf32>)
    -> (tensor<?x1x1x2xf32>, tensor<?x1x1xf32>) {
  %k, %0, %1 = pol.apply "pol.attention"(%q, %q, %q) in %arena
      : (tensor<?x1x1x2xf32>, tensor<?x1x1x2xf32>, tensor<?x1x1x2xf32>),
        !pol.arena -> tensor<?x1x1x2xf32>, tensor<?x1x1xf32>, tensor<?x1x1xf32>
  %2:3 = pol.attention ins(%q, %k, %q, k_lengths = %n : tensor<?x1x1x2xf32>,
      tensor<?x1x1x2xf32>, tensor<?x1x1x2xf32>, tensor<?xi64>)
      outs(%o : tensor<?x1x1x2xf32>)
      checkpoints(%0, %sum : tensor<?x1x1xf32>, tensor<?x1x1xf32>)
      -> tensor<?x1x1x2xf32>, tensor<?x1x1xf32>, tensor<?x1x1xf32>
  return %2#0, %2#2 : tensor<?x1x1x2xf32>, tensor<?x1x1xf32>
}

//--- driver.c
#include "pol/Runtime/Arena.h"
#include <stdio.h>

enum { ROWS = 70, COLUMNS = 8 };

typedef struct {
  void *allocated, *aligned;
  int64_t offset, size, stride;
} vector;
typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} rows;
typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes[3], strides[3];
} cube;
typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes[4], strides[4];
} array;

int32_t pol_entry_norms(pol_error *, rows *, vector *, rows *, pol_space *,
                        rows *, vector *, rows *, vector *);
int32_t pol_entry_norm_grad(pol_error *, rows *, vector *, pol_space *, rows *,
                            vector *, rows *, vector *, rows *, vector *);
int32_t pol_entry_attention(pol_error *, array *, cube *, pol_space *, array *,
                            vector *, array *, cube *);

static _Alignas(256) char slab[1 << 16];
static float x[ROWS * COLUMNS], weight[ROWS];
static float first[ROWS * COLUMNS], second[ROWS];
static int64_t lengths[4] = {1, 0, 1, 1};
static pol_arena arena;

static vector vector_of(void *data, int64_t size) {
  vector v = {data, data, 0, size, 1};
  return v;
}

static rows rows_of(float *data) {
  rows r = {data, data, 0, {ROWS, COLUMNS}, {COLUMNS, 1}};
  return r;
}

static array array_of(float *data) {
  array a = {data, data, 0, {4, 1, 1, 2}, {2, 2, 2, 1}};
  return a;
}

// What destinations hold before each call, and something in the arena.
static void prepare(void) {
  for (int i = 0; i < ROWS * COLUMNS; ++i) {
    x[i] = (float)(i % 7);
    first[i] = 7;
  }
  for (int i = 0; i < ROWS; ++i) {
    weight[i] = 1;
    second[i] = 7;
  }
  pol_arena_init(&arena, slab, sizeof slab, 0);
  pol_arena_carve(&arena, 1000, 0);
}

static void report(const char *name, int32_t status, pol_error *error) {
  int written = 0;
  for (int i = 0; i < ROWS * COLUMNS; ++i)
    written += first[i] != 7;
  for (int i = 0; i < ROWS; ++i)
    written += second[i] != 7;
  printf("%s: status %d, offset %d, peak %d, written %d\n", name, status,
         (int)arena.offset, (int)arena.peak, written);
  char text[512];
  if (status)
    printf("%s\n", pol_format_error(error, text, sizeof text));
}

static void norms(const char *name, int64_t size) {
  prepare();
  pol_error error;
  rows in = rows_of(x), y = rows_of(first), results[2];
  vector w = vector_of(weight, size), rstd = vector_of(second, ROWS), saved;
  report(name, pol_entry_norms(&error, &results[0], &saved, &results[1],
                               &arena.space, &in, &w, &y, &rstd), &error);
}

static void norm_grad(const char *name, int64_t size) {
  prepare();
  pol_error error;
  rows in = rows_of(x), dy = rows_of(x), dx = rows_of(first), result;
  vector w = vector_of(weight, COLUMNS), dw = vector_of(second, COLUMNS);
  vector rstd = vector_of(weight, size), sums;
  report(name, pol_entry_norm_grad(&error, &result, &sums, &arena.space, &in,
                                   &w, &dy, &rstd, &dx, &dw), &error);
}

static void attention(const char *name, int64_t length) {
  prepare();
  lengths[3] = length;
  pol_error error;
  array q = array_of(x), o = array_of(first), result;
  cube sum = {second, second, 0, {4, 1, 1}, {1, 1, 1}}, saved;
  vector n = vector_of(lengths, 4);
  report(name, pol_entry_attention(&error, &result, &saved, &arena.space, &q,
                                   &n, &o, &sum), &error);
}

int main(void) {
  // CHECK: norms: status 0, offset 3264, peak 3264, written 630
  norms("norms", COLUMNS);
  // CHECK: wrong norms: status {{[1-9]}}, offset 1000, peak 1000, written 0
  // CHECK-NEXT: shape mismatch: expected extent 0 of weight of kernel 'pol.rms_norm' to be 8, but got 9
  norms("wrong norms", COLUMNS + 1);
  // CHECK: gradient: status 0, offset 1000, peak 1088, written 568
  norm_grad("gradient", ROWS);
  // CHECK: wrong gradient: status {{[1-9]}}, offset 1000, peak 1000, written 0
  // CHECK-NEXT: shape mismatch: expected extent 0 of rstd of kernel 'pol.rms_norm_grad' to be 70, but got 69
  norm_grad("wrong gradient", ROWS - 1);
  // What is in the arena and not returned is given back.
  // CHECK: attention: status 0, offset 1000, peak 1552, written 12
  attention("attention", 1);
  // CHECK: wrong attention: status {{[1-9]}}, offset 1000, peak 1552, written 0
  // CHECK-NEXT: shape mismatch: expected the greatest of k_lengths of kernel 'pol.attention' to be at most 1, but got 2
  attention("wrong attention", 2);
  return 0;
}
