// REQUIRES: pol-run
// RUN: pol-run %s --input i64=3 --input i64=5 --memory-report 2>&1 | FileCheck %s
// RUN: not pol-run %s --input i64=3 --input i64=1152921504606846976 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAIL
// RUN: %memcheck pol-run %s --input i64=3 --input i64=5 --opt-level 0 \
// RUN:   --threads 1 | FileCheck %s --check-prefix=RESULT
// RUN: bash -c "%memcheck pol-run %s --input i64=3 \
// RUN:   --input i64=1152921504606846976 --opt-level 0 --threads 1; test $? = 1"

// Every buffer of a heap is freed exactly once: after its last use, at the end
// of its frame, at the function's end if bufferization added it, or with the
// heap; and after a failure in the middle.

func.func private @local(%h: !pol.heap, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %t = pol.alloc %h[%n] {name = "local"} : !pol.heap -> memref<?xf32>
  memref.store %one, %t[%c0] : memref<?xf32>
  %v = memref.load %t[%c0] : memref<?xf32>
  return %v : f32
}

func.func private @branch(%h: !pol.heap, %c: i1, %n: index) -> memref<?xf32> {
  %two = arith.constant 2.0 : f32
  %a = pol.alloc %h[%n] {name = "a"} : !pol.heap -> memref<?xf32>
  %b = pol.alloc %h[%n] {name = "b"} : !pol.heap -> memref<?xf32>
  %s = arith.select %c, %a, %b : memref<?xf32>
  linalg.fill ins(%two : f32) outs(%s : memref<?xf32>)
  %r = scf.if %c -> memref<?xf32> {
    %d = pol.alloc %h[%n] {name = "d"} : !pol.heap -> memref<?xf32>
    memref.copy %s, %d : memref<?xf32> to memref<?xf32>
    scf.yield %d : memref<?xf32>
  } else {
    scf.yield %s : memref<?xf32>
  }
  return %r : memref<?xf32>
}

func.func private @frame(%h: !pol.heap, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %three = arith.constant 3.0 : f32
  %r = pol.frame on %h : !pol.heap -> f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f[%n] {name = "framed"} : !pol.frame -> memref<?xf32>
    memref.store %three, %t[%c0] : memref<?xf32>
    %v = memref.load %t[%c0] : memref<?xf32>
    pol.yield %v : f32
  }
  return %r : f32
}

// A tensor.empty that a branch passes on, and one that stays.
func.func private @hidden(%c: i1, %n: index, %x: tensor<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %four = arith.constant 4.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %t = tensor.insert %four into %e[%c0] : tensor<?xf32>
  %s = scf.if %c -> tensor<?xf32> {
    %g = tensor.empty(%n) : tensor<?xf32>
    %u = tensor.insert %four into %g[%c0] : tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  %v = tensor.extract %t[%c0] : tensor<?xf32>
  %w = tensor.extract %s[%c0] : tensor<?xf32>
  %r = arith.addf %v, %w : f32
  return %r : f32
}

// RESULT: result 0: {{.*}} [2,
// RESULT: result 1: {{.*}} [40]
// CHECK: result 0: {{.*}} [2,
// CHECK: result 1: {{.*}} [40]
// CHECK-DAG: local - - heap 20 - 3 {{[0-9]+\.\.[0-9]+$}}
// CHECK-DAG: framed - - heap 20 - 3 {{[0-9]+\.\.[0-9]+$}}
// CHECK-DAG: x - - heap 20 - 3 {{[0-9]+\.\.[0-9]+$}}
// CHECK-DAG: b - - heap 20 - 2 {{[0-9]+\.\.end$}}
// CHECK-DAG: d - - heap 20 - 1 {{[0-9]+\.\.end$}}
// CHECK-DAG: - - hidden hidden heap 20 - 3 {{[0-9]+\.\.[0-9]+$}}

// FAIL: pol-run: error: out of memory: {{.+}} wants 4611686018427387904 bytes
// FAIL-NOT: error
func.func @main(%h: !pol.heap, %m: index, %n: index) -> (memref<?xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %false = arith.constant false
  %s = scf.for %i = %c0 to %m step %c1 iter_args(%p = %zero) -> f32 {
    %size = arith.addi %c5, %c0 : index
    %u = func.call @local(%h, %size) : (!pol.heap, index) -> f32
    %v = func.call @frame(%h, %size) : (!pol.heap, index) -> f32
    %x = pol.alloc %h[%size] {name = "x"} : !pol.heap -> memref<?xf32>
    linalg.fill ins(%u : f32) outs(%x : memref<?xf32>)
    %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
    %w = func.call @hidden(%true, %size, %t) : (i1, index, tensor<?xf32>) -> f32
    %q = arith.addf %p, %u : f32
    %r = arith.addf %q, %v : f32
    %z = arith.addf %r, %w : f32
    scf.yield %z : f32
  }
  %last = func.call @branch(%h, %true, %n) : (!pol.heap, i1, index) -> memref<?xf32>
  %both = func.call @branch(%h, %false, %c5) : (!pol.heap, i1, index) -> memref<?xf32>
  %six = memref.load %last[%c0] : memref<?xf32>
  %seven = memref.load %both[%c0] : memref<?xf32>
  %e = arith.addf %six, %seven : f32
  %d = arith.addf %s, %e : f32
  return %last, %d : memref<?xf32>, f32
}
