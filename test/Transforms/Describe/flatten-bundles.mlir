// RUN: pol-opt %s --allow-unregistered-dialect --pol-flatten-bundles --split-input-file | FileCheck %s
// RUN: pol-opt %s --allow-unregistered-dialect --pol-flatten-bundles=checks=false --split-input-file \
// RUN:   | FileCheck %s --check-prefix=TRUST
// TRUST-NOT: pol.check

// Bundles become their entries, descriptions their dynamic extents.

// CHECK-LABEL: func.func @undef(
// CHECK-SAME:    %[[T:.*]]: tensor<4x?xf32>, %[[M:.*]]: memref<?xf32>, %[[N:.*]]: index)
// CHECK-SAME:    -> (index, index, index, index)
func.func @undef(%t: tensor<4x?xf32>, %m: memref<?xf32>, %n: index) -> (!pol.undef<f32>, !pol.undef<4x?xf32>, !pol.undef<?xf32>, !pol.undef<2x?x?xf32>) {
  // CHECK-DAG: %[[D:.*]] = tensor.dim %[[T]], %c1
  // CHECK-DAG: %[[E:.*]] = memref.dim %[[M]], %c0
  // CHECK:     return %[[D]], %[[E]], %[[N]], %[[N]]
  %0 = pol.undef : !pol.undef<f32>
  %1 = pol.undef like %t : tensor<4x?xf32>
  %2 = pol.undef like %m : memref<?xf32>
  %3 = pol.undef [%n, %n] : !pol.undef<2x?x?xf32>
  return %0, %1, %2, %3 : !pol.undef<f32>, !pol.undef<4x?xf32>, !pol.undef<?xf32>, !pol.undef<2x?x?xf32>
}

// CHECK-LABEL: func.func @undef_like_undef(
// CHECK-SAME:    %[[A:.*]]: index, %[[B:.*]]: index) -> (index, index, index, index, index)
func.func @undef_like_undef(%u: !pol.undef<?x4x?xf32>) -> (!pol.undef<?x?x8xf64>, !pol.undef<?x?x?xf32>) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant 4
  // CHECK-NEXT: %[[C8:.*]] = arith.constant 8
  // CHECK-NEXT: pol.check %[[B]] eq %[[C8]], "extent 2 of what pol.undef narrows"
  // CHECK-NEXT: %[[D:.*]] = arith.constant 4
  // CHECK-NEXT: return %[[A]], %[[C]], %[[A]], %[[D]], %[[B]]
  %0 = pol.undef like %u : !pol.undef<?x4x?xf32> -> !pol.undef<?x?x8xf64>
  %1 = pol.undef like %u : !pol.undef<?x4x?xf32> -> !pol.undef<?x?x?xf32>
  return %0, %1 : !pol.undef<?x?x8xf64>, !pol.undef<?x?x?xf32>
}

// What becomes static is compared with what is there, unless the shape is one
// of its own.
// CHECK-LABEL: func.func @undef_narrows(
// CHECK-SAME:    %[[T:.*]]: tensor<?x4xf32>)
// CHECK:         %[[D:.*]] = tensor.dim %[[T]], %c0
// CHECK:         pol.check %[[D]] eq %c8{{.*}}, "extent 0 of what pol.undef narrows"
// CHECK-NOT:     pol.check
func.func @undef_narrows(%t: tensor<?x4xf32>) -> (!pol.undef<8x4xf16>, !pol.undef<8x5xf32>) {
  %0 = pol.undef like %t : tensor<?x4xf32> -> !pol.undef<8x4xf16>
  %1 = pol.undef like %t : tensor<?x4xf32> -> !pol.undef<8x5xf32>
  return %0, %1 : !pol.undef<8x4xf16>, !pol.undef<8x5xf32>
}

