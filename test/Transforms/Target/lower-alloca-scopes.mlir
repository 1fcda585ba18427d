// RUN: pol-opt %s --pol-lower-alloca-scopes --split-input-file | FileCheck %s
// RUN: pol-opt %s --convert-scf-to-openmp --pol-lower-alloca-scopes \
// RUN:   --split-input-file | FileCheck %s --check-prefix=OMP

// CHECK-LABEL: func.func @scope(
// CHECK:         scf.for
// CHECK-NEXT:      %[[STACK:.+]] = llvm.intr.stacksave : !llvm.ptr
// CHECK-NEXT:      %[[T:.+]] = memref.alloca() : memref<4xf32>
// CHECK-NEXT:      %[[V:.+]] = memref.load %[[T]]
// CHECK-NEXT:      llvm.intr.stackrestore %[[STACK]] : !llvm.ptr
// CHECK-NEXT:      memref.store %[[V]]
// CHECK-NEXT:    }
func.func @scope(%n: index, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %r = memref.alloca_scope -> (f32) {
      %t = memref.alloca() : memref<4xf32>
      %v = memref.load %t[%c0] : memref<4xf32>
      memref.alloca_scope.return %v : f32
    }
    memref.store %r, %x[%i] : memref<?xf32>
  }
  return
}

// -----

// Scopes in scopes, and one that has nothing on the stack.

// CHECK-LABEL: func.func @nested(
// CHECK-NEXT:    %[[OUTER:.+]] = llvm.intr.stacksave
// CHECK-NEXT:    memref.alloca() : memref<4xf32>
// CHECK-NEXT:    %[[INNER:.+]] = llvm.intr.stacksave
// CHECK-NEXT:    memref.alloca({{.*}}) : memref<?xf32>
// CHECK-NEXT:    llvm.intr.stackrestore %[[INNER]]
// CHECK-NEXT:    llvm.intr.stackrestore %[[OUTER]]
// CHECK-NEXT:    return
func.func @nested(%n: index) {
  memref.alloca_scope {
    %t = memref.alloca() : memref<4xf32>
    memref.alloca_scope {
      %u = memref.alloca(%n) : memref<?xf32>
    }
  }
  memref.alloca_scope {
  }
  return
}

// -----

// Where threads run it, each trip gives the stack back.

// OMP-LABEL: func.func @parallel(
// OMP:         scf.for
// OMP:           omp.parallel
// OMP:             omp.loop_nest
// OMP-NEXT:          %[[STACK:.+]] = llvm.intr.stacksave
// OMP-NEXT:          memref.alloca() : memref<4xf32>
// OMP:               llvm.intr.stackrestore %[[STACK]]
// OMP-NEXT:          omp.yield
func.func @parallel(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      %t = memref.alloca() : memref<4xf32>
      %v = memref.load %t[%c0] : memref<4xf32>
      scf.reduce
    }
  }
  return
}

// -----

// What threads reduce into is on the stack of the function, once.

// OMP-LABEL: func.func @reduction(
// OMP-NEXT:    %[[ONE:.+]] = llvm.mlir.constant(1 : i64)
// OMP-NEXT:    %[[SUM:.+]] = llvm.alloca %[[ONE]] x f32
// OMP:         scf.for
// OMP-NOT:       llvm.alloca
// OMP:           llvm.store %{{.+}}, %[[SUM]]
// OMP:           omp.wsloop reduction(@{{.+}} %[[SUM]] ->
func.func @reduction(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> f32 {
    %p = scf.parallel (%j) = (%c0) to (%n) step (%c1) init (%s) -> f32 {
      scf.reduce(%z : f32) {
      ^bb0(%left: f32, %right: f32):
        %x = arith.addf %left, %right : f32
        scf.reduce.return %x : f32
      }
    }
    scf.yield %p : f32
  }
  return %r : f32
}
