// RUN: pol-opt %s --pol-describe-stage | FileCheck %s --check-prefix=DESCRIBE
// RUN: pol-opt %s --pol-describe-stage --pol-materialize-stage \
// RUN:   | FileCheck %s --check-prefix=MATERIALIZE
// RUN: pol-opt %s --pol-describe-stage --pol-materialize-stage --pol-place-stage \
// RUN:   | FileCheck %s --check-prefix=PLACE
// RUN: pol-opt %s --pol-describe-stage --pol-materialize-stage --pol-place-stage=max-stack-bytes=0 \
// RUN:   | FileCheck %s --check-prefix=ARENA
// RUN: pol-opt %s --pol-describe-stage --pol-materialize-stage \
// RUN:   --pol-place-stage="max-stack-bytes=0 placement=carve" \
// RUN:   | FileCheck %s --check-prefix=CARVE
// RUN: pol-opt %s --pol-describe-stage --pol-materialize-stage --pol-place-stage \
// RUN:   --pol-expand-stage | FileCheck %s --check-prefix=EXPAND

// One program after each stage.

func.func @softmax(%x: tensor<4xf32>, %y: tensor<4xf32>, %tmp: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%tmp : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.exp ins(%0 : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
pol.description for @softmax(%x: tensor<4xf32>) {
  %u = pol.undef like %x : tensor<4xf32>
  pol.describe outputs {y(1) = %u : !pol.undef<4xf32>} scratch {tmp(2) = %u : !pol.undef<4xf32>}
}

// DESCRIBE-NOT:   pol.description
// DESCRIBE-LABEL: func.func @main(
// DESCRIBE:         %[[Y:.+]] = pol.alloc %{{.+}} {kernel = "softmax", name = "y", role = #pol.role<output>} : !pol.arena -> tensor<4xf32>
// DESCRIBE:         pol.frame
// DESCRIBE:           %[[T:.+]] = pol.alloc %{{.+}} {kernel = "softmax", name = "tmp", role = #pol.role<scratch>} : !pol.frame -> tensor<4xf32>
// DESCRIBE:           func.call @softmax(%{{.+}}, %[[Y]], %[[T]])

// MATERIALIZE-NOT:   tensor<
// MATERIALIZE-LABEL: func.func @main(
// MATERIALIZE:         %[[Y:.+]] = pol.alloc {{.*}} -> memref<4xf32>
// MATERIALIZE:         pol.frame
// MATERIALIZE:           %[[T:.+]] = pol.alloc {{.*}} -> memref<4xf32>
// MATERIALIZE:           func.call @softmax(%{{.+}}, %[[Y]], %[[T]])
// MATERIALIZE-NOT:   tensor<

// PLACE-LABEL: func.func @main(
// PLACE:         %[[BYTES:.+]] = arith.constant 16 : i64
// PLACE:         %[[SLAB:.+]], %{{.+}} = pol.carve %{{.+}}[%{{.+}}] {alignment = 256 : i64, kernel = "main", role = #pol.role<slab>}
// PLACE:         %[[T:.+]] = memref.alloca() {{.*}} : memref<4xf32>
// PLACE:         %[[Y:.+]] = memref.view %[[SLAB]]
// PLACE:         call @softmax(%{{.+}}, %[[Y]], %[[T]])

// ARENA-LABEL: func.func @main(
// ARENA:         arith.constant 272 : i64
// ARENA:         pol.carve {{.*}} role = #pol.role<slab>
// ARENA:         call @softmax(
// ARENA:         pol.trim

// CARVE-LABEL: func.func @main(
// CARVE:         pol.carve {{.*}} name = "y"
// CARVE-NEXT:    pol.mark
// CARVE-NEXT:    pol.carve {{.*}} name = "tmp"
// CARVE:         pol.retract

// EXPAND-LABEL: func.func @softmax(
// EXPAND-COUNT-2: scf.for
// EXPAND:         math.exp
func.func @main(%a: !pol.arena, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = pol.apply @softmax(%x) in %a : (tensor<4xf32>), !pol.arena -> tensor<4xf32>
  return %r : tensor<4xf32>
}