// CHECK-LABEL: func.func @dim(
// CHECK-SAME:    %{{.*}}: index, %[[B:.*]]: index) -> (index, index)
func.func @dim(%u: !pol.undef<?x4x?xf32>) -> (index, index) {
  // CHECK: %[[C4:.*]] = arith.constant 4 : index
  // CHECK: return %[[C4]], %[[B]]
  %0 = pol.dim %u, 1 : !pol.undef<?x4x?xf32>
  %1 = pol.dim %u, 2 : !pol.undef<?x4x?xf32>
  return %0, %1 : index, index
}

// CHECK-LABEL: func.func @bundles(
// CHECK-SAME:    %[[N:.*]]: index, %[[T:.*]]: tensor<4xf32>, %[[M:.*]]: memref<2xi8>)
// CHECK-SAME:    -> (tensor<4xf32>, memref<2xi8>, index)
func.func @bundles(%u: !pol.undef<?xf32>, %t: tensor<4xf32>, %m: memref<2xi8>) -> (tensor<4xf32>, !pol.bundle<{m: memref<2xi8>, u: !pol.undef<?xf32>}>) {
  // CHECK-NEXT: return %[[T]], %[[M]], %[[N]]
  %e = pol.bundle {}
  %a = pol.bundle {u = %u : !pol.undef<?xf32>, t = %t : tensor<4xf32>, e = %e : !pol.bundle<{}>}
  %b = pol.bundle {m = %m : memref<2xi8>, u = %u : !pol.undef<?xf32>}
  %n = pol.bundle {a = %a : !pol.bundle<{u: !pol.undef<?xf32>, t: tensor<4xf32>, e: !pol.bundle<{}>}>, b = %b : !pol.bundle<{m: memref<2xi8>, u: !pol.undef<?xf32>}>}
  %ga = pol.get %n, "a" : !pol.bundle<{a: !pol.bundle<{u: !pol.undef<?xf32>, t: tensor<4xf32>, e: !pol.bundle<{}>}>, b: !pol.bundle<{m: memref<2xi8>, u: !pol.undef<?xf32>}>}>
  %gt = pol.get %ga, "t" : !pol.bundle<{u: !pol.undef<?xf32>, t: tensor<4xf32>, e: !pol.bundle<{}>}>
  %gb = pol.get %n, "b" : !pol.bundle<{a: !pol.bundle<{u: !pol.undef<?xf32>, t: tensor<4xf32>, e: !pol.bundle<{}>}>, b: !pol.bundle<{m: memref<2xi8>, u: !pol.undef<?xf32>}>}>
  return %gt, %gb : tensor<4xf32>, !pol.bundle<{m: memref<2xi8>, u: !pol.undef<?xf32>}>
}

// The later entry wins, with another number of values than the earlier one.
// CHECK-LABEL: func.func @merge(
// CHECK-SAME:    %{{.*}}: index, %{{.*}}: index, %[[T:.*]]: tensor<1xf32>, %[[X:.*]]: tensor<2xf32>, %[[Z:.*]]: index)
// CHECK-NEXT:    return %[[X]], %[[T]], %[[Z]] : tensor<2xf32>, tensor<1xf32>, index
func.func @merge(%a: !pol.bundle<{x: !pol.undef<?x?xf32>, t: tensor<1xf32>}>, %b: !pol.bundle<{x: tensor<2xf32>, z: !pol.undef<?xf32>}>) -> !pol.bundle<{x: tensor<2xf32>, t: tensor<1xf32>, z: !pol.undef<?xf32>}> {
  %0 = pol.merge %a, %b : !pol.bundle<{x: !pol.undef<?x?xf32>, t: tensor<1xf32>}>, !pol.bundle<{x: tensor<2xf32>, z: !pol.undef<?xf32>}>
  return %0 : !pol.bundle<{x: tensor<2xf32>, t: tensor<1xf32>, z: !pol.undef<?xf32>}>
}

