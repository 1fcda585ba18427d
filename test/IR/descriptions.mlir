// RUN: pol-opt %s | FileCheck %s
// RUN: pol-opt %s | pol-opt | FileCheck %s
// RUN: pol-opt %s --mlir-print-op-generic | pol-opt | FileCheck %s
// RUN: pol-opt %s --emit-bytecode | pol-opt | FileCheck %s

// The ops on descriptions as values, and descriptions of functions.

// CHECK-LABEL: func.func @undef(
// CHECK-SAME:    %[[N:.*]]: index, %[[X:.*]]: tensor<4x?xf32>, %[[M:.*]]: memref<?xf64>)
func.func @undef(%n: index, %x: tensor<4x?xf32>, %m: memref<?xf64>) {
  // CHECK: pol.undef : !pol.undef<f32>
  %scalar = pol.undef : !pol.undef<f32>
  // CHECK: pol.undef : !pol.undef<0x4xcomplex<f64>>
  %static = pol.undef : !pol.undef<0x4xcomplex<f64>>
  // CHECK: %[[U:.*]] = pol.undef[%[[N]], %[[N]]] : !pol.undef<?x4x?xindex>
  %dynamic = pol.undef [%n, %n] : !pol.undef<?x4x?xindex>
  // CHECK: pol.undef like %[[X]] : tensor<4x?xf32>
  %same = pol.undef like %x : tensor<4x?xf32>
  // CHECK: pol.undef like %[[M]] : memref<?xf64>
  %memref = pol.undef like %m : memref<?xf64>
  // CHECK: pol.undef like %[[U]] : !pol.undef<?x4x?xindex>
  %again = pol.undef like %dynamic : !pol.undef<?x4x?xindex>
  // CHECK: pol.undef like %[[X]] : tensor<4x?xf32> -> !pol.undef<4x?xi1>
  %type = pol.undef like %x : tensor<4x?xf32> -> !pol.undef<4x?xi1>
  // CHECK: pol.undef like %[[X]] : tensor<4x?xf32> -> !pol.undef<?x8xf32>
  %shape = pol.undef like %x : tensor<4x?xf32> -> !pol.undef<?x8xf32>
  // CHECK: pol.undef like %[[X]][%[[N]]] : tensor<4x?xf32> -> !pol.undef<?x2x3xf32>
  %extents = pol.undef like %x [%n] : tensor<4x?xf32> -> !pol.undef<?x2x3xf32>
  // CHECK: pol.undef {note = "kept"} : !pol.undef<f32>
  %attribute = pol.undef {note = "kept"} : !pol.undef<f32>
  return
}

// CHECK-LABEL: func.func @dim(
// CHECK-SAME:    %[[U:.*]]: !pol.undef<?x4xf32>)
func.func @dim(%u: !pol.undef<?x4xf32>) {
  // CHECK: pol.dim %[[U]], 0 : !pol.undef<?x4xf32>
  %0 = pol.dim %u, 0 : !pol.undef<?x4xf32>
  // CHECK: pol.dim %[[U]], 1 : !pol.undef<?x4xf32>
  %1 = pol.dim %u, 1 : !pol.undef<?x4xf32>
  return
}

