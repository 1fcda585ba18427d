// REQUIRES: pol-run
// RUN: pol-run %s --placement=carve --space arena:4K --input i64=16 --input i64=64 | FileCheck %s
// RUN: pol-run %s --placement=carve --space arena:4K --input i64=0 --input i64=0 | FileCheck %s --check-prefix=ZERO
// RUN: pol-run %s --placement=carve --input i64=0 --input i64=9223372036854775807 | FileCheck %s --check-prefix=ZERO
// RUN: not pol-run %s --placement=carve --space arena:4K --input i64=16 --input i64=65 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not pol-run %s --placement=carve --input i64=-1 --input i64=4 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not pol-run %s --placement=carve --space arena:4K --input i64=0 --input i64=-1 2>&1 | FileCheck %s --check-prefix=ZERO-NEGATIVE
// RUN: not pol-run %s --placement=carve --input i64=4294967296 --input i64=4294967296 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// RUN: not pol-run %s --placement=carve --input i64=1048576 --input i64=1048576 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not pol-run %s --placement=carve --input i64=4294967296 --input i64=4294967296 2>&1 | count 1
// RUN: not pol-run %s --placement=carve --space arena:4K --input i64=16 --input i64=65 2>&1 | count 1
// RUN: pol-run %s --space arena:4K --input i64=16 --input i64=64 | FileCheck %s
// RUN: pol-run %s --space arena:4K --input i64=0 --input i64=0 | FileCheck %s --check-prefix=ZERO
// RUN: pol-run %s --input i64=0 --input i64=9223372036854775807 | FileCheck %s --check-prefix=ZERO
// RUN: not pol-run %s --space arena:4K --input i64=16 --input i64=65 2>&1 | FileCheck %s --check-prefix=PLAN-FULL
// RUN: not pol-run %s --input i64=-1 --input i64=4 2>&1 | FileCheck %s --check-prefix=PLAN-NONE
// RUN: not pol-run %s --space arena:4K --input i64=0 --input i64=-1 2>&1 | FileCheck %s --check-prefix=PLAN-NONE
// RUN: not pol-run %s --input i64=4294967296 --input i64=4294967296 2>&1 | FileCheck %s --check-prefix=PLAN-NONE
// RUN: not pol-run %s --input i64=4294967296 --input i64=4294967296 2>&1 | count 1
// RUN: not pol-run %s --space arena:4K --input i64=16 --input i64=65 2>&1 | count 1
// RUN: pol-run %s --space arena --input i64=16 --input i64=64 | FileCheck %s
// RUN: not pol-run %s --space arena --input i64=-1 --input i64=64 2>&1 | FileCheck %s --check-prefix=EXACT

// Sizes that are only known at run time: each failure is one line.

// CHECK: result 0: {{.*}} [16]
// ZERO: result 0: {{.*}} [0]
// FULL: pol-run: error: out of memory: buffer 't' of kernel 'k' (16x65xf32) wants 4160 bytes, but 4096 are available, at {{.*}}sizes.mlir:[[#]]:10
// NEGATIVE: pol-run: error: invalid size: buffer 't' of kernel 'k' (-1x4xf32) is negative or exceeds 64 bits
// ZERO-NEGATIVE: pol-run: error: invalid size: buffer 't' of kernel 'k' (0x-1xf32) is negative
// OVERFLOW: pol-run: error: invalid size: buffer 't' of kernel 'k' (4294967296x4294967296xf32)
// HUGE: pol-run: error: out of memory: buffer 't' of kernel 'k' (1048576x1048576xf32) wants 4398046511104 bytes
// PLAN-FULL: pol-run: error: out of memory: all that function 'main' allocates wants 4160 bytes, but 4096 are available, at {{.*}}sizes.mlir:[[#]]:1
// PLAN-NONE: pol-run: error: invalid size: all that function 'main' allocates is negative or exceeds 64 bits, at {{.*}}sizes.mlir:[[#]]:1
// EXACT: pol-run: error: expected what 'main' allocates to fit 64 bits
func.func @main(%a: !pol.arena, %n: index, %m: index) -> index {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %r = pol.frame on %a : !pol.arena -> index {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f[%n, %m] {kernel = "k", name = "t"} : !pol.frame -> memref<?x?xf32>
    linalg.fill ins(%one : f32) outs(%t : memref<?x?xf32>)
    %d = memref.dim %t, %c0 : memref<?x?xf32>
    pol.yield %d : index
  }
  return %r : index
}
