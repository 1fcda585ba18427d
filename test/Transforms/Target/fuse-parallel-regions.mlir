// RUN: pol-opt %s --pol-fuse-parallel-regions --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @neighbours(
// CHECK-SAME:    %[[M:.+]]: memref<?xf32>, %[[N:[a-z0-9]+]]: index, %[[V:.+]]: f32
// CHECK:         %[[K:.+]] = arith.muli %[[N]], %[[N]]
// CHECK:         %[[FIRST:.+]] = arith.cmpi sgt
// CHECK:         %[[SECOND:.+]] = arith.cmpi sgt
// CHECK:         %[[ANY:.+]] = arith.ori %[[FIRST]], %[[SECOND]]
// CHECK:         omp.parallel if(%[[ANY]]) {
// CHECK:           omp.wsloop {
// CHECK-NEXT:        omp.loop_nest (%{{.+}}) : index = (%{{.+}}) to (%[[N]])
// CHECK:           omp.wsloop {
// CHECK-NEXT:        omp.loop_nest (%{{.+}}) : index = (%{{.+}}) to (%[[K]])
// CHECK:           omp.terminator
// CHECK-NOT:     omp.parallel
// CHECK:         return
func.func @neighbours(%m: memref<?xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
        memref.store %v, %m[%i] : memref<?xf32>
        omp.yield
      }
    }
    omp.terminator
  }
  %k = arith.muli %n, %n : index
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%k) step (%c1) {
        memref.store %v, %m[%i] : memref<?xf32>
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// -----

// What reads memory between them may read what the first has written.

// CHECK-LABEL: func.func @load_between(
// CHECK:         omp.parallel if
// CHECK:         memref.load
// CHECK:         omp.parallel if
func.func @load_between(%m: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
        memref.store %i, %m[%i] : memref<?xindex>
        omp.yield
      }
    }
    omp.terminator
  }
  %k = memref.load %m[%c0] : memref<?xindex>
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%k) step (%c1) {
        memref.store %i, %m[%i] : memref<?xindex>
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// -----

// A division that may trap stays where it is; what each thread does by itself
// is left alone.

// CHECK-LABEL: func.func @others(
// CHECK:         omp.parallel if
// CHECK:         arith.divsi
// CHECK:         omp.parallel if
// CHECK:         omp.parallel {
// CHECK-NEXT:      memref.store
func.func @others(%m: memref<?xindex>, %n: index, %d: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
        memref.store %i, %m[%i] : memref<?xindex>
        omp.yield
      }
    }
    omp.terminator
  }
  %k = arith.divsi %n, %d : index
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%k) step (%c1) {
        memref.store %i, %m[%i] : memref<?xindex>
        omp.yield
      }
    }
    omp.terminator
  }
  omp.parallel {
    memref.store %c1, %m[%c0] : memref<?xindex>
    omp.terminator
  }
  return
}
