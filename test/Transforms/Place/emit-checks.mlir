// RUN: pol-test-opt %s --pol-emit-checks --split-input-file --verify-diagnostics \
// RUN:   | FileCheck %s

// Checks of arguments come first, in the order of the kernels. Nothing is
// checked that types tell, or where one extent is taken from the other.

// CHECK-LABEL: func.func @arguments(
// CHECK-SAME:    %{{.+}}: !pol.arena, %[[X:.+]]: memref<?x?xf32>, %[[W:.+]]: memref<?xf32>, %[[Y:.+]]: memref<?x?xf32>,
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0
// CHECK-DAG:     %[[W0:.+]] = memref.dim %[[W]], %[[C0]]
// CHECK-DAG:     %[[C1:.+]] = arith.constant 1
// CHECK-DAG:     %[[X1:.+]] = memref.dim %[[X]], %[[C1]]
// CHECK:         pol.check %[[W0]] eq %[[X1]], "extent 0 of weight" {kernel = "pol.rms_norm"}
// CHECK:         %[[Y0:.+]] = memref.dim %[[Y]]
// CHECK:         %[[X0:.+]] = memref.dim %[[X]]
// CHECK:         pol.check %[[Y0]] eq %[[X0]], "extent 0 of y" {kernel = "pol.rms_norm"}
// CHECK:         %[[Y1:.+]] = memref.dim %[[Y]]
// CHECK:         pol.check %[[Y1]] eq %[[X1]], "extent 1 of y" {kernel = "pol.rms_norm"}
// CHECK-NOT:     pol.check
// CHECK:         pol.carve
// CHECK-NOT:     pol.check
func.func @arguments(%a: !pol.arena, %x: memref<?x?xf32>, %w: memref<?xf32>, %y: memref<?x?xf32>, %s: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %t, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  pol.rms_norm ins(%x, %w : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>)
  pol.rms_norm ins(%s : memref<4x8xf32>) outs(%s : memref<4x8xf32>) checkpoints(%t : memref<4xf32>)
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %r, %ok2 = pol.carve %a[%rows] : !pol.arena -> memref<?xf32>
  pol.rms_norm ins(%x : memref<?x?xf32>) outs(%x : memref<?x?xf32>) checkpoints(%r : memref<?xf32>)
  return
}

// -----

// What depends on something made in between follows that.

