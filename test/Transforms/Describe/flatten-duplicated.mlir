// RUN: pol-test-opt %s --pol-expand-apply --pol-resolve-descriptions --pol-flatten-bundles \
// RUN:   --pol-verify-stage=stage=describe --split-input-file | FileCheck %s

// A duplicated value becomes its primal's values, then its shadow's.

// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xbf16>, %[[DX:[^:]*]]: tensor<?xf32>, %[[T:[^:]*]]: tensor<4xf32>)
// CHECK-SAME:    -> (tensor<?xbf16>, tensor<?xf32>, tensor<4xf32>, tensor<4xf32>, tensor<?xf32>)
func.func @parts(%d: !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>, %t: tensor<4xf32>) -> (!pol.duplicated<tensor<?xbf16>, tensor<?xf32>>, tensor<4xf32>, !pol.duplicated<tensor<4xf32>, tensor<?xf32>>) {
  // CHECK-NEXT: return %[[X]], %[[DX]], %[[T]], %[[T]], %[[DX]]
  %x = pol.primal %d : !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
  %dx = pol.shadow %d : !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
  %e = pol.duplicated %x, %dx : tensor<?xbf16>, tensor<?xf32>
  %bare = pol.primal %t : tensor<4xf32>
  %f = pol.duplicated %bare, %dx : tensor<4xf32>, tensor<?xf32>
  return %e, %bare, %f : !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>, tensor<4xf32>, !pol.duplicated<tensor<4xf32>, tensor<?xf32>>
}

// CHECK-LABEL: func.func @descriptions(
// CHECK-SAME:    %[[A:[^:]*]]: index, %[[B:[^:]*]]: index, %[[C:[^:]*]]: index, %{{[^:]*}}: index) -> (index, index, index)
func.func @descriptions(%d: !pol.duplicated<!pol.undef<?x4x?xf16>, !pol.undef<2x?x?xf32>>) -> (!pol.undef<?x4x?xf16>, index) {
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
  %p = pol.primal %d : !pol.duplicated<!pol.undef<?x4x?xf16>, !pol.undef<2x?x?xf32>>
  %s = pol.shadow %d : !pol.duplicated<!pol.undef<?x4x?xf16>, !pol.undef<2x?x?xf32>>
  %n = pol.dim %s, 1 : !pol.undef<2x?x?xf32>
  return %p, %n : !pol.undef<?x4x?xf16>, index
}

