// RUN: pol-test-opt %s --pol-mark-known-buffers --test-pol-expand-scale \
// RUN:   --convert-pol-to-linalg --pol-report-hidden --split-input-file \
// RUN:   --verify-diagnostics | FileCheck %s --implicit-check-not=pol.known
// RUN: not pol-test-opt %s --pol-mark-known-buffers --test-pol-expand-scale \
// RUN:   --convert-pol-to-linalg --pol-report-hidden=strict --split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STRICT

// What the expansion of a kernel adds is reported at the kernel, with its name:
// not what the program wrote itself, what bufferization has reported before, and
// small tiles.

// CHECK-LABEL: func.func @scale(
// CHECK:         memref.alloc
// CHECK:         memref.alloca
func.func @scale(%x: memref<?xf32>, %y: memref<?xf32>, %s: memref<?xf32, strided<[?]>>, %n: index) {
  %h = pol.thread_heap : !pol.heap
  %0, %ok = pol.carve %h[%n] {role = #pol.role<hidden>} : !pol.heap -> memref<?xf32>
  %1 = memref.alloc(%n) : memref<?xf32>
  %2 = memref.alloca(%n) : memref<?xf32>
  memref.copy %x, %2 : memref<?xf32> to memref<?xf32>
  // This one is a linalg.generic afterwards.
  memref.copy %x, %s : memref<?xf32> to memref<?xf32, strided<[?]>>
  linalg.copy ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  // STRICT: report-hidden.mlir:[[@LINE+7]]:3: error: expected only buffers that a pol.alloc asks for, but the expansion of 'test_pol.scale' adds a buffer of type memref<?xf32>
  // STRICT: report-hidden.mlir:[[@LINE+6]]:3: error: expected only buffers that a pol.alloc asks for, but the expansion of 'test_pol.scale' adds a buffer of type memref<4xf32>
  // STRICT: report-hidden.mlir:[[@LINE+5]]:3: error: expected only buffers that a pol.alloc asks for, but the expansion of 'test_pol.scale' adds a copy of type memref<?xf32>
  // STRICT: <unknown>:0: error: expected only buffers that a pol.alloc asks for, but expansion adds a copy of type memref<?xf32>
  // expected-remark@+3 {{the expansion of 'test_pol.scale' adds a buffer of type memref<?xf32>}}
  // expected-remark@+2 {{the expansion of 'test_pol.scale' adds a buffer of type memref<4xf32>}}
  // expected-remark@+1 {{the expansion of 'test_pol.scale' adds a copy of type memref<?xf32>}}
  test_pol.scale x(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  // expected-remark@unknown {{expansion adds a copy of type memref<?xf32>}}
  return
}

// -----

// pol's own kernels add tiles, and no more.

// CHECK-LABEL: func.func @own(
// CHECK:         memref.alloca() : memref<64xf32>
func.func @own(%x: memref<4x64xf32>, %w: memref<64xf32>, %r: memref<4xf32>, %dx: memref<4x64xf32>, %dw: memref<64xf32>, %p: memref<1x64xf32>) {
  pol.rms_norm_grad ins(%x, %x, %w : memref<4x64xf32>, memref<4x64xf32>, memref<64xf32>)
      checkpoints(%r : memref<4xf32>) outs(%dx, %dw : memref<4x64xf32>, memref<64xf32>)
      scratch(%p : memref<1x64xf32>)
  return
}
