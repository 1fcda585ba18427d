// RUN: split-file %s %t
// RUN: pol-opt %t/invalid.mlir --pol-to-llvm=report-hidden=false --split-input-file \
// RUN:   --verify-diagnostics -o /dev/null
// RUN: pol-opt %t/invalid.mlir --pol-to-nvvm=report-hidden=false --split-input-file \
// RUN:   --verify-diagnostics -o /dev/null
// RUN: pol-opt %t/valid.mlir --pol-describe-stage --pol-materialize-stage \
// RUN:   | FileCheck %t/valid.mlir --check-prefix=MATERIALIZE
// RUN: pol-opt %t/valid.mlir --pol-describe-stage --pol-materialize-stage --pol-place-stage \
// RUN:   | FileCheck %t/valid.mlir --check-prefix=PLACE
// RUN: pol-opt %t/valid.mlir --pol-to-llvm=strict | FileCheck %t/valid.mlir --check-prefix=LLVM
// RUN: sed 's|/\*G\*/|, #gpu.address_space<global>|g' %t/gpu.mlir | pol-opt --pol-to-nvvm=strict \
// RUN:   | FileCheck %t/gpu.mlir

//--- valid.mlir
// Captures stay until frames are lowered; checks leave them, too.

// MATERIALIZE-LABEL: func.func @main(
// MATERIALIZE-NOT:     pol.check
// MATERIALIZE:         pol.capture
// MATERIALIZE:           pol.frame
// MATERIALIZE:             pol.rms_norm

// PLACE-LABEL: func.func @main(
// PLACE:         pol.check
// PLACE:         pol.carve {{.*}} role = #pol.role<slab>
// PLACE:         pol.rms_norm
// PLACE-NOT:     pol.yield

// LLVM: llvm.func @main(
func.func @main(%a: !pol.arena, %x: tensor<?x?xf32>, %w: tensor<?xf32>, %y: tensor<?x?xf32>, %n: index) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %r:2 = pol.capture -> tensor<?x?xf32>, tensor<?xf32> {
    %p = pol.alloc %a[%n] : !pol.arena -> tensor<?xf32>
    %s:2 = pol.frame on %a : !pol.arena -> tensor<?x?xf32>, tensor<?xf32> {
    ^bb0(%f: !pol.frame):
      %c = pol.alloc %f[%n] : !pol.frame -> tensor<?xf32>
      %0, %rstd = pol.rms_norm ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>)
          outs(%y : tensor<?x?xf32>) checkpoints(%c : tensor<?xf32>)
          -> tensor<?x?xf32>, tensor<?xf32>
      %1 = linalg.exp ins(%rstd : tensor<?xf32>) outs(%p : tensor<?xf32>) -> tensor<?xf32>
      pol.yield %0, %1 : tensor<?x?xf32>, tensor<?xf32>
    }
    pol.yield %s#0, %s#1 : tensor<?x?xf32>, tensor<?xf32>
  }
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?xf32>
}

//--- gpu.mlir
// CHECK: llvm.func @main(
// CHECK: gpu.launch_func
func.func @main(%a: !pol.arena<#gpu.address_space<global>>, %x: tensor<4x8xf32/*G*/>) -> tensor<4x8xf32/*G*/> {
  %r = pol.capture -> tensor<4x8xf32/*G*/> {
    %y = pol.apply "pol.softmax"(%x) in %a
        : (tensor<4x8xf32/*G*/>), !pol.arena<#gpu.address_space<global>> -> tensor<4x8xf32/*G*/>
    pol.yield %y : tensor<4x8xf32/*G*/>
  }
  return %r : tensor<4x8xf32/*G*/>
}

//--- invalid.mlir
func.func @heap(%h: !pol.heap, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{the capture is here}}
  %r = pol.capture -> tensor<4xf32> {
    // expected-error@+1 {{expected no allocation from a heap inside a capture: its address}}
    %y = pol.apply "pol.softmax"(%x) in %h : (tensor<4xf32>), !pol.heap -> tensor<4xf32>
    pol.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// What bufferization adds is from a heap: the write would be seen by the second
// read.

func.func @hidden(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{the capture is here}}
  %r = pol.capture -> tensor<4xf32> {
    // expected-error@+1 {{expected no allocation from a heap inside a capture, but no pol.alloc asked for this buffer}}
    %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    %1 = linalg.add ins(%x, %0 : tensor<4xf32>, tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
    pol.yield %1 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