// The extents of a shadow that is not given are those of the primal, where they
// are not known otherwise.
// CHECK-LABEL: func.func @described_like_primal(
// CHECK-SAME:    %[[T:[^:]*]]: tensor<2x?x3xf16>, %[[M:[^:]*]]: memref<?xf32>, %[[U:[^:]*]]: index)
// CHECK-SAME:    -> (tensor<2x?x3xf16>, index, index, memref<?xf32>, index, index, index)
func.func @described_like_primal(%t: tensor<2x?x3xf16>, %m: memref<?xf32>, %u: !pol.undef<4x?xf32>) -> (!pol.duplicated<tensor<2x?x3xf16>, !pol.undef<?x?x3xf32>>, !pol.duplicated<memref<?xf32>, !pol.undef<?xf32>>, !pol.duplicated<!pol.undef<4x?xf32>>) {
  // CHECK-DAG:  %[[C2:.*]] = arith.constant 2 : index
  // CHECK-DAG:  %[[N:.*]] = tensor.dim %[[T]], %c1
  // CHECK-DAG:  %[[K:.*]] = memref.dim %[[M]], %c0
  // CHECK:      return %[[T]], %[[C2]], %[[N]], %[[M]], %[[K]], %[[U]], %[[U]]
  %0 = pol.duplicated %t : tensor<2x?x3xf16> -> !pol.duplicated<tensor<2x?x3xf16>, !pol.undef<?x?x3xf32>>
  %1 = pol.duplicated %m : memref<?xf32>
  %2 = pol.duplicated %u : !pol.undef<4x?xf32>
  return %0, %1, %2 : !pol.duplicated<tensor<2x?x3xf16>, !pol.undef<?x?x3xf32>>, !pol.duplicated<memref<?xf32>, !pol.undef<?xf32>>, !pol.duplicated<!pol.undef<4x?xf32>>
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

// -----

// CHECK-LABEL: func.func @shadow_from_arena(
// CHECK-SAME:    %[[ARENA:[^:]*]]: !pol.arena, %[[X:[^:]*]]: tensor<?x4xbf16>)
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0
// CHECK-NEXT:    %[[N:.*]] = tensor.dim %[[X]], %[[C0]]
// CHECK-NEXT:    %[[S:.*]] = pol.alloc %[[ARENA]][%[[N]]] {name = "shadow"} : !pol.arena -> tensor<?x4xf32>
// CHECK-NEXT:    return %[[X]], %[[S]]
func.func @shadow_from_arena(%arena: !pol.arena, %x: tensor<?x4xbf16>) -> !pol.duplicated<tensor<?x4xbf16>, tensor<?x4xf32>> {
  %d = pol.duplicated %x : tensor<?x4xbf16> -> !pol.duplicated<tensor<?x4xbf16>, !pol.undef<?x4xf32>>
  %0 = pol.alloc %arena, %d : !pol.arena, !pol.duplicated<tensor<?x4xbf16>, !pol.undef<?x4xf32>> -> !pol.duplicated<tensor<?x4xbf16>, tensor<?x4xf32>>
  return %0 : !pol.duplicated<tensor<?x4xbf16>, tensor<?x4xf32>>
}

// CHECK-LABEL: func.func @both_from_arena(
// CHECK-SAME:    %[[ARENA:[^:]*]]: !pol.arena, %[[N:[^:]*]]: index)
// CHECK-NEXT:    %[[P:.*]] = pol.alloc %[[ARENA]][%[[N]]] {kernel = "k", name = "x", role = #pol.role<output>} : !pol.arena -> memref<?xf32>
// CHECK-NEXT:    %[[S:.*]] = pol.alloc %[[ARENA]][%[[N]]] {kernel = "k", name = "x.shadow", role = #pol.role<output>} : !pol.arena -> memref<?xf32>
// CHECK-NEXT:    return %[[P]], %[[S]]
func.func @both_from_arena(%arena: !pol.arena, %u: !pol.undef<?xf32>) -> !pol.duplicated<memref<?xf32>> {
  %d = pol.duplicated %u : !pol.undef<?xf32>
  %0 = pol.alloc %arena, %d {kernel = "k", name = "x", role = #pol.role<output>} : !pol.arena, !pol.duplicated<!pol.undef<?xf32>> -> !pol.duplicated<memref<?xf32>>
  return %0 : !pol.duplicated<memref<?xf32>>
}

// CHECK-LABEL: func.func @in_bundle(
// CHECK-SAME:    %[[ARENA:[^:]*]]: !pol.arena, %[[X:[^:]*]]: tensor<?xf16>, %[[N:[^:]*]]: index, %[[Y:[^:]*]]: memref<2xf32>, %[[DY:[^:]*]]: memref<2xf32, strided<[2]>>, %[[K:[^:]*]]: index, %[[L:[^:]*]]: index)
// CHECK-NEXT:    %[[DX:.*]] = pol.alloc %[[ARENA]][%[[N]]] {name = "in.x.shadow"} : !pol.arena -> tensor<?xf16>
// CHECK-NEXT:    %[[Z:.*]] = pol.alloc %[[ARENA]][%[[K]]] {name = "z"} : !pol.arena -> tensor<?xf16>
// CHECK-NEXT:    %[[DZ:.*]] = pol.alloc %[[ARENA]][%[[L]]] {name = "z.shadow"} : !pol.arena -> tensor<?xf64>
// CHECK-NEXT:    return %[[X]], %[[DX]], %[[Y]], %[[DY]], %[[Z]], %[[DZ]]
func.func @in_bundle(%arena: !pol.arena, %b: !pol.bundle<{in: !pol.bundle<{x: !pol.duplicated<tensor<?xf16>, !pol.undef<?xf16>>}>, y: !pol.duplicated<memref<2xf32>, memref<2xf32, strided<[2]>>>, z: !pol.duplicated<!pol.undef<?xf16>, !pol.undef<?xf64>>}>) -> !pol.bundle<{in: !pol.bundle<{x: !pol.duplicated<tensor<?xf16>>}>, y: !pol.duplicated<memref<2xf32>, memref<2xf32, strided<[2]>>>, z: !pol.duplicated<tensor<?xf16>, tensor<?xf64>>}> {
  %0 = pol.alloc %arena, %b : !pol.arena, !pol.bundle<{in: !pol.bundle<{x: !pol.duplicated<tensor<?xf16>, !pol.undef<?xf16>>}>, y: !pol.duplicated<memref<2xf32>, memref<2xf32, strided<[2]>>>, z: !pol.duplicated<!pol.undef<?xf16>, !pol.undef<?xf64>>}> -> !pol.bundle<{in: !pol.bundle<{x: !pol.duplicated<tensor<?xf16>>}>, y: !pol.duplicated<memref<2xf32>, memref<2xf32, strided<[2]>>>, z: !pol.duplicated<tensor<?xf16>, tensor<?xf64>>}>
  return %0 : !pol.bundle<{in: !pol.bundle<{x: !pol.duplicated<tensor<?xf16>>}>, y: !pol.duplicated<memref<2xf32>, memref<2xf32, strided<[2]>>>, z: !pol.duplicated<tensor<?xf16>, tensor<?xf64>>}>
}

// CHECK-LABEL: func.func @bundles(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32>, %[[DX:[^:]*]]: tensor<4xf64>, %[[T:[^:]*]]: tensor<2xf32>, %[[N:[^:]*]]: index)
// CHECK-NEXT:    return %[[T]], %[[N]], %[[DX]]
func.func @bundles(%d: !pol.duplicated<tensor<4xf32>, tensor<4xf64>>, %e: !pol.duplicated<tensor<2xf32>, !pol.undef<?xf32>>) -> (!pol.duplicated<tensor<2xf32>, !pol.undef<?xf32>>, tensor<4xf64>) {
  %a = pol.bundle {x = %d : !pol.duplicated<tensor<4xf32>, tensor<4xf64>>, y = %d : !pol.duplicated<tensor<4xf32>, tensor<4xf64>>}
  %b = pol.bundle {x = %e : !pol.duplicated<tensor<2xf32>, !pol.undef<?xf32>>}
  %m = pol.merge %a, %b : !pol.bundle<{x: !pol.duplicated<tensor<4xf32>, tensor<4xf64>>, y: !pol.duplicated<tensor<4xf32>, tensor<4xf64>>}>, !pol.bundle<{x: !pol.duplicated<tensor<2xf32>, !pol.undef<?xf32>>}>
  %x = pol.get %m, "x" : !pol.bundle<{x: !pol.duplicated<tensor<2xf32>, !pol.undef<?xf32>>, y: !pol.duplicated<tensor<4xf32>, tensor<4xf64>>}>
  %y = pol.get %m, "y" : !pol.bundle<{x: !pol.duplicated<tensor<2xf32>, !pol.undef<?xf32>>, y: !pol.duplicated<tensor<4xf32>, tensor<4xf64>>}>
  %dy = pol.shadow %y : !pol.duplicated<tensor<4xf32>, tensor<4xf64>>
  return %x, %dy : !pol.duplicated<tensor<2xf32>, !pol.undef<?xf32>>, tensor<4xf64>
}

//===----------------------------------------------------------------------===//
// Functions and control flow
//===----------------------------------------------------------------------===//

// -----

!d = !pol.duplicated<tensor<4xf16>, !pol.undef<?xf32>>

// Attributes are about the buffers.
// CHECK:      func.func private @declared(tensor<4xf16> {test.a}, index, memref<2xf32> {test.b}, memref<2xf32> {test.b}) -> (tensor<4xf16> {test.c}, index)
func.func private @declared(!d {test.a}, !pol.duplicated<memref<2xf32>> {test.b}) -> (!d {test.c})

// CHECK-LABEL: func.func @calls(
// CHECK-SAME:    %[[T:[^:]*]]: tensor<4xf16>, %[[N:[^:]*]]: index, %[[M:[^:]*]]: memref<2xf32>, %[[DM:[^:]*]]: memref<2xf32>)
func.func @calls(%d: !d, %m: !pol.duplicated<memref<2xf32>>) -> !d {
  // CHECK-NEXT: %[[F:.*]] = constant @declared : (tensor<4xf16>, index, memref<2xf32>, memref<2xf32>) -> (tensor<4xf16>, index)
  // CHECK-NEXT: %[[R:.*]]:2 = call @declared(%[[T]], %[[N]], %[[M]], %[[DM]])
  // CHECK-NEXT: %[[S:.*]]:2 = call_indirect %[[F]](%[[R]]#0, %[[R]]#1, %[[M]], %[[DM]])
  // CHECK-NEXT: return %[[S]]#0, %[[S]]#1
  %f = constant @declared : (!d, !pol.duplicated<memref<2xf32>>) -> !d
  %0 = call @declared(%d, %m) : (!d, !pol.duplicated<memref<2xf32>>) -> !d
  %1 = call_indirect %f(%0, %m) : (!d, !pol.duplicated<memref<2xf32>>) -> !d
  return %1 : !d
}

// CHECK-LABEL: func.func @scf_for(
// CHECK-SAME:    %[[N:[^:]*]]: index, %[[T:[^:]*]]: tensor<4xf16>, %[[E:[^:]*]]: index)
func.func @scf_for(%n: index, %d: !d) -> !d {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[T]], %[[B:.*]] = %[[E]]) -> (tensor<4xf16>, index)
  // CHECK:   %[[C:.*]] = arith.addi %[[B]], %[[B]]
  // CHECK:   scf.yield %[[A]], %[[C]]
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %d) -> !d {
    %p = pol.primal %a : !d
    %s = pol.shadow %a : !d
    %k = pol.dim %s, 0 : !pol.undef<?xf32>
    %l = arith.addi %k, %k : index
    %t = pol.undef [%l] : !pol.undef<?xf32>
    %b = pol.duplicated %p, %t : tensor<4xf16>, !pol.undef<?xf32>
    scf.yield %b : !d
  }
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %0 : !d
}