// CHECK-LABEL: func.func @after_carve(
// CHECK-SAME:    %{{.+}}: !pol.arena, %[[N:.+]]: index, %{{.+}}: index, %[[X:.+]]: memref<?xf32>,
// CHECK:         %[[X0:.+]] = memref.dim %[[X]]
// CHECK-NEXT:    pol.check %[[N]] eq %[[X0]], "extent 0 of y"
// CHECK-NEXT:    pol.carve
// CHECK-NEXT:    %[[M:.+]] = memref.load
// CHECK:         %[[X1:.+]] = memref.dim %[[X]]
// CHECK-NEXT:    pol.check %[[M]] eq %[[X1]], "extent 0 of y"
// CHECK-NEXT:    pol.carve
// CHECK-NOT:     pol.check
func.func @after_carve(%a: !pol.arena, %n: index, %i: index, %x: memref<?xf32>, %e: memref<4xindex>) {
  %y, %ok = pol.carve %a[%n] : !pol.arena -> memref<?xf32>
  %m = memref.load %e[%i] : memref<4xindex>
  %z, %ok2 = pol.carve %a[%m] : !pol.arena -> memref<?xf32>
  memref.copy %x, %x : memref<?xf32> to memref<?xf32>
  pol.rms_norm ins(%x : memref<?xf32>) outs(%z : memref<?xf32>)
  pol.rms_norm ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// -----

// A branch, a block or a sequential loop keeps the checks of its kernels.

// CHECK-LABEL: func.func @control_flow(
// CHECK-NOT:     pol.check
// CHECK:         scf.if
// CHECK:           pol.check
// CHECK-NEXT:      memref.copy
// CHECK:         scf.for
// CHECK:           pol.check
// CHECK-NEXT:      pol.rms_norm ins
// CHECK-NOT:     pol.check
// CHECK:       ^bb1:
// CHECK:         pol.check
// CHECK-NEXT:    pol.rms_norm ins
func.func @control_flow(%c: i1, %n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.if %c {
    memref.copy %x, %x : memref<?xf32> to memref<?xf32>
    pol.rms_norm ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  }
  scf.for %i = %c0 to %n step %c1 {
    pol.rms_norm ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  }
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  pol.rms_norm ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  cf.br ^bb2
^bb2:
  return
}

// -----

// Of a kernel of somebody else's, with relations and arithmetic.

// CHECK-LABEL: func.func @third_party(
// CHECK-SAME:    %[[X:.+]]: memref<?x?xf32>, %{{.+}}: memref<?x?xf32>, %{{.+}}: memref<?xf32>, %[[T:.+]]: memref<?x?xf32>, %[[C:.+]]: memref<?xindex>)
// CHECK:         pol.check %{{.+}} eq %{{.+}}, "extent 0 of y" {kernel = "test_pol.tiled"}
// CHECK:         pol.check %{{.+}} eq %{{.+}}, "extent 1 of y"
// CHECK:         pol.check %{{.+}} eq %{{.+}}, "extent 0 of maxima"
// CHECK:         pol.check %{{.+}} multiple_of %[[X0:.+]], "extent 1 of x"
// CHECK:         %[[T0:.+]] = memref.dim %[[T]]
// CHECK:         %[[BLOCK:.+]] = arith.constant 4
// CHECK:         pol.check %[[T0]] ge %[[BLOCK]], "extent 0 of tile"
// CHECK:         pol.check %{{.+}} eq %{{.+}}, "extent 1 of tile"
// CHECK:         %[[C0:.+]] = memref.dim %[[C]]
// CHECK:         %[[BLOCKS:.+]] = arith.ceildivui %[[X0]], %{{.+}}
// CHECK:         pol.check %[[C0]] ge %[[BLOCKS]], "extent 0 of counts"
// CHECK-NEXT:    memref.copy
func.func @third_party(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %m: memref<?xf32>, %t: memref<?x?xf32>, %c: memref<?xindex>) {
  memref.copy %x, %x : memref<?x?xf32> to memref<?x?xf32>
  test_pol.tiled ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) checkpoints(%m : memref<?xf32>)
      scratch(%t, %c : memref<?x?xf32>, memref<?xindex>) {block = 4 : i64}
  return
}

// -----

// A kernel without checks, tensors, and kernels that no function is around.

// CHECK-LABEL: func.func @none(
// CHECK-NOT:     memref.dim
// CHECK-NOT:     pol.check
func.func @none(%x: memref<?xf32>, %b: memref<?xf32>, %t: tensor<?xf32>) {
  test_pol.scale x(%x : memref<?xf32>) outs(%b : memref<?xf32>)
  %0 = pol.rms_norm ins(%t : tensor<?xf32>) outs(%t : tensor<?xf32>) -> tensor<?xf32>
  return
}
llvm.func @no_function() {
  %p = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %x = builtin.unrealized_conversion_cast %p : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xf32>
  pol.rms_norm ins(%x : memref<?xf32>) outs(%x : memref<?xf32>)
  llvm.return
}

// -----

// Out of parallel regions, with what is computed there from outside, on the
// condition that they run.

