// A buffer with a zero extent and a dynamic one was taken for one of static size
// and put on the stack, without its dynamic extent.

// RUN: pol-opt %s --pol-place-stage | FileCheck %s

// CHECK-LABEL: func.func @f(
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @f(%a: !pol.arena, %n: index, %c: index) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %b = pol.alloc %f[%n] : !pol.frame -> memref<?x0xf64>
    %d = memref.cast %b : memref<?x0xf64> to memref<?x?xf64>
    func.call @use(%d) : (memref<?x?xf64>) -> ()
  }
  return
}
func.func private @use(memref<?x?xf64>)