// CHECK-LABEL: func.func @bundle(
// CHECK-SAME:    %[[U:.*]]: !pol.undef<?xf32>, %[[T:.*]]: tensor<4xf32>, %[[M:.*]]: memref<2xf16, 1>)
func.func @bundle(%u: !pol.undef<?xf32>, %t: tensor<4xf32>, %m: memref<2xf16, 1>) {
  // CHECK: %[[EMPTY:.*]] = pol.bundle {}
  %empty = pol.bundle {}
  // CHECK: %[[ONE:.*]] = pol.bundle {y = %[[U]] : !pol.undef<?xf32>, r = %[[T]] : tensor<4xf32>}
  %one = pol.bundle {y = %u : !pol.undef<?xf32>, r = %t : tensor<4xf32>}
  // Names are any strings, and quoted where they have to be.
  // CHECK: pol.bundle {"a b" = %[[M]] : memref<2xf16, 1>, a.b = %[[U]] : !pol.undef<?xf32>, "\22" = %[[U]] : !pol.undef<?xf32>, "7" = %[[U]] : !pol.undef<?xf32>}
  %names = pol.bundle {"a b" = %m : memref<2xf16, 1>, a.b = %u : !pol.undef<?xf32>, "\22" = %u : !pol.undef<?xf32>, "7" = %u : !pol.undef<?xf32>}
  // CHECK: %[[NESTED:.*]] = pol.bundle {in = %[[ONE]] : !pol.bundle<{y: !pol.undef<?xf32>, r: tensor<4xf32>}>, none = %[[EMPTY]] : !pol.bundle<{}>}
  %nested = pol.bundle {in = %one : !pol.bundle<{y: !pol.undef<?xf32>, r: tensor<4xf32>}>, none = %empty : !pol.bundle<{}>}
  // CHECK: pol.get %[[NESTED]], "in" : !pol.bundle<{in: !pol.bundle<{y: !pol.undef<?xf32>, r: tensor<4xf32>}>, none: !pol.bundle<{}>}>
  %in = pol.get %nested, "in" : !pol.bundle<{in: !pol.bundle<{y: !pol.undef<?xf32>, r: tensor<4xf32>}>, none: !pol.bundle<{}>}>
  // CHECK: pol.get %[[ONE]], "r" : !pol.bundle<{y: !pol.undef<?xf32>, r: tensor<4xf32>}>
  %r = pol.get %one, "r" : !pol.bundle<{y: !pol.undef<?xf32>, r: tensor<4xf32>}>
  return
}

// The later entry takes the place of the earlier one, with its own type.
// CHECK-LABEL: func.func @merge(
// CHECK-SAME:    %[[A:.*]]: !pol.bundle<{x: !pol.undef<2xf32>, y: !pol.undef<f32>}>, %[[B:.*]]: !pol.bundle<{z: tensor<f32>, x: tensor<3xf64>}>)
// CHECK-SAME:    -> !pol.bundle<{x: tensor<3xf64>, y: !pol.undef<f32>, z: tensor<f32>}>
func.func @merge(%a: !pol.bundle<{x: !pol.undef<2xf32>, y: !pol.undef<f32>}>, %b: !pol.bundle<{z: tensor<f32>, x: tensor<3xf64>}>) -> !pol.bundle<{x: tensor<3xf64>, y: !pol.undef<f32>, z: tensor<f32>}> {
  // CHECK: %[[M:.*]] = pol.merge %[[A]], %[[B]] : !pol.bundle<{x: !pol.undef<2xf32>, y: !pol.undef<f32>}>, !pol.bundle<{z: tensor<f32>, x: tensor<3xf64>}>
  %m = pol.merge %a, %b : !pol.bundle<{x: !pol.undef<2xf32>, y: !pol.undef<f32>}>, !pol.bundle<{z: tensor<f32>, x: tensor<3xf64>}>
  // CHECK: pol.merge{{$}}
  %none = pol.merge
  // CHECK: return %[[M]]
  return %m : !pol.bundle<{x: tensor<3xf64>, y: !pol.undef<f32>, z: tensor<f32>}>
}

//===----------------------------------------------------------------------===//
// Descriptions of functions
//===----------------------------------------------------------------------===//

func.func private @all(tensor<?xf32>, tensor<?xf32>, i32, memref<4xf32>, !pol.bundle<{p: tensor<?xf32>, q: memref<2xi8>}>, tensor<?xf32>) -> tensor<?xf32>

