// RUN: pol-opt %s --pol-bufferize --split-input-file | FileCheck %s
// RUN: pol-opt %s --pol-bufferize=strict --split-input-file | FileCheck %s

// In place, whatever is around it: no buffer, no copy.

// CHECK-LABEL: func.func @frame(
// CHECK-SAME:    %[[A:.+]]: !pol.arena, %[[X:.+]]: memref<4xf32>, %[[Y:.+]]: memref<4xf32>)
// CHECK-NEXT:    %[[R:.+]] = pol.frame on %[[A]] : !pol.arena -> memref<4xf32> {
// CHECK-NEXT:    ^bb0(%[[F:.+]]: !pol.frame):
// CHECK-NEXT:      %[[T:.+]] = pol.alloc %[[F]] {kernel = "k", name = "t", role = #pol.role<scratch>} : !pol.frame -> memref<4xf32>
// CHECK-NEXT:      linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[T]] : memref<4xf32>)
// CHECK-NEXT:      linalg.exp ins(%[[T]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
// CHECK-NEXT:      pol.yield %[[Y]] : memref<4xf32>
// CHECK-NEXT:    } {test.kept}
// CHECK-NEXT:    return %[[R]]
func.func @frame(%a: !pol.arena, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = pol.frame on %a : !pol.arena -> tensor<4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f {kernel = "k", name = "t", role = #pol.role<scratch>} : !pol.frame -> tensor<4xf32>
    %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    %1 = linalg.exp ins(%0 : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
    pol.yield %1 : tensor<4xf32>
  } {test.kept}
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @kernel(
// CHECK-SAME:    %[[X:.+]]: memref<?x64xf16>, %[[W:.+]]: memref<64xf32>, %[[Y:.+]]: memref<?x64xf16>, %[[R:.+]]: memref<?xf32>)
// CHECK-NEXT:    pol.rms_norm ins(%[[X]], %[[W]] : memref<?x64xf16>, memref<64xf32>) outs(%[[Y]] : memref<?x64xf16>) checkpoints(%[[R]] : memref<?xf32>) {eps = 0.000000e+00 : f64, offset = 1.000000e+00 : f64, test.kept}
// CHECK-NEXT:    return %[[Y]], %[[R]]
func.func @kernel(%x: tensor<?x64xf16>, %w: tensor<64xf32>, %y: tensor<?x64xf16>, %r: tensor<?xf32>) -> (tensor<?x64xf16>, tensor<?xf32>) {
  %0:2 = pol.rms_norm ins(%x, %w : tensor<?x64xf16>, tensor<64xf32>) outs(%y : tensor<?x64xf16>) checkpoints(%r : tensor<?xf32>) {eps = 0.0 : f64, offset = 1.0 : f64, test.kept} -> tensor<?x64xf16>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x64xf16>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @control_flow(
// CHECK:         %[[Y:.+]] = pol.alloc
// CHECK-NOT:     pol.alloc
// CHECK-NOT:     memref.copy
// CHECK:         scf.for
// CHECK:           pol.frame
// CHECK:             scf.if
// CHECK:           scf.while
// CHECK-NOT:     pol.alloc
// CHECK-NOT:     memref.copy
// CHECK:         call @callee
func.func @control_flow(%a: !pol.arena, %n: index, %c: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = pol.alloc %a[%n] : !pol.arena -> tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %y) -> tensor<?xf32> {
    %0 = pol.frame on %a : !pol.arena -> tensor<?xf32> {
    ^bb0(%f: !pol.frame):
      %1 = scf.if %c -> tensor<?xf32> {
        %2 = linalg.exp ins(%x : tensor<?xf32>) outs(%p : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %2 : tensor<?xf32>
      } else {
        scf.yield %p : tensor<?xf32>
      }
      pol.yield %1 : tensor<?xf32>
    }
    %3 = scf.while (%q = %0) : (tensor<?xf32>) -> tensor<?xf32> {
      scf.condition(%c) %q : tensor<?xf32>
    } do {
    ^bb0(%q: tensor<?xf32>):
      %4 = linalg.log ins(%x : tensor<?xf32>) outs(%q : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %4 : tensor<?xf32>
    }
    scf.yield %3 : tensor<?xf32>
  }
  %s = call @callee(%r, %x) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}
// CHECK-LABEL: func.func private @callee(
// CHECK-SAME:    %{{.+}}: memref<?xf32>, %{{.+}}: memref<?xf32>) -> memref<?xf32>
func.func private @callee(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// The space's memory space is the memref's, through regions and functions.

// CHECK-LABEL: func.func @memory_space(
// CHECK-SAME:    %[[X:.+]]: memref<?xf32, #gpu.address_space<global>>
// CHECK-SAME:    -> memref<?xf32, #gpu.address_space<global>>
// CHECK:         pol.alloc %{{.+}}[%{{.+}}] : !pol.arena<#gpu.address_space<global>> -> memref<?xf32, #gpu.address_space<global>>
// CHECK:         scf.if %{{.+}} -> (memref<?xf32, #gpu.address_space<global>>)
// CHECK:         call @identity(%{{.+}}) : (memref<?xf32, #gpu.address_space<global>>) -> memref<?xf32, #gpu.address_space<global>>
func.func @memory_space(%a: !pol.arena<#gpu.address_space<global>>, %x: tensor<?xf32, #gpu.address_space<global>>, %n: index, %c: i1) -> tensor<?xf32, #gpu.address_space<global>> {
  %t = pol.alloc %a[%n] : !pol.arena<#gpu.address_space<global>> -> tensor<?xf32, #gpu.address_space<global>>
  %0 = scf.if %c -> tensor<?xf32, #gpu.address_space<global>> {
    %1 = linalg.exp ins(%x : tensor<?xf32, #gpu.address_space<global>>) outs(%t : tensor<?xf32, #gpu.address_space<global>>) -> tensor<?xf32, #gpu.address_space<global>>
    scf.yield %1 : tensor<?xf32, #gpu.address_space<global>>
  } else {
    scf.yield %t : tensor<?xf32, #gpu.address_space<global>>
  }
  %2 = call @identity(%0) : (tensor<?xf32, #gpu.address_space<global>>) -> tensor<?xf32, #gpu.address_space<global>>
  return %2 : tensor<?xf32, #gpu.address_space<global>>
}
func.func private @identity(%x: tensor<?xf32, #gpu.address_space<global>>) -> tensor<?xf32, #gpu.address_space<global>> {
  return %x : tensor<?xf32, #gpu.address_space<global>>
}

// -----

// CHECK-LABEL: func.func @integer_space(
// CHECK:         pol.alloc %{{.+}} : !pol.frame<1 : i64> -> memref<4xf32, 1>
func.func @integer_space(%a: !pol.arena<1>, %x: tensor<4xf32, 1 : i64>) -> tensor<4xf32, 1 : i64> {
  %r = pol.frame on %a : !pol.arena<1> -> tensor<4xf32, 1 : i64> {
  ^bb0(%f: !pol.frame<1>):
    %t = pol.alloc %f : !pol.frame<1> -> tensor<4xf32, 1 : i64>
    %0 = linalg.exp ins(%x : tensor<4xf32, 1 : i64>) outs(%t : tensor<4xf32, 1 : i64>) -> tensor<4xf32, 1 : i64>
    %1 = linalg.exp ins(%0 : tensor<4xf32, 1 : i64>) outs(%x : tensor<4xf32, 1 : i64>) -> tensor<4xf32, 1 : i64>
    pol.yield %1 : tensor<4xf32, 1 : i64>
  }
  return %r : tensor<4xf32, 1 : i64>
}

// -----

// The program's own copies are no hidden ones.

// CHECK-LABEL: func.func @insert(
// CHECK:         memref.copy
// CHECK:         memref.copy
func.func @insert(%x: tensor<2xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.insert_slice %x into %y[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %1 = tensor.extract_slice %0[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %2 = bufferization.materialize_in_destination %x in %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = tensor.insert_slice %2 into %0[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// A capture's results are what it yields, inside of frames and around them.

// CHECK-LABEL: func.func @capture(
// CHECK-SAME:    %[[A:.+]]: !pol.arena, %[[X:.+]]: memref<4xf32, 1>, %[[Y:.+]]: memref<4xf32, 1>)
// CHECK:           %[[R:.+]] = pol.capture -> memref<4xf32, 1> {
// CHECK-NEXT:        linalg.exp ins(%[[X]] : memref<4xf32, 1>) outs(%[[Y]] : memref<4xf32, 1>)
// CHECK-NEXT:        %[[F:.+]] = pol.frame on %[[A]] : !pol.arena -> memref<4xf32, 1> {
// CHECK:               linalg.log ins(%[[Y]] : memref<4xf32, 1>) outs(%[[Y]] : memref<4xf32, 1>)
// CHECK-NEXT:          pol.yield %[[Y]]
// CHECK:             pol.yield %[[F]] : memref<4xf32, 1>
// CHECK-NEXT:      } {note = "kept"}
func.func @capture(%a: !pol.arena, %x: tensor<4xf32, 1 : i64>, %y: tensor<4xf32, 1 : i64>) -> tensor<4xf32, 1 : i64> {
  %r = pol.capture -> tensor<4xf32, 1 : i64> {
    %0 = linalg.exp ins(%x : tensor<4xf32, 1 : i64>) outs(%y : tensor<4xf32, 1 : i64>) -> tensor<4xf32, 1 : i64>
    %1 = pol.frame on %a : !pol.arena -> tensor<4xf32, 1 : i64> {
    ^bb0(%f: !pol.frame):
      %2 = linalg.log ins(%0 : tensor<4xf32, 1 : i64>) outs(%0 : tensor<4xf32, 1 : i64>) -> tensor<4xf32, 1 : i64>
      pol.yield %2 : tensor<4xf32, 1 : i64>
    }
    pol.yield %1 : tensor<4xf32, 1 : i64>
  } {note = "kept"}
  return %r : tensor<4xf32, 1 : i64>
}
