// RUN: split-file %s %t
// RUN: pol-opt %t/chain.mlir --pol-promote-frames=max-stack-bytes=512 --pol-hoist-allocs --pol-lower-frames | FileCheck %t/chain.mlir
// RUN: pol-opt %t/chain.mlir --pol-promote-frames=max-stack-bytes=0 --pol-hoist-allocs --pol-lower-frames \
// RUN:   | FileCheck %t/chain.mlir --check-prefix=NONE
// RUN: pol-opt %t/functions.mlir --pol-promote-frames --pol-hoist-allocs --pol-lower-frames | FileCheck %t/functions.mlir
// RUN: not pol-opt %t/chain.mlir --pol-promote-frames=max-stack-bytes=-1 --pol-hoist-allocs --pol-lower-frames 2>&1 \
// RUN:   | FileCheck %t/chain.mlir --check-prefix=NEGATIVE

//--- chain.mlir
// NEGATIVE: error: expected max-stack-bytes not to be negative, but got -1
// NEGATIVE-NOT: error:

// Buffers count in lines of 64 bytes, callees first, each call anew.

// NONE-NOT: memref.alloca

// CHECK-LABEL: func.func private @leaf(
// CHECK-NEXT:    memref.alloca() {{.*}} : memref<33xi8>
// CHECK-NEXT:    memref.alloca() {{.*}} : memref<1xi8>
func.func private @use(memref<?xi8>)
func.func private @leaf(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<33xi8>
    %u = pol.alloc %f : !pol.frame -> memref<1xi8>
  }
  return
}

// 128 + 128 bytes below; 256 more fit, then not even one.
// CHECK-LABEL: func.func @fits(
// CHECK-NEXT:    memref.alloca() {{.*}} : memref<256xi8>
// CHECK:         pol.carve %{{.+}} -> memref<1xi8>
func.func @fits(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<256xi8>
  }
  func.call @leaf(%a) : (!pol.arena) -> ()
  func.call @leaf(%a) : (!pol.arena) -> ()
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<1xi8>
  }
  return
}

// CHECK-LABEL: func.func @does_not_fit(
// CHECK-NOT:     memref.alloca
// CHECK:         pol.carve %{{.+}} -> memref<385xi8>
func.func @does_not_fit(%a: !pol.arena) {
  func.call @leaf(%a) : (!pol.arena) -> ()
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<385xi8>
  }
  return
}

// One frame goes with the stack as a whole, or not at all.
// CHECK-LABEL: func.func @all_or_none(
// CHECK-NOT:     memref.alloca
// CHECK:         pol.mark
// CHECK:         pol.carve
// CHECK:         pol.carve
func.func @all_or_none(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<512xi8>
    %u = pol.alloc %f : !pol.frame -> memref<1xi8>
  }
  return
}

//--- functions.mlir

// CHECK-LABEL: func.func @recursive(
// CHECK-NOT:     memref.alloca
func.func @recursive(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
    func.call @recursive(%a) : (!pol.arena) -> ()
  }
  return
}

// CHECK-LABEL: func.func @even(
// CHECK-NOT:     memref.alloca
func.func @even(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
  }
  func.call @odd(%a) : (!pol.arena) -> ()
  return
}
// CHECK-LABEL: func.func @odd(
// CHECK-NOT:     memref.alloca
func.func @odd(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
  }
  func.call @even(%a) : (!pol.arena) -> ()
  return
}

// One that calls a recursive function is not so itself.
// CHECK-LABEL: func.func @calls_recursive(
// CHECK-NEXT:    memref.alloca
func.func @calls_recursive(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
  }
  func.call @even(%a) : (!pol.arena) -> ()
  return
}

// CHECK-LABEL: func.func @address_taken(
// CHECK-NOT:     memref.alloca
func.func @address_taken(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
  }
  func.call @below_pointer(%a) : (!pol.arena) -> ()
  return
}

// Recursive through a pointer.
// CHECK-LABEL: func.func @below_pointer(
// CHECK-NOT:     memref.alloca
func.func @below_pointer(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<4xf32>
  }
  %g = func.constant @address_taken : (!pol.arena) -> ()
  func.call_indirect %g(%a) : (!pol.arena) -> ()
  return
}

// The calls of a function without a frame of its own add up, too: the largest
// of the callees gives way.

// CHECK-LABEL: func.func private @small(
// CHECK-NEXT:    memref.alloca() {{.*}} : memref<64xi8>
func.func private @small(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<64xi8>
  }
  return
}

// CHECK-LABEL: func.func private @large(
// CHECK-NOT:     memref.alloca
// CHECK:         pol.carve
func.func private @large(%a: !pol.arena) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> memref<40000xi8>
  }
  return
}

func.func @many_calls(%a: !pol.arena) {
  call @small(%a) : (!pol.arena) -> ()
  call @large(%a) : (!pol.arena) -> ()
  call @large(%a) : (!pol.arena) -> ()
  return
}
