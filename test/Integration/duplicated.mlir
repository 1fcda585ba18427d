// REQUIRES: pol-run
// RUN: pol-run %s --entry main --input 6xbf16=iota --space arena:256 --memory-report | FileCheck %s
// RUN: pol-run %s --entry main --input 0xbf16=iota --space arena:0 | FileCheck %s --check-prefix=EMPTY
// RUN: not pol-run %s --entry main --input 6xbf16=iota --space arena:16 2>&1 | FileCheck %s --check-prefix=FULL

// A primal of the caller's and a wider shadow of the arena's, through a call and
// a loop, and back as two results.

!d = !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>

func.func private @fill_shadow(%d: !d, %v: f32) -> !d {
  %x = pol.primal %d : !d
  %s = pol.shadow %d : !d
  %t = linalg.fill ins(%v : f32) outs(%s : tensor<?xf32>) -> tensor<?xf32>
  %e = pol.duplicated %x, %t : tensor<?xbf16>, tensor<?xf32>
  return %e : !d
}

// CHECK: result 0: 6xbf16 min 0 max 5
// CHECK: result 1: 6xf32 min 1.001 max 1.001
// CHECK: shadow - - arena 24 0 1
// CHECK: arena planned 256 24 24{{ }}
// EMPTY: result 0: 0xbf16
// EMPTY: result 1: 0xf32
// FULL: pol-run: error: out of memory: all that function 'main' allocates wants 24 bytes, but 16 are available, at {{.*}}duplicated.mlir:[[# @LINE + 1]]:
func.func @main(%arena: !pol.arena, %x: tensor<?xbf16>) -> !d {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %v = arith.constant 1.001 : f32
  %u = pol.duplicated %x : tensor<?xbf16> -> !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>>
  %d = pol.alloc %arena, %u : !pol.arena, !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>> -> !d
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%e = %d) -> !d {
    %f = func.call @fill_shadow(%e, %v) : (!d, f32) -> !d
    scf.yield %f : !d
  }
  return %r : !d
}
