// RUN: pol-test-opt %s --pol-expand-apply --pol-resolve-descriptions \
// RUN:   --pol-flatten-bundles --canonicalize --cse | FileCheck %s

// Kernels and a space of another dialect, all the way through the stage.

// CHECK-LABEL: func.func @tiled(
// CHECK-SAME:    %[[POOL:.*]]: !test_pol.pool<1 : i64>, %[[X:.*]]: tensor<?x8xf32>)
func.func @tiled(%pool: !test_pol.pool<1>, %x: tensor<?x8xf32>) -> (tensor<?x8xf32, 1>, tensor<?xf32, 1>) {
  // CHECK:      %[[N:.*]] = tensor.dim %[[X]], %c0
  // CHECK:      %[[Y:.*]] = pol.alloc %[[POOL]][%[[N]]] {kernel = "test_pol.tiled", name = "y", role = #pol.role<output>} : !test_pol.pool<1 : i64> -> tensor<?x8xf32, 1 : i64>
  // CHECK:      %[[M:.*]] = pol.alloc %[[POOL]][%[[N]]] {kernel = "test_pol.tiled", name = "maxima", role = #pol.role<checkpoint>}
  // CHECK:      pol.frame on %[[POOL]]
  // CHECK-NEXT: ^bb0(%[[F:.*]]: !pol.frame<1 : i64>):
  // CHECK:        %[[BLOCKS:.*]] = arith.ceildivui %[[N]], %c4
  // CHECK:        %[[TILE:.*]] = pol.alloc %[[F]] {kernel = "test_pol.tiled", name = "tile", role = #pol.role<scratch>} : !pol.frame<1 : i64> -> tensor<4x8xf32, 1 : i64>
  // CHECK:        %[[COUNTS:.*]] = pol.alloc %[[F]][%[[BLOCKS]]] {kernel = "test_pol.tiled", name = "counts", role = #pol.role<scratch>}
  // CHECK:        test_pol.tiled ins(%[[X]] : {{.*}}) outs(%[[Y]] : {{.*}}) checkpoints(%[[M]] : {{.*}}) scratch(%[[TILE]], %[[COUNTS]] : {{.*}}) {block = 4 : i64}
  %0:2 = pol.apply "test_pol.tiled"(%x) {block = 4 : i64} in %pool : (tensor<?x8xf32>), !test_pol.pool<1> -> tensor<?x8xf32, 1>, tensor<?xf32, 1>
  return %0#0, %0#1 : tensor<?x8xf32, 1>, tensor<?xf32, 1>
}

// CHECK-LABEL: func.func @fold_rows(
func.func @fold_rows(%arena: !pol.arena, %x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: pol.alloc {{.*}} name = "lanes", {{.*}} -> tensor<3x?xf32>
  // CHECK: pol.alloc {{.*}} name = "trace", {{.*}} -> tensor<2xf32>
  // CHECK: test_pol.fold_rows
  %0 = pol.apply "test_pol.fold_rows"(%x) regions({
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.mulf %s, %c : f32
    test_pol.fold_yield %t : f32
  }) in %arena : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// One that is given, one that is absent.
// CHECK-LABEL: func.func @scale(
func.func @scale(%arena: !pol.arena, %x: tensor<?xf32>, %g: tensor<?xf16>) -> tensor<?xf32> {
  // CHECK-NOT: name = "bias_copy"
  // CHECK:     pol.alloc {{.*}} name = "gain_copy", {{.*}} -> tensor<?xf16>
  // CHECK-NOT: name = "bias_copy"
  // CHECK:     test_pol.scale x(%{{.*}} : tensor<?xf32>) gain(%{{.*}} : tensor<?xf16>) outs(%{{.*}}) gain_copy(%{{.*}})
  %0 = pol.apply "test_pol.scale"(%x, none, %g) in %arena : (tensor<?xf32>, tensor<?xf16>), !pol.arena -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// An output of the caller's, and no allocation for it.
// CHECK-LABEL: func.func @override(
// CHECK-SAME:    %{{.*}}: !pol.arena, %{{.*}}: tensor<?xf32>, %[[MINE:.*]]: tensor<?xf32>)
func.func @override(%arena: !pol.arena, %x: tensor<?xf32>, %mine: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NOT: pol.alloc
  // CHECK:     test_pol.scale x(%{{.*}}) outs(%[[MINE]] :
  %0 = pol.apply "test_pol.scale"(%x) in %arena override {y = %mine : tensor<?xf32>} : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Step by step, on memrefs.
// CHECK-LABEL: func.func @by_hand(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %[[HEAP:.*]]: !pol.heap, %[[POOL:.*]]: !test_pol.pool)
func.func @by_hand(%x: memref<?xf32>, %heap: !pol.heap, %pool: !test_pol.pool) -> memref<?xf32> {
  // CHECK:      %[[Y:.*]] = pol.alloc %[[HEAP]][%{{.*}}] {kernel = "test_pol.fold_rows", name = "y", role = #pol.role<output>} : !pol.heap -> memref<?xf32>
  %o = pol.outputs "test_pol.fold_rows"(%x) regions({
  ^bb0(%a: f32):
    test_pol.fold_yield %a : f32
  }) in %heap : (memref<?xf32>), !pol.heap -> !pol.bundle<{y: memref<?xf32>}>
  // CHECK:      pol.frame on %[[POOL]] : !test_pol.pool {
  pol.frame on %pool : !test_pol.pool {
  ^bb0(%f: !pol.frame):
    // CHECK:      %[[L:.*]] = pol.alloc {{.*}} name = "lanes", {{.*}} -> memref<1x?xf32>
    // CHECK-NEXT: %[[T:.*]] = pol.alloc {{.*}} name = "trace", {{.*}} -> memref<0xf32>
    %s = pol.scratch "test_pol.fold_rows"(%x) regions({
    ^bb0(%a: f32):
      test_pol.fold_yield %a : f32
    }) in %f : (memref<?xf32>), !pol.frame -> !pol.bundle<{lanes: memref<1x?xf32>, trace: memref<0xf32>}>
    // CHECK-NEXT: test_pol.fold_rows ins(%[[X]] : memref<?xf32>) outs(%[[Y]] : memref<?xf32>) scratch(%[[L]], %[[T]] :
    pol.call "test_pol.fold_rows"(%x) regions({
    ^bb0(%a: f32):
      test_pol.fold_yield %a : f32
    }) outputs(%o) scratch(%s) : (memref<?xf32>), !pol.bundle<{y: memref<?xf32>}>, !pol.bundle<{lanes: memref<1x?xf32>, trace: memref<0xf32>}>
  }
  %y = pol.get %o, "y" : !pol.bundle<{y: memref<?xf32>}>
  return %y : memref<?xf32>
}