// Every array is an allocation, named by its path; buffers pass through.
// CHECK-LABEL: func.func @alloc(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[N:.*]]: index, %[[T:.*]]: tensor<4xf32>, %[[K:.*]]: index)
func.func @alloc(%arena: !pol.arena, %spec: !pol.bundle<{y: !pol.undef<?x2xf32>, t: tensor<4xf32>, in: !pol.bundle<{a: !pol.undef<f16>, b: !pol.undef<?xf64>}>, none: !pol.bundle<{}>}>) -> !pol.bundle<{y: tensor<?x2xf32>, t: tensor<4xf32>, in: !pol.bundle<{a: memref<f16>, b: tensor<?xf64>}>, none: !pol.bundle<{}>}> {
  // CHECK-NEXT: %[[Y:.*]] = pol.alloc %[[ARENA]][%[[N]]] {kernel = "k", name = "y", role = #pol.role<output>} : !pol.arena -> tensor<?x2xf32>
  // CHECK-NEXT: %[[A:.*]] = pol.alloc %[[ARENA]] {kernel = "k", name = "in.a", role = #pol.role<output>} : !pol.arena -> memref<f16>
  // CHECK-NEXT: %[[B:.*]] = pol.alloc %[[ARENA]][%[[K]]] {kernel = "k", name = "in.b", role = #pol.role<output>} : !pol.arena -> tensor<?xf64>
  // CHECK-NEXT: return %[[Y]], %[[T]], %[[A]], %[[B]]
  %0 = pol.alloc %arena, %spec {kernel = "k", role = #pol.role<output>} : !pol.arena, !pol.bundle<{y: !pol.undef<?x2xf32>, t: tensor<4xf32>, in: !pol.bundle<{a: !pol.undef<f16>, b: !pol.undef<?xf64>}>, none: !pol.bundle<{}>}> -> !pol.bundle<{y: tensor<?x2xf32>, t: tensor<4xf32>, in: !pol.bundle<{a: memref<f16>, b: tensor<?xf64>}>, none: !pol.bundle<{}>}>
  return %0 : !pol.bundle<{y: tensor<?x2xf32>, t: tensor<4xf32>, in: !pol.bundle<{a: memref<f16>, b: tensor<?xf64>}>, none: !pol.bundle<{}>}>
}

// CHECK-LABEL: func.func @alloc_of_one(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[N:.*]]: index)
// CHECK-NEXT:    pol.alloc %[[ARENA]][%[[N]]] {name = "t"} : !pol.arena -> memref<?xf32>
func.func @alloc_of_one(%arena: !pol.arena, %u: !pol.undef<?xf32>) -> memref<?xf32> {
  %0 = pol.alloc %arena, %u {name = "t"} : !pol.arena, !pol.undef<?xf32> -> memref<?xf32>
  return %0 : memref<?xf32>
}

//===----------------------------------------------------------------------===//
// Functions and calls
//===----------------------------------------------------------------------===//

// -----

// Attributes of arguments and results move to where their value goes, are
// repeated for each of several, and go where there is none. Those of a bundle
// are about its buffers.
// CHECK:      func.func @attributes(
// CHECK-SAME:   %{{[^:]*}}: i32 {test.a = 0 : i64},
// CHECK-SAME:   %[[A:[^:]*]]: index {test.a = 1 : i64}, %[[B:[^:]*]]: index {test.a = 1 : i64},
// CHECK-SAME:   %[[T:[^:]*]]: tensor<4xf32> {test.a = 4 : i64}, %[[U:[^:]*]]: index,
// CHECK-SAME:   %[[J:[^:]*]]: i32 {test.a = 5 : i64})
// CHECK-SAME:   -> (i32 {test.r = 0 : i64}, index {test.r = 1 : i64}, index {test.r = 1 : i64},
// CHECK-SAME:   tensor<4xf32> {test.r = 3 : i64}, index)
// CHECK-SAME:   attributes {test.f}
func.func @attributes(%i: i32 {test.a = 0}, %u: !pol.undef<?x4x?xf32> {test.a = 1}, %e: !pol.bundle<{}> {test.a = 2}, %s: !pol.undef<4xf32> {test.a = 3}, %b: !pol.bundle<{t: tensor<4xf32>, in: !pol.bundle<{u: !pol.undef<?xf32>}>}> {test.a = 4}, %j: i32 {test.a = 5})
    -> (i32 {test.r = 0}, !pol.undef<?x4x?xf32> {test.r = 1}, !pol.bundle<{}> {test.r = 2}, !pol.bundle<{t: tensor<4xf32>, in: !pol.bundle<{u: !pol.undef<?xf32>}>}> {test.r = 3}) attributes {test.f} {
  // CHECK: return %[[J]], %[[A]], %[[B]], %[[T]], %[[U]]
  return %j, %u, %e, %b : i32, !pol.undef<?x4x?xf32>, !pol.bundle<{}>, !pol.bundle<{t: tensor<4xf32>, in: !pol.bundle<{u: !pol.undef<?xf32>}>}>
}

// CHECK: func.func private @declared(index {test.a = 0 : i64}, index {test.a = 0 : i64}, i32 {test.a = 1 : i64}) -> (i32 {test.r = 1 : i64})
func.func private @declared(!pol.undef<?x?xf32> {test.a = 0}, i32 {test.a = 1}) -> (!pol.undef<f32> {test.r = 0}, i32 {test.r = 1})

// CHECK-LABEL: func.func @calls(
// CHECK-SAME:    %[[A:.*]]: index, %[[B:.*]]: index, %[[I:.*]]: i32)
func.func @calls(%u: !pol.undef<?x?xf32>, %i: i32) -> i32 {
  // CHECK-NEXT: %[[F:.*]] = constant @declared : (index, index, i32) -> i32
  // CHECK-NEXT: %[[R:.*]] = call @declared(%[[A]], %[[B]], %[[I]]) : (index, index, i32) -> i32
  // CHECK-NEXT: %[[S:.*]] = call_indirect %[[F]](%[[A]], %[[B]], %[[R]]) : (index, index, i32) -> i32
  // CHECK-NEXT: return %[[S]]
  %f = constant @declared : (!pol.undef<?x?xf32>, i32) -> (!pol.undef<f32>, i32)
  %0:2 = call @declared(%u, %i) : (!pol.undef<?x?xf32>, i32) -> (!pol.undef<f32>, i32)
  %1:2 = call_indirect %f(%u, %0#1) : (!pol.undef<?x?xf32>, i32) -> (!pol.undef<f32>, i32)
  return %1#1 : i32
}

// CHECK-LABEL: func.func @attributes_of_calls(
func.func @attributes_of_calls(%u: !pol.undef<?x?xf32>, %i: i32) -> i32 {
  // CHECK: call @declared(%{{.*}}) {arg_attrs = [{test.a}, {test.a}, {test.b}], no_inline, res_attrs = [{test.d}], test.x} :
  %0:2 = call @declared(%u, %i) {arg_attrs = [{test.a}, {test.b}], no_inline, res_attrs = [{test.c}, {test.d}], test.x} : (!pol.undef<?x?xf32>, i32) -> (!pol.undef<f32>, i32)
  return %0#1 : i32
}

// Functions that take functions.
// CHECK-LABEL: func.func @function_values(
// CHECK-SAME:    %[[F:.*]]: (index, (index) -> ()) -> tensor<4xf32>, %[[G:.*]]: (index) -> (), %[[N:.*]]: index)
func.func @function_values(%f: (!pol.undef<?xf32>, (!pol.undef<?xf32>) -> ()) -> !pol.bundle<{t: tensor<4xf32>}>, %g: (!pol.undef<?xf32>) -> (), %u: !pol.undef<?xf32>) {
  // CHECK: call_indirect %[[F]](%[[N]], %[[G]])
  %0 = call_indirect %f(%u, %g) : (!pol.undef<?xf32>, (!pol.undef<?xf32>) -> ()) -> !pol.bundle<{t: tensor<4xf32>}>
  return
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

// -----

!b = !pol.bundle<{u: !pol.undef<?xf32>, t: tensor<4xf32>, e: !pol.bundle<{}>}>

// CHECK-LABEL: func.func @scf_if(
// CHECK-SAME:    %[[C:.*]]: i1, %[[XU:.*]]: index, %[[XT:.*]]: tensor<4xf32>, %[[YU:.*]]: index, %[[YT:.*]]: tensor<4xf32>)
func.func @scf_if(%c: i1, %x: !b, %y: !b) -> !b {
  // CHECK-NEXT: %[[R:.*]]:2 = scf.if %[[C]] -> (index, tensor<4xf32>) {
  // CHECK-NEXT:   scf.yield %[[XU]], %[[XT]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   scf.yield %[[YU]], %[[YT]]
  // CHECK:      return %[[R]]#0, %[[R]]#1
  %0 = scf.if %c -> !b {
    scf.yield %x : !b
  } else {
    scf.yield %y : !b
  }
  return %0 : !b
}

// CHECK-LABEL: func.func @scf_for(
// CHECK-SAME:    %[[N:.*]]: index, %[[XU:.*]]: index, %[[XT:.*]]: tensor<4xf32>, %[[YU:.*]]: index, %[[YT:.*]]: tensor<4xf32>)
func.func @scf_for(%n: index, %x: !b, %y: !b) -> (!b, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[R:.*]]:3 = scf.for %{{.*}} = %c0 to %[[N]] step %c1 iter_args(%[[U:.*]] = %[[XU]], %{{.*}} = %[[XT]], %{{.*}} = %c0)
  // CHECK-SAME: -> (index, tensor<4xf32>, index)
  // CHECK-NEXT:   scf.yield %[[YU]], %[[YT]], %[[U]]
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %k = %c0) -> (!b, index) {
    %u = pol.get %a, "u" : !b
    %d = pol.dim %u, 0 : !pol.undef<?xf32>
    scf.yield %y, %d : !b, index
  }
  // CHECK:      return %[[R]]#0, %[[R]]#1, %[[R]]#2
  return %0#0, %0#1 : !b, index
}

// CHECK-LABEL: func.func @scf_while(
// CHECK-SAME:    %[[XU:.*]]: index, %[[XT:.*]]: tensor<4xf32>, %[[LIMIT:.*]]: index)
func.func @scf_while(%x: !b, %limit: index) -> !b {
  // CHECK-NEXT: %[[R:.*]]:3 = scf.while (%[[U:.*]] = %[[XU]], %[[T:.*]] = %[[XT]])
  // CHECK-NEXT:   %[[C:.*]] = arith.cmpi ult, %[[U]], %[[LIMIT]]
  // CHECK-NEXT:   scf.condition(%[[C]]) %[[U]], %[[U]], %[[T]]
  %0:2 = scf.while (%a = %x) : (!b) -> (index, !b) {
    %u = pol.get %a, "u" : !b
    %d = pol.dim %u, 0 : !pol.undef<?xf32>
    %c = arith.cmpi ult, %d, %limit : index
    scf.condition(%c) %d, %a : index, !b
  } do {
  // CHECK:      ^bb0(%[[D:.*]]: index, %{{.*}}: index, %[[BT:.*]]: tensor<4xf32>):
  // CHECK-NEXT:   %[[TWICE:.*]] = arith.addi %[[D]], %[[D]]
  // CHECK-NEXT:   scf.yield %[[TWICE]], %[[BT]]
  ^bb0(%d: index, %a: !b):
    %twice = arith.addi %d, %d : index
    %u = pol.undef [%twice] : !pol.undef<?xf32>
    %new = pol.bundle {u = %u : !pol.undef<?xf32>}
    %m = pol.merge %a, %new : !b, !pol.bundle<{u: !pol.undef<?xf32>}>
    scf.yield %m : !b
  }
  // CHECK:      return %[[R]]#1, %[[R]]#2
  return %0#1 : !b
}

// CHECK-LABEL: func.func @scf_index_switch(
// CHECK-SAME:    %[[I:.*]]: index, %[[XU:.*]]: index, %[[XT:.*]]: tensor<4xf32>, %[[YU:.*]]: index, %[[YT:.*]]: tensor<4xf32>)
func.func @scf_index_switch(%i: index, %x: !b, %y: !b) -> !b {
  // CHECK-NEXT: %[[R:.*]]:2 = scf.index_switch %[[I]] -> index, tensor<4xf32>
  // CHECK-NEXT: case 2 {
  // CHECK-NEXT:   scf.yield %[[XU]], %[[XT]]
  // CHECK:      default {
  // CHECK-NEXT:   scf.yield %[[YU]], %[[YT]]
  // CHECK:      return %[[R]]#0, %[[R]]#1
  %0 = scf.index_switch %i -> !b
  case 2 {
    scf.yield %x : !b
  }
  default {
    scf.yield %y : !b
  }
  return %0 : !b
}

// CHECK-LABEL: func.func @scf_execute_region(
// CHECK-SAME:    %[[C:.*]]: i1, %[[XU:.*]]: index, %[[XT:.*]]: tensor<4xf32>, %[[YU:.*]]: index, %[[YT:.*]]: tensor<4xf32>)
func.func @scf_execute_region(%c: i1, %x: !b, %y: !b) -> !b {
  // CHECK-NEXT: %[[R:.*]]:2 = scf.execute_region -> (index, tensor<4xf32>) no_inline {
  // CHECK-NEXT:   cf.cond_br %[[C]], ^[[A:.*]](%[[XU]], %[[XT]] : index, tensor<4xf32>), ^[[A]](%[[YU]], %[[YT]] : index, tensor<4xf32>)
  // CHECK-NEXT: ^[[A]](%[[U:.*]]: index, %[[T:.*]]: tensor<4xf32>):
  // CHECK-NEXT:   scf.yield %[[U]], %[[T]]
  // CHECK:      return %[[R]]#0, %[[R]]#1
  %0 = scf.execute_region -> !b no_inline {
    cf.cond_br %c, ^a(%x : !b), ^a(%y : !b)
  ^a(%z: !b):
    scf.yield %z : !b
  }
  return %0 : !b
}

// CHECK-LABEL: func.func @branches(
// CHECK-SAME:    %[[C:.*]]: i1, %[[S:.*]]: i32, %[[XU:.*]]: index, %[[XT:.*]]: tensor<4xf32>, %[[YU:.*]]: index, %[[YT:.*]]: tensor<4xf32>)
func.func @branches(%c: i1, %s: i32, %x: !b, %y: !b) -> !b {
  // CHECK-NEXT: cf.cond_br %[[C]] weights([3, 1]), ^[[A:.*]](%[[XU]], %[[XT]] : {{.*}}), ^[[D:.*]](%[[C]], %[[YU]], %[[YT]] :
  cf.cond_br %c weights([3, 1]), ^a(%x : !b), ^d(%c, %y : i1, !b)
// CHECK-NEXT: ^[[A]](%[[AU:.*]]: index, %[[AT:.*]]: tensor<4xf32>):
^a(%p: !b):
  // CHECK-NEXT: cf.switch %[[S]] : i32, [
  // CHECK-NEXT:   default: ^[[Z:.*]](%[[AU]], %[[AT]] :
  // CHECK-NEXT:   1: ^[[A]](%[[YU]], %[[YT]] :
  // CHECK-NEXT:   7: ^[[B:.*]]
  cf.switch %s : i32, [
    default: ^z(%p : !b),
    1: ^a(%y : !b),
    7: ^b
  ]
// CHECK: ^[[B]]:
^b:
  // CHECK-NEXT: cf.br ^[[Z]](%[[XU]], %[[XT]] :
  cf.br ^z(%x : !b)
// CHECK-NEXT: ^[[D]](%{{.*}}: i1, %[[DU:.*]]: index, %[[DT:.*]]: tensor<4xf32>):
^d(%e: i1, %q: !b):
  // CHECK-NEXT: cf.br ^[[Z]](%[[DU]], %[[DT]] :
  cf.br ^z(%q : !b)
// CHECK-NEXT: ^[[Z]](%[[ZU:.*]]: index, %[[ZT:.*]]: tensor<4xf32>):
^z(%r: !b):
  // CHECK-NEXT: return %[[ZU]], %[[ZT]]
  return %r : !b
}

// CHECK-LABEL: func.func @unreachable(
// CHECK-NEXT:    return
// CHECK-NEXT:  }
func.func @unreachable() {
  return
^dead(%v: !b):
  %u = pol.get %v, "u" : !b
  cf.br ^dead(%v : !b)
}

// CHECK-LABEL: func.func @select(
// CHECK-SAME:    %[[C:.*]]: i1, %[[XU:.*]]: index, %[[XT:.*]]: tensor<4xf32>, %[[YU:.*]]: index, %[[YT:.*]]: tensor<4xf32>)
func.func @select(%c: i1, %x: !b, %y: !b) -> !b {
  // CHECK-NEXT: %[[U:.*]] = arith.select %[[C]], %[[XU]], %[[YU]]
  // CHECK-NEXT: %[[T:.*]] = arith.select %[[C]], %[[XT]], %[[YT]]
  // CHECK-NEXT: return %[[U]], %[[T]]
  %0 = arith.select %c, %x, %y : !b
  return %0 : !b
}

// CHECK-LABEL: func.func @frame(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[U:.*]]: index, %[[T:.*]]: tensor<4xf32>)
func.func @frame(%arena: !pol.arena, %x: !b) -> !b {
  // CHECK-NEXT: %[[R:.*]]:2 = pol.frame on %[[ARENA]] : !pol.arena -> index, tensor<4xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: !pol.frame):
  // CHECK-NEXT:   pol.yield %[[U]], %[[T]]
  // CHECK-NEXT: } {note}
  // CHECK-NEXT: return %[[R]]#0, %[[R]]#1
  %0 = pol.frame on %arena : !pol.arena -> !b {
  ^bb0(%f: !pol.frame):
    pol.yield %x : !b
  } {note}
  return %0 : !b
}

// Regions that carry no bundle but use one from outside.
// CHECK-LABEL: func.func @captured(
// CHECK-SAME:    %[[ARENA:.*]]: !pol.arena, %[[U:.*]]: index, %{{.*}}: tensor<4xf32>)
func.func @captured(%arena: !pol.arena, %x: !b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.parallel
  // CHECK:   "test.user"(%[[U]]) : (index) -> ()
  %u = pol.get %x, "u" : !b
  %n = pol.dim %u, 0 : !pol.undef<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %d = pol.dim %u, 0 : !pol.undef<?xf32>
    "test.user"(%d) : (index) -> ()
  }
  return
}

// CHECK-LABEL: func.func @capture(
// CHECK-SAME:    %[[XU:.*]]: index, %[[XT:.*]]: tensor<4xf32>)
func.func @capture(%x: !b) -> !b {
  // CHECK-NEXT: %[[R:.*]]:2 = pol.capture -> index, tensor<4xf32> {
  // CHECK-NEXT:   pol.yield %[[XU]], %[[XT]] : index, tensor<4xf32>
  // CHECK-NEXT: } {note = "kept"}
  // CHECK-NEXT: return %[[R]]#0, %[[R]]#1
  %0 = pol.capture -> !b {
    pol.yield %x : !b
  } {note = "kept"}
  return %0 : !b
}
