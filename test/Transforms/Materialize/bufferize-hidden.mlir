// RUN: pol-opt %s --pol-bufferize --split-input-file --verify-diagnostics | FileCheck %s
// RUN: pol-opt %s --pol-bufferize=report-hidden=false --split-input-file 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=remark:
// RUN: not pol-opt %s --pol-bufferize=strict --split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STRICT --implicit-check-not=func.func

// Buffers that no pol.alloc asked for come from the thread's heap; where they
// are added and why is said.

// STRICT: error: expected only buffers that a pol.alloc asks for, but bufferization adds a buffer of type memref<4xf32>, because 'linalg.exp' uses a tensor that no pol.alloc made

// CHECK-LABEL: func.func @empty(
// CHECK-SAME:    %[[X:.+]]: memref<4xf32>)
// CHECK-NEXT:    %[[HEAP:.+]] = pol.thread_heap : !pol.heap
// CHECK-NEXT:    %[[T:.+]] = pol.alloc %[[HEAP]] {role = #pol.role<hidden>} : !pol.heap -> memref<4xf32>
// CHECK-NEXT:    linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[T]] : memref<4xf32>)
func.func @empty(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@+1 {{bufferization adds a buffer of type memref<4xf32>, because 'linalg.exp' uses a tensor that no pol.alloc made}}
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.exp ins(%0 : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// STRICT: error: expected only buffers that a pol.alloc asks for, but bufferization adds a buffer of type memref<?xf32>
// STRICT: error: expected only buffers that a pol.alloc asks for, but bufferization adds a copy of type memref<?xf32>

// CHECK-LABEL: func.func @conflict(
// CHECK-SAME:    %[[X:.+]]: memref<?xf32>
// CHECK:         %[[T:.+]] = pol.alloc %{{.+}}[%{{.+}}] {role = #pol.role<hidden>}
// CHECK-NEXT:    memref.copy %[[X]], %[[T]]
// CHECK-NEXT:    memref.store %{{.+}}, %[[T]]
func.func @conflict(%x: tensor<?xf32>, %v: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  // expected-remark@+2 {{bufferization adds a buffer of type memref<?xf32>, because 'tensor.insert' writes to a tensor that is read later}}
  // expected-remark@+1 {{bufferization adds a copy of type memref<?xf32>}}
  %0 = tensor.insert %v into %x[%c0] : tensor<?xf32>
  %1 = tensor.extract %0[%c0] : tensor<?xf32>
  %2 = tensor.extract %x[%c0] : tensor<?xf32>
  return %1, %2 : f32, f32
}

// -----

// STRICT-COUNT-2: error: expected only buffers that a pol.alloc asks for, but bufferization adds a buffer

// Its contents do not matter: no copy.

// CHECK-LABEL: func.func @overwritten(
// CHECK-NOT:     memref.copy
func.func @overwritten(%x: tensor<4xf32>, %v: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  // expected-remark@+1 {{bufferization adds a buffer of type memref<4xf32>, because 'linalg.fill' writes to a tensor that is read later}}
  %0 = linalg.fill ins(%v : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %1 = tensor.extract %0[%c0] : tensor<4xf32>
  %2 = tensor.extract %x[%c0] : tensor<4xf32>
  return %1, %2 : f32, f32
}

// -----

// CHECK-LABEL: func.func @loop_carried(
// CHECK:         scf.for
// CHECK:           pol.alloc %{{.+}} {role = #pol.role<hidden>}
func.func @loop_carried(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-remark@+2 {{bufferization adds a buffer of type memref<4xf32>, because 'scf.yield' takes a tensor that is in another place}}
    // expected-remark@+1 {{bufferization adds a copy of type memref<4xf32>}}
    scf.yield %q, %p : tensor<4xf32>, tensor<4xf32>
  }
  %0 = tensor.extract %r#0[%c0] : tensor<4xf32>
  %1 = tensor.extract %r#1[%c0] : tensor<4xf32>
  return %0, %1 : f32, f32
}
