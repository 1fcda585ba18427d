// RUN: pol-opt %s --pol-emit-entry-points --split-input-file --verify-diagnostics \
// RUN:   | FileCheck %s

// The error record, a pointer for each result, the arguments: memrefs by the
// address of their descriptors.

// CHECK-LABEL: func.func @pol_entry_infallible(
// CHECK-SAME:    %[[ERROR:[^:]+]]: !llvm.ptr, %[[R0:[^:]+]]: !llvm.ptr, %[[R1:[^:]+]]: !llvm.ptr,
// CHECK-SAME:    %[[SPACE:[^:]+]]: !pol.arena, %[[X:[^:]+]]: !llvm.ptr, %[[N:[^:]+]]: index) -> i32
// CHECK:         %[[LOADED:.+]] = llvm.load %[[X]] : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
// CHECK-NEXT:    %[[MEMREF:.+]] = builtin.unrealized_conversion_cast %[[LOADED]] : {{.+}} to memref<?xf32>
// CHECK-NEXT:    %[[R:.+]]:2 = call @infallible(%[[SPACE]], %[[MEMREF]], %[[N]])
// CHECK-NEXT:    %[[DESCRIPTOR:.+]] = builtin.unrealized_conversion_cast %[[R]]#0
// CHECK-NEXT:    llvm.store %[[DESCRIPTOR]], %[[R0]]
// CHECK-NEXT:    llvm.store %[[R]]#1, %[[R1]] : f32, !llvm.ptr
// CHECK-NEXT:    %[[ZERO:.+]] = arith.constant 0 : i32
// CHECK-NEXT:    return %[[ZERO]]
func.func @infallible(%a: !pol.arena, %x: memref<?xf32>, %n: index) -> (memref<?xf32>, f32) {
  %z = arith.constant 0.0 : f32
  return %x, %z : memref<?xf32>, f32
}

// Private and external functions have no entry point.

// CHECK-NOT: @pol_entry_
func.func private @internal() {
  return
}
func.func private @external()

// -----

// A failure is copied before anything else can fail, then every space is as it
// was.

// CHECK:       func.func private @pol_copy_last_error(!llvm.ptr) -> i32
// CHECK-LABEL: func.func @pol_entry_fallible(
// CHECK-SAME:    %[[ERROR:[^:]+]]: !llvm.ptr, %[[A:[^:]+]]: !pol.arena, %[[B:[^:]+]]: !pol.heap) -> i32
// CHECK:         %[[THREAD:.+]] = pol.thread_heap
// CHECK-NEXT:    %[[MARK_A:.+]] = pol.mark %[[A]]
// CHECK-NEXT:    %[[MARK_B:.+]] = pol.mark %[[B]]
// CHECK-NEXT:    %[[MARK_T:.+]] = pol.mark %[[THREAD]]
// CHECK-NEXT:    %[[OK:.+]] = call @fallible
// CHECK-NEXT:    cf.cond_br %[[OK]], ^[[SUCCESS:.+]], ^[[FAILURE:.+]]
// CHECK-NEXT:  ^[[SUCCESS]]:
// CHECK-NEXT:    %[[ZERO:.+]] = arith.constant 0 : i32
// CHECK-NEXT:    return %[[ZERO]]
// CHECK-NEXT:  ^[[FAILURE]]:
// CHECK-NEXT:    %[[CODE:.+]] = call @pol_copy_last_error(%[[ERROR]])
// CHECK-NEXT:    pol.retract %[[A]], %[[MARK_A]]
// CHECK-NEXT:    pol.retract %[[B]], %[[MARK_B]]
// CHECK-NEXT:    pol.retract %[[THREAD]], %[[MARK_T]]
// CHECK-NEXT:    return %[[CODE]]
func.func @fallible(%a: !pol.arena, %b: !pol.heap) -> i1 attributes {pol.fallible} {
  %true = arith.constant true
  return %true : i1
}

// -----

// expected-error@+1 {{expected a function that can fail to return a status last, as pol-thread-status leaves it}}
func.func @no_status() attributes {pol.fallible} {
  return
}

// -----

// expected-error@+1 {{expected types that C can pass, but got 'tensor<4xf32>'}}
func.func @tensor(%x: tensor<4xf32>) {
  return
}

// -----

func.func @f() {
  return
}
// expected-error@+1 {{'func.func' op expected the name of the entry point of @f to be free}}
func.func private @pol_entry_f()

// -----

// expected-error@+1 {{'func.func' op expected @pol_copy_last_error to be the runtime's, a func.func of type '(!llvm.ptr) -> i32'}}
func.func private @pol_copy_last_error()
func.func @f() -> i1 attributes {pol.fallible} {
  %true = arith.constant true
  return %true : i1
}
