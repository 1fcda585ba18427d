// An op whose body reads other elements of its input does not work in place.

// RUN: pol-opt %s --pol-plan-memory --canonicalize | FileCheck %s
// REQUIRES: pol-run
// RUN: pol-run %s --entry f --input 8xf32=iota --space arena:4K | FileCheck %s --check-prefix=REVERSED

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @f(
// CHECK: %[[SLAB:.*]], %{{.*}} = pol.carve
// CHECK: memref.view %[[SLAB]][%[[S:.*]]][]
// CHECK-NOT: memref.view %[[SLAB]][%[[S]]][]
// CHECK: return

// REVERSED: result 0: {{.*}} [7, 6, 5, 4, 3, 2, ...]
func.func @f(%a: !pol.arena, %x: memref<8xf32>) -> memref<8xf32> {
  %c7 = arith.constant 7 : index
  %s = pol.alloc %a : !pol.arena -> memref<8xf32>
  memref.copy %x, %s : memref<8xf32> to memref<8xf32>
  %d = pol.alloc %a : !pol.arena -> memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%s : memref<8xf32>) outs(%d : memref<8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c7, %i : index
    %w = memref.load %s[%j] : memref<8xf32>
    linalg.yield %w : f32
  }
  return %d : memref<8xf32>
}