// CHECK-LABEL: func.func @regions(
// CHECK-SAME:    %[[ARENA:[^:]*]]: !pol.arena, %[[C:[^:]*]]: i1, %[[XP:[^:]*]]: tensor<4xf16>, %[[XS:[^:]*]]: index, %[[YP:[^:]*]]: tensor<4xf16>, %[[YS:[^:]*]]: index)
func.func @regions(%arena: !pol.arena, %c: i1, %x: !d, %y: !d) -> !d {
  // CHECK-NEXT: %[[F:.*]]:2 = pol.frame on %[[ARENA]] : !pol.arena -> tensor<4xf16>, index {
  // CHECK:        pol.yield %[[XP]], %[[XS]]
  // CHECK:      %[[I:.*]]:2 = scf.if %[[C]] -> (tensor<4xf16>, index) {
  // CHECK-NEXT:   scf.yield %[[F]]#0, %[[F]]#1
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   scf.yield %[[YP]], %[[YS]]
  // CHECK:      %[[P:.*]] = arith.select %[[C]], %[[I]]#0, %[[YP]] : tensor<4xf16>
  // CHECK-NEXT: %[[S:.*]] = arith.select %[[C]], %[[I]]#1, %[[YS]] : index
  // CHECK-NEXT: return %[[P]], %[[S]]
  %0 = pol.frame on %arena : !pol.arena -> !d {
  ^bb0(%f: !pol.frame):
    pol.yield %x : !d
  }
  %1 = scf.if %c -> !d {
    scf.yield %0 : !d
  } else {
    scf.yield %y : !d
  }
  %2 = arith.select %c, %1, %y : !d
  return %2 : !d
}