// CHECK-LABEL: pol.description for @all(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %{{.*}}: i32)
// CHECK-SAME:    attributes {note = 1 : i64} {
pol.description for @all(%x: tensor<?xf32>, %i: i32) attributes {note = 1 : i64} {
  // CHECK: %[[U:.*]] = pol.undef like %[[X]]
  %u = pol.undef like %x : tensor<?xf32>
  %m = pol.undef : !pol.undef<4xf32>
  %q = pol.undef : !pol.undef<2xi8>
  // CHECK: %[[B:.*]] = pol.bundle
  %b = pol.bundle {p = %u : !pol.undef<?xf32>, q = %q : !pol.undef<2xi8>}
  // CHECK: pol.describe
  // CHECK-SAME: outputs {y(5) = %[[U]] : !pol.undef<?xf32>, "the m"(3) = %{{.*}} : !pol.undef<4xf32>}
  // CHECK-SAME: checkpoints {c(4) = %[[B]] : !pol.bundle<{p: !pol.undef<?xf32>, q: !pol.undef<2xi8>}>}
  // CHECK-SAME: scratch {t(1) = %[[U]] : !pol.undef<?xf32>}
  pol.describe outputs {y(5) = %u : !pol.undef<?xf32>, "the m"(3) = %m : !pol.undef<4xf32>}
               checkpoints {c(4) = %b : !pol.bundle<{p: !pol.undef<?xf32>, q: !pol.undef<2xi8>}>}
               scratch {t(1) = %u : !pol.undef<?xf32>}
}

func.func private @nothing()

// CHECK-LABEL: pol.description for @nothing() {
// CHECK-NEXT:    pol.describe{{ *$}}
pol.description for @nothing() {
  pol.describe
}

func.func private @scratch_only(tensor<?x?xf32>, tensor<?xf32>)

// A body may compute with shapes, and ask other kernels.
// CHECK-LABEL: pol.description for @scratch_only(
pol.description for @scratch_only(%x: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %isWide = arith.cmpi ugt, %columns, %rows : index
  %n = scf.if %isWide -> index {
    scf.yield %columns : index
  } else {
    scf.yield %rows : index
  }
  // CHECK: pol.checkpoints "pol.rms_norm"
  %b = pol.checkpoints "pol.rms_norm"(%x) : (tensor<?x?xf32>) -> !pol.bundle<{rstd: !pol.undef<?xf32>}>
  %u = pol.undef [%n] : !pol.undef<?xf32>
  // CHECK: pol.describe scratch {t(1) = %{{.*}} : !pol.undef<?xf32>}
  pol.describe scratch {t(1) = %u : !pol.undef<?xf32>}
}

// A backward function says whose checkpoints it reads.

// CHECK-LABEL: func.func private @forward(
func.func private @forward(memref<4xf32>, memref<4xf32>, memref<4xf32>)
pol.description for @forward(%x: memref<4xf32>) {
  %u = pol.undef like %x : memref<4xf32>
  pol.describe outputs {y(1) = %u : !pol.undef<4xf32>}
               checkpoints {m(2) = %u : !pol.undef<4xf32>}
}
func.func private @backward(memref<4xf32>, memref<4xf32>, memref<4xf32>)
// CHECK: pol.description for @backward gradient_of @forward (%{{.+}}: memref<4xf32>) {
pol.description for @backward gradient_of @forward (%dy: memref<4xf32>) {
  %u = pol.undef like %dy : memref<4xf32>
  pol.describe outputs {dx(1) = %u : !pol.undef<4xf32>}
               checkpoints {m(2) = %u : !pol.undef<4xf32>}
}

// CHECK-LABEL: func.func @both_ways(
func.func @both_ways(%x: memref<4xf32>, %arena: !pol.arena,
                     %y: !pol.bundle<{y: memref<4xf32>}>,
                     %dx: !pol.bundle<{dx: memref<4xf32>}>) {
  %cp = pol.checkpoints @forward(%x) in %arena
      : (memref<4xf32>), !pol.arena -> !pol.bundle<{m: memref<4xf32>}>
  pol.call @forward(%x) outputs(%y) checkpoints(%cp)
      : (memref<4xf32>), !pol.bundle<{y: memref<4xf32>}>,
        !pol.bundle<{m: memref<4xf32>}>
  // CHECK: pol.call @backward
  pol.call @backward(%x) outputs(%dx) checkpoints(%cp)
      : (memref<4xf32>), !pol.bundle<{dx: memref<4xf32>}>,
        !pol.bundle<{m: memref<4xf32>}>
  return
}
