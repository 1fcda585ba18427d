// What runs later uses later what it captures: it shares no memory with what
// comes after it.

// RUN: pol-opt %s --pol-plan-memory --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @f(
// CHECK: %[[SLAB:.*]], %{{.*}} = pol.carve
// CHECK: memref.view %[[SLAB]][%[[S:.*]]][]
// CHECK: async.execute
// CHECK: memref.view %[[SLAB]][%
// CHECK-NOT: [%[[S]]]
// CHECK: async.await
func.func @f(%a: !pol.arena, %x: memref<64xf32>, %y: memref<64xf32>) {
  %s = pol.alloc %a : !pol.arena -> memref<64xf32>
  %token = async.execute {
    memref.copy %x, %s : memref<64xf32> to memref<64xf32>
    memref.copy %s, %y : memref<64xf32> to memref<64xf32>
    async.yield
  }
  %d = pol.alloc %a : !pol.arena -> memref<64xf32>
  memref.copy %x, %d : memref<64xf32> to memref<64xf32>
  async.await %token : !async.token
  return
}