// CHECK-LABEL: func.func @branches(
// CHECK-SAME:    %[[C:[^:]*]]: i1, %[[XP:[^:]*]]: tensor<4xf16>, %[[XS:[^:]*]]: index, %[[YP:[^:]*]]: tensor<4xf16>, %[[YS:[^:]*]]: index)
func.func @branches(%c: i1, %x: !d, %y: !d) -> tensor<4xf16> {
  // CHECK-NEXT: cf.cond_br %[[C]], ^[[A:.*]](%[[XP]], %[[XS]] : tensor<4xf16>, index), ^[[A]](%[[YP]], %[[YS]] : tensor<4xf16>, index)
  cf.cond_br %c, ^a(%x : !d), ^a(%y : !d)
// CHECK-NEXT: ^[[A]](%[[P:.*]]: tensor<4xf16>, %{{.*}}: index):
^a(%d: !d):
  // CHECK-NEXT: return %[[P]]
  %p = pol.primal %d : !d
  return %p : tensor<4xf16>
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// -----

// A kernel takes primals, and the shadow where it says so. All else stays.
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32>, %{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: tensor<4xf16>, %[[DY:[^:]*]]: tensor<4xf32>, %[[G:[^:]*]]: tensor<4xf32>, %{{[^:]*}}: index, %[[O:[^:]*]]: tensor<4xf32>)
func.func @kernel(%x: !pol.duplicated<tensor<4xf32>>, %y: !pol.duplicated<tensor<4xf16>, tensor<4xf32>>, %g: !pol.duplicated<tensor<4xf32>, !pol.undef<?xf32>>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = test_pol.pullback %[[X]], %[[DY]], %[[G]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32> outs(%[[O]] : tensor<4xf32>) trace(%[[O]] : tensor<4xf32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32):
  // CHECK-NEXT:   %{{.*}} = tensor.cast %[[DY]]
  // CHECK-NEXT:   test_pol.fold_yield
  // CHECK-NEXT: } {order = 2 : i64, test.note} -> tensor<4xf32>
  %0 = test_pol.pullback %x, %y, %g : !pol.duplicated<tensor<4xf32>>, !pol.duplicated<tensor<4xf16>, tensor<4xf32>>, !pol.duplicated<tensor<4xf32>, !pol.undef<?xf32>> outs(%o : tensor<4xf32>) trace(%o : tensor<4xf32>) {
  ^bb0(%a: f32):
    %s = pol.shadow %y : !pol.duplicated<tensor<4xf16>, tensor<4xf32>>
    %c = tensor.cast %s : tensor<4xf32> to tensor<?xf32>
    test_pol.fold_yield
  } {order = 2, test.note} -> tensor<4xf32>
  // Some operands are duplicated, some are bare.
  // CHECK-NEXT: test_pol.pullback %[[A]], %[[DY]] : tensor<4xf32>, tensor<4xf32> outs(%[[O]] : tensor<4xf32>)
  %1 = test_pol.pullback %0, %y : tensor<4xf32>, !pol.duplicated<tensor<4xf16>, tensor<4xf32>> outs(%o : tensor<4xf32>) {
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A kernel is asked with what is duplicated, and called with it.
// CHECK-LABEL: func.func @asked_kernel(
// CHECK-SAME:    %[[ARENA:[^:]*]]: !pol.arena, %[[X:[^:]*]]: memref<?xf32>, %{{[^:]*}}: memref<?xf32>, %{{[^:]*}}: memref<?xf16>, %[[DY:[^:]*]]: memref<?xf32>)
func.func @asked_kernel(%arena: !pol.arena, %x: !pol.duplicated<memref<?xf32>>, %y: !pol.duplicated<memref<?xf16>, memref<?xf32>>) {
  // CHECK:      %[[N:.*]] = memref.dim %[[X]]
  // CHECK-NEXT: %[[DX:.*]] = pol.alloc %[[ARENA]][%[[N]]] {kernel = "test_pol.pullback", name = "dx", role = #pol.role<output>} : !pol.arena -> memref<?xf32>
  // CHECK-NEXT: test_pol.pullback %[[X]], %[[DY]] : memref<?xf32>, memref<?xf32> outs(%[[DX]] : memref<?xf32>)
  pol.apply "test_pol.pullback"(%x, %y) in %arena : (!pol.duplicated<memref<?xf32>>, !pol.duplicated<memref<?xf16>, memref<?xf32>>), !pol.arena
  return
}

//===----------------------------------------------------------------------===//
// Descriptions of functions
//===----------------------------------------------------------------------===//

// -----

// CHECK: func.func private @k(tensor<?xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf64>)
func.func private @k(!pol.duplicated<tensor<?xbf16>, tensor<?xf32>>, !pol.duplicated<tensor<?xf32>>, tensor<?xf64>) -> tensor<?xf32>
pol.description for @k(%x: !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>) {
  %p = pol.primal %x : !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
  %s = pol.shadow %x : !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
  %u = pol.undef like %p : tensor<?xbf16> -> !pol.undef<?xf32>
  %d = pol.duplicated %u : !pol.undef<?xf32>
  %t = pol.undef like %s : tensor<?xf32> -> !pol.undef<?xf64>
  pol.describe outputs {y(1) = %d : !pol.duplicated<!pol.undef<?xf32>>} scratch {t(2) = %t : !pol.undef<?xf64>}
}

// CHECK-LABEL: func.func @applied(
// CHECK-SAME:    %[[ARENA:[^:]*]]: !pol.arena, %[[X:[^:]*]]: tensor<?xbf16>, %[[DX:[^:]*]]: tensor<?xf32>)
func.func @applied(%arena: !pol.arena, %x: !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>) -> tensor<?xf32> {
  // CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]],
  // CHECK-DAG: %[[Y:.*]] = pol.alloc %[[ARENA]][%[[N]]] {kernel = "k", name = "y", role = #pol.role<output>} : !pol.arena -> tensor<?xf32>
  // CHECK-DAG: %[[DY:.*]] = pol.alloc %[[ARENA]][%[[N]]] {kernel = "k", name = "y.shadow", role = #pol.role<output>} : !pol.arena -> tensor<?xf32>
  // CHECK:     pol.frame on %[[ARENA]]
  // CHECK-DAG:   %[[M:.*]] = tensor.dim %[[DX]],
  // CHECK-DAG:   %[[T:.*]] = pol.alloc %{{.*}}[%[[M]]] {kernel = "k", name = "t", role = #pol.role<scratch>} : !pol.frame -> tensor<?xf64>
  // CHECK:       func.call @k(%[[X]], %[[DX]], %[[Y]], %[[DY]], %[[T]])
  %0 = pol.apply @k(%x) in %arena : (!pol.duplicated<tensor<?xbf16>, tensor<?xf32>>), !pol.arena -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// An output of the caller's.
// CHECK-LABEL: func.func @overridden(
// CHECK-SAME:    %{{[^:]*}}: !pol.arena, %[[X:[^:]*]]: tensor<?xbf16>, %[[DX:[^:]*]]: tensor<?xf32>, %[[Y:[^:]*]]: tensor<?xf32>, %[[DY:[^:]*]]: tensor<?xf32>)
func.func @overridden(%arena: !pol.arena, %x: !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>, %mine: !pol.duplicated<tensor<?xf32>>) -> tensor<?xf32> {
  // CHECK-NOT: role<output>
  // CHECK:     func.call @k(%[[X]], %[[DX]], %[[Y]], %[[DY]],
  %0 = pol.apply @k(%x) in %arena override {y = %mine : !pol.duplicated<tensor<?xf32>>} : (!pol.duplicated<tensor<?xbf16>, tensor<?xf32>>), !pol.arena -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @cast(
// CHECK-SAME:    %[[ARENA:[^:]*]]: !pol.arena, %[[N:[^:]*]]: index)
func.func private @j(index, !pol.duplicated<tensor<?xf32>, tensor<?xf64>>)
pol.description for @j(%n: index) {
  %u = pol.undef : !pol.undef<4xf32>
  %d = pol.duplicated %u : !pol.undef<4xf32> -> !pol.duplicated<!pol.undef<4xf32>, !pol.undef<?xf64>>
  pol.describe outputs {y(1) = %d : !pol.duplicated<!pol.undef<4xf32>, !pol.undef<?xf64>>}
}
func.func @cast(%arena: !pol.arena, %n: index) -> !pol.bundle<{y: !pol.duplicated<tensor<?xf32>, tensor<4xf64>>}> {
  // CHECK: pol.alloc %[[ARENA]][%{{.*}}] {kernel = "j", name = "y", role = #pol.role<output>} : !pol.arena -> tensor<?xf32>
  // CHECK: pol.alloc %[[ARENA]] {kernel = "j", name = "y.shadow", role = #pol.role<output>} : !pol.arena -> tensor<4xf64>
  %0 = pol.outputs @j(%n) in %arena : (index), !pol.arena -> !pol.bundle<{y: !pol.duplicated<tensor<?xf32>, tensor<4xf64>>}>
  return %0 : !pol.bundle<{y: !pol.duplicated<tensor<?xf32>, tensor<4xf64>>}>
}
