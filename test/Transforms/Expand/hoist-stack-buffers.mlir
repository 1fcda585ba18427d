// RUN: pol-opt %s --pol-hoist-stack-buffers --split-input-file | FileCheck %s
// RUN: pol-opt %s --pol-hoist-stack-buffers=threads --split-input-file \
// RUN:   | FileCheck %s --check-prefix=THREADS

// The trips of a parallel loop run in sequence: what they have on the stack is
// made once, outside of all loops.

// CHECK-LABEL: func.func @parallel(
// CHECK-NEXT:    %[[T:.+]] = memref.alloca() : memref<4xf32>
// CHECK:         scf.for
// CHECK:           scf.parallel
// CHECK-NEXT:        memref.load %[[T]]

// On threads, each has its own.

// THREADS-LABEL: func.func @parallel(
// THREADS:         scf.for
// THREADS:           scf.parallel
// THREADS-NEXT:        memref.alloca
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

// A loop of one trip will be part of what is around it: of a sequential loop
// here, in which nothing would give the stack back.

// CHECK-LABEL: func.func @one_trip(
// CHECK-COUNT-2: memref.alloca() : memref<4xf32>
// CHECK:         scf.for
// CHECK-NOT:     memref.alloca
// THREADS-LABEL: func.func @one_trip(
// THREADS-COUNT-2: memref.alloca() : memref<4xf32>
// THREADS:         scf.for
// THREADS-NOT:     memref.alloca
func.func @one_trip(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.parallel (%j, %k) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
      %t = memref.alloca() : memref<4xf32>
      %v = memref.load %t[%j] : memref<4xf32>
      scf.reduce
    }
    scf.forall (%j) in (1) {
      %t = memref.alloca() : memref<4xf32>
      %v = memref.load %t[%j] : memref<4xf32>
    }
  }
  return
}

// -----

// In a loop whose trips run on threads, it goes to the start of the trip.

// THREADS-LABEL: func.func @one_trip_on_a_thread(
// THREADS:         scf.parallel
// THREADS-NEXT:      memref.alloca() : memref<4xf32>
// THREADS:           scf.for
// CHECK-LABEL: func.func @one_trip_on_a_thread(
// CHECK-NEXT:    memref.alloca() : memref<4xf32>
func.func @one_trip_on_a_thread(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.for %j = %c0 to %n step %c1 {
      scf.parallel (%k) = (%c0) to (%c1) step (%c1) {
        %t = memref.alloca() : memref<4xf32>
        %v = memref.load %t[%k] : memref<4xf32>
      }
    }
  }
  return
}

// -----

// What is not in a parallel loop stays where the program has it.

// CHECK-LABEL: func.func @sequential(
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloca()
func.func @sequential(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = memref.alloca() : memref<4xf32>
    %v = memref.load %t[%c0] : memref<4xf32>
  }
  return
}

// -----

// Loops that follow each other share buffers of one type; those of one loop,
// and of its inner ones, are its own.

// CHECK-LABEL: func.func @loops_in_sequence(
// CHECK-COUNT-2: memref.alloca() : memref<4xf32>
// CHECK-NOT:     memref.alloca
// CHECK:         return
func.func @loops_in_sequence(%n: index, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloca() : memref<4xf32>
    %u = memref.alloca() : memref<4xf32>
    %v = memref.load %t[%c0] : memref<4xf32>
    memref.store %v, %u[%c0] : memref<4xf32>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloca() : memref<4xf32>
    %v = memref.load %t[%c0] : memref<4xf32>
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      %u = memref.alloca() : memref<4xf32>
      memref.store %v, %u[%c0] : memref<4xf32>
    }
  }
  return
}
