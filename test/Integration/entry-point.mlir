// A compiled entry point in a C program: it returns a status, fills the error
// record, and leaves the arena as it was where it fails.

// RUN: split-file %s %t
// RUN: pol-opt %t/module.mlir --pol-to-llvm \
// RUN:   | mlir-translate --mlir-to-llvmir -o %t/module.ll
// RUN: %cc_with_pol %t/module.ll %t/driver.c %pol_runtime -o %t/driver
// RUN: %t/driver | FileCheck %t/driver.c

//--- module.mlir
func.func @exp2x(%x: tensor<?xf32>, %y: tensor<?xf32>, %tmp: tensor<?xf32>)
    -> tensor<?xf32> {
  %0 = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>)
      outs(%tmp : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.exp ins(%0 : tensor<?xf32>) outs(%y : tensor<?xf32>)
      -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
pol.description for @exp2x(%x: tensor<?xf32>) {
  %u = pol.undef like %x : tensor<?xf32>
  pol.describe outputs {y(1) = %u : !pol.undef<?xf32>}
               scratch {tmp(2) = %u : !pol.undef<?xf32>}
}
func.func @f(%arena: !pol.arena, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = pol.apply @exp2x(%x) in %arena
      : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
  return %r : tensor<?xf32>
}

//--- driver.c
#include "pol/Runtime/Arena.h"
#include <stdio.h>

typedef struct {
  float *allocated, *aligned;
  int64_t offset, size, stride;
} vector;

int32_t pol_entry_f(pol_error *error, vector *result, pol_space *arena,
                    vector *x);

int64_t f_footprint(int64_t x0);

static _Alignas(256) char slab[2048];

static int32_t call(pol_arena *arena, pol_error *error, vector *result) {
  static float data[100] = {0, 1, 2};
  vector x = {data, data, 0, 100, 1};
  return pol_entry_f(error, result, &arena->space, &x);
}

int main(void) {
  pol_arena arena;
  pol_error error;
  char text[512];
  vector y = {0, 0, 0, 0, 0};

  // Both buffers take 400 bytes, and the second begins at 512.
  // CHECK: footprints: 912 0 -1 -1
  printf("footprints: %d %d %d %d\n", (int)f_footprint(100),
         (int)f_footprint(0), (int)f_footprint(-1),
         (int)f_footprint(INT64_MAX / 4));
  pol_arena_init(&arena, slab, 912, 0);
  // CHECK: fits: status 0, 100 values, y[2] = 54.59815, offset 400, peak 912
  int32_t status = call(&arena, 0, &y);
  printf("fits: status %d, %d values, y[2] = %.5f, offset %d, peak %d\n",
         status, (int)y.size, y.aligned[2], (int)arena.offset,
         (int)arena.peak);

  // One byte less is too little, and nothing is taken.
  pol_arena_init(&arena, slab, 911, 0);
  // CHECK: too small: status 1, offset 0, peak 0, wanted 912, available 911
  // CHECK: out of memory: all that function 'f' allocates wants 912 bytes, but 911 are available
  status = call(&arena, &error, &y);
  printf("too small: status %d, offset %d, peak %d, wanted %d, available %d\n",
         status, (int)arena.offset, (int)arena.peak, (int)error.wanted,
         (int)error.available);
  printf("%s\n", pol_format_error(&error, text, sizeof text));

  // Nobody has to look at the record.
  // CHECK: ignored: status 1, offset 0
  status = call(&arena, 0, &y);
  printf("ignored: status %d, offset %d\n", status, (int)arena.offset);
  return 0;
}