// CHECK-LABEL: func.func @parallel(
// CHECK-SAME:    %[[N:.+]]: index, %[[C:.+]]: i1, %[[X:.+]]: memref<?x?xf32>, %[[W:.+]]: memref<?xf32>)
// CHECK:         %[[C0:.+]] = arith.constant 0
// CHECK:         %[[W0:.+]] = memref.dim %[[W]]
// CHECK:         %[[X1:.+]] = memref.dim %[[X]]
// CHECK:         %[[FALSE:.+]] = arith.constant false
// CHECK:         %[[ELSE:.+]] = arith.cmpi eq, %[[C]], %[[FALSE]]
// CHECK:         %[[SOME:.+]] = arith.cmpi slt, %[[C0]], %[[N]]
// CHECK:         %[[RUNS:.+]] = arith.andi %[[ELSE]], %[[SOME]]
// CHECK:         scf.if %[[RUNS]] {
// CHECK-NEXT:      pol.check %[[W0]] eq %[[X1]], "extent 0 of weight"
// CHECK:         scf.parallel
// CHECK-NOT:     pol.check
func.func @parallel(%n: index, %c: i1, %x: memref<?x?xf32>, %w: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %d = memref.dim %x, %c1 : memref<?x?xf32>
    %s = memref.subview %x[%i, 0] [1, %d] [1, 1] : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
    scf.for %j = %c0 to %c1 step %c1 {
      scf.if %c {
      } else {
        pol.rms_norm ins(%s, %w : memref<?xf32, strided<[1], offset: ?>>, memref<?xf32>) outs(%s : memref<?xf32, strided<[1], offset: ?>>)
      }
    }
  }
  return
}

// -----

// Regions that surely run need no condition, and the check is raised.

// CHECK-LABEL: func.func @forall(
// CHECK:         pol.check
// CHECK-NEXT:    memref.copy
// CHECK:         scf.forall
// CHECK:           scf.parallel
// CHECK-NOT:     pol.check
func.func @forall(%x: memref<4x?xf32>, %w: memref<?xf32>) {
  memref.copy %x, %x : memref<4x?xf32> to memref<4x?xf32>
  scf.forall (%i) in (4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %d = memref.dim %x, %c1 : memref<4x?xf32>
    %s = memref.subview %x[%i, 0] [1, %d] [1, 1] : memref<4x?xf32> to memref<?xf32, strided<[1], offset: ?>>
    scf.parallel (%j) = (%c0) to (%c1) step (%c1) {
      pol.rms_norm ins(%s, %w : memref<?xf32, strided<[1], offset: ?>>, memref<?xf32>) outs(%s : memref<?xf32, strided<[1], offset: ?>>)
    }
  }
  return
}

// -----

func.func @depends_on_iteration(%n: index, %x: memref<?x?xf32>, %w: memref<?xf32>) {
  // expected-note@+1 {{the parallel region is here}}
  scf.forall (%i) in (%n) {
    %s = memref.subview %x[%i, 0] [1, %i] [1, 1] : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
    // expected-error@+1 {{'pol.rms_norm' op expected extent 0 of weight to be known before the parallel region, in which no check can fail: checks=false trusts it}}
    pol.rms_norm ins(%s, %w : memref<?xf32, strided<[1], offset: ?>>, memref<?xf32>) outs(%s : memref<?xf32, strided<[1], offset: ?>>)
  }
  return
}

// -----

func.func @runs_on_some_iterations(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
  // expected-note@+1 {{the parallel region is here}}
  scf.forall (%i) in (%n) {
    %c = arith.cmpi eq, %i, %n : index
    scf.if %c {
      // expected-error@+1 {{expected extent 0 of y to be known before the parallel region}}
      pol.rms_norm ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
    }
  }
  return
}

// -----

func.func @callee(%x: memref<?xf32>, %y: memref<?xf32>) {
  // expected-note@+1 {{it fails where this is checked, unless checks=false trusts it}}
  pol.rms_norm ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}
func.func @call_in_parallel(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
  // expected-note@+1 {{the parallel region is here}}
  scf.forall (%i) in (%n) {
    // expected-error@+1 {{'func.call' op expected a callee that cannot fail in a parallel region, but got @callee}}
    func.call @callee(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  }
  return
}

// -----

// The program looks at it itself: nothing has to return.

// CHECK-LABEL: func.func @by_hand(
// CHECK:         scf.forall
// CHECK-NEXT:      pol.check
func.func @by_hand(%n: index, %m: index, %o: memref<?xi1>) {
  scf.forall (%i) in (%n) {
    %ok = pol.check %i le %m, "i"
    memref.store %ok, %o[%i] : memref<?xi1>
  }
  return
}
