// RUN: pol-opt %s --pol-thread-status --split-input-file --verify-diagnostics \
// RUN:   | FileCheck %s

// Every carve and retract is branched on; what a failed one leaves as results
// is never looked at.

// CHECK-LABEL: func.func @carve(
// CHECK-SAME:    %[[ARENA:.+]]: !pol.arena, %[[X:.+]]: memref<4xf32>)
// CHECK-SAME:    -> (memref<?xf32>, i1) attributes {pol.fallible}
// CHECK:         %[[MARK:.+]] = pol.mark %[[ARENA]]
// CHECK-NEXT:    %{{.+}}, %[[OK:.+]] = pol.carve %[[ARENA]]
// CHECK-NEXT:    cf.cond_br %[[OK]], ^[[NEXT:.+]], ^[[FAILED:bb[0-9]+]]
// CHECK-NEXT:  ^[[NEXT]]:
// CHECK-NEXT:    %[[DONE:.+]] = pol.retract %[[ARENA]], %[[MARK]]
// CHECK-NEXT:    cf.cond_br %[[DONE]], ^[[END:.+]], ^[[FAILED]]
// CHECK-NEXT:  ^[[END]]:
// CHECK-NEXT:    %[[Y:.+]] = memref.cast
// CHECK-NEXT:    %[[TRUE:.+]] = arith.constant true
// CHECK-NEXT:    return %[[Y]], %[[TRUE]] : memref<?xf32>, i1
// CHECK-NEXT:  ^[[FAILED]]:
// CHECK-NEXT:    %[[POISON:.+]] = ub.poison : memref<?xf32>
// CHECK-NEXT:    %[[FALSE:.+]] = arith.constant false
// CHECK-NEXT:    return %[[POISON]], %[[FALSE]] : memref<?xf32>, i1
func.func @carve(%a: !pol.arena, %x: memref<4xf32>) -> memref<?xf32> {
  %m = pol.mark %a : !pol.arena
  %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  %done = pol.retract %a, %m : !pol.arena
  %y = memref.cast %x : memref<4xf32> to memref<?xf32>
  return %y : memref<?xf32>
}

// -----

// So is every check.

// CHECK-LABEL: func.func @check(
// CHECK-SAME:    -> i1 attributes {pol.fallible}
// CHECK:         %[[OK:.+]] = pol.check
// CHECK-NEXT:    cf.cond_br %[[OK]]
func.func @check(%n: index, %m: index) {
  %ok = pol.check %n eq %m, "n"
  return
}

// -----

// Callers of those that can fail can fail; attributes stay with their results.

// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    -> (f32 {test.a = 1 : i64}, i1) attributes {pol.fallible}
// CHECK:         %[[R:.+]]:2 = call @callee(%{{.+}}) {test.b} : (!pol.arena) -> (f32, i1)
// CHECK-NEXT:    cf.cond_br %[[R]]#1
// CHECK:         return %[[R]]#0, %{{.+}} : f32, i1
func.func @caller(%a: !pol.arena) -> (f32 {test.a = 1}) {
  %r = call @callee(%a) {test.b} : (!pol.arena) -> f32
  return %r : f32
}
// CHECK-LABEL: func.func private @callee(
// CHECK-SAME:    -> (f32, i1) attributes {pol.fallible}
func.func private @callee(%a: !pol.arena) -> f32 {
  %z = arith.constant 0.0 : f32
  %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  return %z : f32
}
// CHECK-LABEL: func.func @cannot_fail(
// CHECK-NOT:     attributes
// CHECK:         call @also_cannot() : () -> ()
func.func @cannot_fail(%a: !pol.arena) {
  %m = pol.mark %a : !pol.arena
  pol.reset %a : !pol.arena
  call @also_cannot() : () -> ()
  return
}
func.func private @also_cannot()

// -----

// In loops of blocks, with several returns; recursion.

// CHECK-LABEL: func.func @loop(
// CHECK:       ^bb1:
// CHECK:         pol.carve
// CHECK-NEXT:    cf.cond_br %{{.+}}, ^[[REST:.+]], ^[[FAILED:bb[0-9]+]]
// CHECK:       ^[[REST]]:
// CHECK-NEXT:    %[[R:.+]] = call @loop
// CHECK-NEXT:    cf.cond_br %[[R]], ^[[AGAIN:.+]], ^[[FAILED]]
// CHECK:       ^[[AGAIN]]:
// CHECK-NEXT:    cf.cond_br %{{.+}}, ^bb1,
// CHECK-COUNT-2: return %{{.+}} : i1
func.func @loop(%a: !pol.arena, %c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  call @loop(%a, %c) : (!pol.arena, i1) -> ()
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
  return
}

// -----

// A status that the program looks at is its own business, in any region.

// CHECK-LABEL: func.func @looked_at(
// CHECK-SAME:    -> i1 {
// CHECK-NOT:     cf.cond_br
func.func @looked_at(%a: !pol.arena, %c: i1) -> i1 {
  %r = scf.if %c -> i1 {
    %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
    scf.yield %ok : i1
  } else {
    scf.yield %c : i1
  }
  return %r : i1
}

// -----

// Modules in modules are modules.

// CHECK-LABEL: module @nested
// CHECK:         func.func @f(
// CHECK:           cf.cond_br
module @nested {
  func.func @f(%a: !pol.arena) {
    %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
    return
  }
}

// -----

func.func @structured(%a: !pol.arena, %c: i1) {
  scf.if %c {
    // expected-error@+1 {{'pol.carve' op expected what can fail to be in the body of a function, but got 'scf.if' around it}}
    %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  }
  return
}

// -----

func.func @check_in_parallel(%n: index, %m: index) {
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%m) to (%n) step (%c1) {
    // expected-error@+1 {{'pol.check' op expected what can fail to be in the body of a function, but got 'scf.parallel' around it}}
    %ok = pol.check %n eq %m, "n"
  }
  return
}

// -----

llvm.func @other(%p: !llvm.ptr) {
  %a = builtin.unrealized_conversion_cast %p : !llvm.ptr to !pol.arena
  // expected-error@+1 {{'pol.carve' op expected what can fail to be in the body of a function, but got 'llvm.func' around it}}
  %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  llvm.return
}

// -----

func.func @pointer(%a: !pol.arena) {
  // expected-error@+1 {{'func.constant' op expected only calls of @callee, which can fail}}
  %f = func.constant @callee : (!pol.arena) -> ()
  call_indirect %f(%a) : (!pol.arena) -> ()
  return
}
func.func private @callee(%a: !pol.arena) {
  %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  return
}

// -----

// expected-error@+1 {{expected only calls of @callee, which can fail}}
func.func @named(%a: !pol.arena) attributes {test.next = @callee} {
  return
}
func.func private @callee(%a: !pol.arena) {
  %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  return
}
