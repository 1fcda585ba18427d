// RUN: pol-opt %s --pol-plan-memory --split-input-file --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefixes=CHECK,PLAN
// RUN: pol-opt %s --pol-plan-memory=mode=bump --split-input-file --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefixes=CHECK,BUMP

// Buffers that are not in use at once share memory.

// CHECK-LABEL: func.func @f_footprint() -> i64
// PLAN: %[[BYTES:.*]] = arith.constant 512 : i64
// BUMP: %[[BYTES:.*]] = arith.constant 768 : i64
// CHECK: return %[[BYTES]]

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[ARENA:.*]]: !pol.arena, %[[X:.*]]: memref<64xf32>)
// PLAN: %[[BYTES:.*]] = arith.constant 512 : index
// BUMP: %[[BYTES:.*]] = arith.constant 768 : index
// CHECK: %[[MARK:.*]] = pol.mark %[[ARENA]]
// CHECK: %[[SLAB:.*]], %{{.*}} = pol.carve %[[ARENA]][%[[BYTES]]]
// CHECK-SAME: alignment = 256
// CHECK-SAME: kernel = "f"
// CHECK-SAME: role = #pol.role<slab>
// CHECK: call @f_in_slab(%[[SLAB]], %[[X]])
// CHECK: pol.retract %[[ARENA]], %[[MARK]]

// CHECK-LABEL: func.func private @f_in_slab(
// CHECK-SAME: %[[SLAB:.*]]: memref<?xi8>, %{{.*}}: memref<64xf32>)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
// BUMP-DAG: %[[C512:.*]] = arith.constant 512 : index
// CHECK-NOT: pol.
// CHECK: %[[A:.*]] = memref.view %[[SLAB]][%[[C0]]][] : memref<?xi8> to memref<64xf32>
// CHECK: %[[B:.*]] = memref.view %[[SLAB]][%[[C256]]][]
// PLAN: %[[C:.*]] = memref.view %[[SLAB]][%[[C0]]][]
// BUMP: %[[C:.*]] = memref.view %[[SLAB]][%[[C512]]][]
// CHECK: memref.copy %[[B]], %[[C]]
func.func @f(%arena: !pol.arena, %x: memref<64xf32>) {
  pol.frame on %arena : !pol.arena {
  ^bb0(%frame: !pol.frame):
    %a = pol.alloc %frame[] : !pol.frame -> memref<64xf32>
    %b = pol.alloc %frame[] : !pol.frame -> memref<64xf32>
    %c = pol.alloc %frame[] : !pol.frame -> memref<64xf32>
    memref.copy %x, %a : memref<64xf32> to memref<64xf32>
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    memref.copy %b, %c : memref<64xf32> to memref<64xf32>
    memref.copy %c, %x : memref<64xf32> to memref<64xf32>
  }
  return
}
