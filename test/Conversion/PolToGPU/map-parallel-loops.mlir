// RUN: pol-opt %s --pol-map-parallel-loops-to-gpu --split-input-file | FileCheck %s
// RUN: pol-opt %s --pol-map-parallel-loops-to-gpu=block-size=32 --split-input-file \
// RUN:   | FileCheck %s --check-prefix=BLOCK

// One thread for each trip of all dimensions together, in whole blocks, and no
// launch of none.

// CHECK-LABEL: func.func @dimensions(
// CHECK-SAME:    %[[M:.+]]: memref<?x?xf32, #gpu.address_space<global>>, %[[LOWER:.+]]: index, %[[N:.+]]: index, %{{.+}}: f32)
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[TWO:.+]] = arith.constant 2 : index
// CHECK:         %[[RANGE:.+]] = arith.subi %[[N]], %[[LOWER]] : index
// CHECK:         %[[TRIPS:.+]] = arith.ceildivsi %[[RANGE]], %[[TWO]] : index
// CHECK:         %[[ROWS:.+]] = arith.maxsi %[[TRIPS]], %{{.+}} : index
// CHECK:         %[[COLUMNS:.+]] = arith.maxsi %{{.+}}, %{{.+}} : index
// CHECK:         %[[TOTAL:.+]] = arith.muli %[[ROWS]], %[[COLUMNS]] : index
// CHECK:         %[[SIZE:.+]] = arith.constant 128 : index
// CHECK:         %[[BLOCKS:.+]] = arith.ceildivsi %[[TOTAL]], %[[SIZE]] : index
// CHECK:         %[[ANY:.+]] = arith.cmpi sgt, %[[TOTAL]], %{{.+}} : index
// CHECK:         scf.if %[[ANY]] {
// CHECK:           gpu.launch blocks(%[[ID:[^,]+]], {{[^=]+}} = %[[BLOCKS]],
// CHECK-SAME:        threads(%[[THREAD:[^,]+]], {{[^=]+}} = %[[SIZE]],
// CHECK:             %[[FIRST:.+]] = arith.muli %[[ID]], %{{.+}} : index
// CHECK:             %[[INDEX:.+]] = arith.addi %[[FIRST]], %[[THREAD]] : index
// CHECK:             %[[EXISTS:.+]] = arith.cmpi slt, %[[INDEX]], %[[TOTAL]] : index
// CHECK:             scf.if %[[EXISTS]] {
// CHECK:               %[[COLUMN:.+]] = arith.remui %[[INDEX]], %[[COLUMNS]] : index
// CHECK:               %[[ROW:.+]] = arith.divui %[[INDEX]], %[[COLUMNS]] : index
// CHECK:               %[[OFFSET:.+]] = arith.muli %[[ROW]], %[[TWO]] : index
// CHECK:               %[[I:.+]] = arith.addi %[[LOWER]], %[[OFFSET]] : index
// CHECK:               memref.store %{{.+}}, %[[M]][%[[I]], %{{.+}}]
// CHECK:             gpu.terminator

// BLOCK-LABEL: func.func @dimensions(
// BLOCK:         %[[SIZE:.+]] = arith.constant 32 : index
// BLOCK:         arith.ceildivsi %{{.+}}, %[[SIZE]] : index
// BLOCK:         gpu.launch
// BLOCK-SAME:      threads({{[^=]+}} = %[[SIZE]],
func.func @dimensions(%m: memref<?x?xf32, #gpu.address_space<global>>, %lower: index, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.parallel (%i, %j) = (%lower, %c0) to (%n, %n) step (%c2, %c1) {
    memref.store %v, %m[%i, %j] : memref<?x?xf32, #gpu.address_space<global>>
  }
  return
}

// -----

// Loops in the kernel run in sequence; stack buffers stand at its entry, and in
// no memory that other threads share.

// CHECK-LABEL: func.func @inner(
// CHECK:         gpu.launch
// CHECK-NEXT:      %[[T:.+]] = memref.alloca() : memref<2x4xf32>
// CHECK-NOT:       scf.parallel
// CHECK:           scf.for
// CHECK-NOT:         memref.alloca
// CHECK:             %[[VIEW:.+]] = memref.subview %[[T]]{{.*}} to memref<4xf32, strided<[1], offset: ?>>
// CHECK:             scf.for
// CHECK:               math.exp
// CHECK:               memref.store %{{.+}}, %[[VIEW]]
func.func @inner(%m: memref<?xf32, #gpu.address_space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c2) step (%c1) {
      %t = memref.alloca() : memref<2x4xf32, #gpu.address_space<global>>
      %u = memref.subview %t[%j, 0] [1, 4] [1, 1] : memref<2x4xf32, #gpu.address_space<global>> to memref<4xf32, strided<[1], offset: ?>, #gpu.address_space<global>>
      linalg.exp ins(%u : memref<4xf32, strided<[1], offset: ?>, #gpu.address_space<global>>) outs(%u : memref<4xf32, strided<[1], offset: ?>, #gpu.address_space<global>>)
      %v = memref.load %u[%j] : memref<4xf32, strided<[1], offset: ?>, #gpu.address_space<global>>
      memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
    }
  }
  return
}

// -----

// Copies and linalg operations get loops: one of one trip where they have none
// that is parallel.

// CHECK-LABEL: func.func @linalg(
// CHECK-COUNT-3: gpu.launch
// CHECK-NOT:     gpu.launch
// CHECK-NOT:     linalg.
// CHECK-NOT:     memref.copy
func.func @linalg(%x: memref<?x4xf32, #gpu.address_space<global>>, %y: memref<?x4xf32, #gpu.address_space<global>>, %s: memref<f32, #gpu.address_space<global>>, %z: f32) {
  linalg.fill ins(%z : f32) outs(%s : memref<f32, #gpu.address_space<global>>)
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<?x4xf32, #gpu.address_space<global>>) outs(%s : memref<f32, #gpu.address_space<global>>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  }
  memref.copy %x, %y : memref<?x4xf32, #gpu.address_space<global>> to memref<?x4xf32, #gpu.address_space<global>>
  return
}

// -----

// What a kernel calls becomes part of it.

// CHECK-NOT:   func.func private @swap
// CHECK-LABEL: func.func @calls(
// CHECK:         gpu.launch
// CHECK-NOT:       call
// CHECK-COUNT-2:   memref.store
func.func private @swap(%m: memref<?xf32, #gpu.address_space<global>>, %i: index, %v: f32) -> f32 {
  %old = memref.load %m[%i] : memref<?xf32, #gpu.address_space<global>>
  memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  return %old : f32
}
func.func @calls(%m: memref<?xf32, #gpu.address_space<global>>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %old = func.call @swap(%m, %i, %v) : (memref<?xf32, #gpu.address_space<global>>, index, f32) -> f32
    %same = func.call @swap(%m, %i, %old) : (memref<?xf32, #gpu.address_space<global>>, index, f32) -> f32
  }
  return
}

// -----

// The memory says where a loop runs.

// CHECK-LABEL: func.func @host(
// CHECK-NOT:     gpu.launch
// CHECK:         linalg.exp
// CHECK:         scf.parallel
func.func @host(%m: memref<4xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  linalg.exp ins(%m : memref<4xf32>) outs(%m : memref<4xf32>)
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %v, %m[%i] : memref<4xf32>
  }
  return
}
