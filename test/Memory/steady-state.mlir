// A compiled entry point that is called again and again takes nothing from the
// system's heap: every call is counted.

// RUN: split-file %s %t
// RUN: pol-opt %t/module.mlir --pol-to-llvm \
// RUN:   | mlir-translate --mlir-to-llvmir -o %t/module.ll
// RUN: %cc_with_pol -O1 %t/module.ll %t/driver.c %pol_runtime -o %t/driver \
// RUN:   -Wl,--wrap=malloc,--wrap=free,--wrap=realloc,--wrap=calloc,--wrap=aligned_alloc,--wrap=posix_memalign
// RUN: %t/driver | FileCheck %t/driver.c

// What bufferization adds is from the thread's heap, and counted as it should.
// RUN: pol-opt %t/module.mlir --pol-to-llvm=placement=carve \
// RUN:   | mlir-translate --mlir-to-llvmir -o %t/carved.ll
// RUN: %cc_with_pol -O1 %t/carved.ll %t/driver.c %pol_runtime -o %t/carved \
// RUN:   -Wl,--wrap=malloc,--wrap=free,--wrap=realloc,--wrap=calloc,--wrap=aligned_alloc,--wrap=posix_memalign
// RUN: %t/carved | FileCheck %t/driver.c

//--- module.mlir
!rows = tensor<?x64xf32>
// Frames on the stack, in the arena, in a loop and in a function that is called;
// kernels with scratch; results from the arena.
func.func private @gradient(%a: !pol.arena, %x: !rows, %w: tensor<64xf32>,
                            %dy: !rows) -> (!rows, tensor<64xf32>) {
  %y, %rstd = pol.apply "pol.rms_norm"(%x, %w) in %a
      : (!rows, tensor<64xf32>), !pol.arena -> !rows, tensor<?xf32>
  %dx, %dw = pol.apply "pol.rms_norm_grad"(%x, %dy, %w, %rstd) in %a
      : (!rows, !rows, tensor<64xf32>, tensor<?xf32>), !pol.arena
      -> !rows, tensor<64xf32>
  return %dx, %dw : !rows, tensor<64xf32>
}
func.func @step(%a: !pol.arena, %x: !rows, %w: tensor<64xf32>, %trips: index)
    -> (!rows, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : !rows
  %y0 = pol.alloc %a[%n] : !pol.arena -> !rows
  %y1 = linalg.exp ins(%x : !rows) outs(%y0 : !rows) -> !rows
  %y = scf.for %i = %c0 to %trips step %c1 iter_args(%t = %y1) -> !rows {
    %u = pol.frame on %a : !pol.arena -> !rows {
    ^bb0(%f: !pol.frame):
      %s0 = pol.alloc %f[%n] : !pol.frame -> !rows
      %s = linalg.add ins(%t, %x : !rows, !rows) outs(%s0 : !rows) -> !rows
      %0 = linalg.add ins(%s, %s : !rows, !rows) outs(%t : !rows) -> !rows
      pol.yield %0 : !rows
    }
    scf.yield %u : !rows
  }
  %dx, %dw = func.call @gradient(%a, %x, %w, %y)
      : (!pol.arena, !rows, tensor<64xf32>, !rows) -> (!rows, tensor<64xf32>)
  return %dx, %dw : !rows, tensor<64xf32>
}
func.func @hidden(%a: !pol.arena, %x: tensor<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>)
      -> tensor<8xf32>
  %u = tensor.extract %x[%c0] : tensor<8xf32>
  %v = tensor.extract %y[%c0] : tensor<8xf32>
  %r = arith.addf %u, %v : f32
  return %r : f32
}

//--- driver.c
#include "pol/Runtime/Arena.h"
#include <stdio.h>
#include <stdlib.h>

static long calls;
#define COUNTED(type, name, parameters, arguments)                             \
  type __real_##name parameters;                                               \
  type __wrap_##name parameters {                                              \
    ++calls;                                                                   \
    return __real_##name arguments;                                            \
  }
COUNTED(void *, malloc, (size_t n), (n))
COUNTED(void *, calloc, (size_t n, size_t m), (n, m))
COUNTED(void *, realloc, (void *p, size_t n), (p, n))
COUNTED(void *, aligned_alloc, (size_t a, size_t n), (a, n))
COUNTED(int, posix_memalign, (void **p, size_t a, size_t n), (p, a, n))
void __real_free(void *p);
void __wrap_free(void *p) {
  ++calls;
  __real_free(p);
}

typedef struct {
  float *allocated, *aligned;
  int64_t offset, size, stride;
} vector;
typedef struct {
  float *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} matrix;

int32_t pol_entry_step(pol_error *error, matrix *dx, vector *dw,
                       pol_space *arena, matrix *x, vector *w, int64_t trips);
int32_t pol_entry_hidden(pol_error *error, float *r, pol_space *arena,
                         vector *x);

static _Alignas(256) char slab[1 << 20];
static float data[300 * 64], weight[64];

int main(void) {
  pol_arena arena;
  pol_arena_init(&arena, slab, sizeof slab, 0);
  matrix dx;
  vector dw, w = {weight, weight, 0, 64, 1}, few = {data, data, 0, 8, 1};
  int failed = 0;
  long before = 0;
  for (int i = 0; i < 1010; ++i) {
    // The first ones may set something up.
    if (i == 10)
      before = calls;
    matrix x = {data, data, 0, {i % 300, 64}, {64, 1}};
    pol_arena_reset(&arena);
    failed += pol_entry_step(0, &dx, &dw, &arena.space, &x, &w, 3) != 0;
  }
  // CHECK: 1000 calls: 0 failed, 0 of the heap
  printf("1000 calls: %d failed, %ld of the heap\n", failed, calls - before);
  before = calls;
  float r;
  failed += pol_entry_hidden(0, &r, &arena.space, &few);
  // CHECK: a hidden buffer: 0 failed, 2 of the heap
  printf("a hidden buffer: %d failed, %ld of the heap\n", failed,
         calls - before);
  return 0;
}
