// RUN: pol-opt %s --pol-map-parallel-loops-to-gpu=worker-memory=workgroup --split-input-file \
// RUN:   | FileCheck %s --implicit-check-not=workgroup(
// RUN: pol-opt %s --pol-map-parallel-loops-to-gpu="worker-memory=workgroup block-size=1" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: pol-opt %s --pol-map-parallel-loops-to-gpu --split-input-file | FileCheck %s --check-prefix=LOCAL
// RUN: pol-opt %s --pol-map-parallel-loops-to-gpu=worker-memory=local --split-input-file \
// RUN:   | FileCheck %s --check-prefix=LOCAL

// By default nothing is in workgroup memory.

// LOCAL-NOT: workgroup

// Each thread has its own part, with the threads in the last dimension. What
// uses the buffer takes its memory space and strides.

// CHECK-LABEL: func.func @users(
// CHECK:         gpu.launch
// CHECK-SAME:      threads(%[[THREAD:[^,]+]],
// CHECK-SAME:      workgroup(%[[S:.+]] : memref<2x4x128xf32, #gpu.address_space<workgroup>>)
// CHECK-NEXT:      %[[T:.+]] = memref.subview %[[S]][0, 0, %[[THREAD]]] [2, 4, 1] [1, 1, 1] : memref<2x4x128xf32, #gpu.address_space<workgroup>> to memref<2x4xf32, strided<[512, 128], offset: ?>, #gpu.address_space<workgroup>>
// CHECK-NOT:       memref.alloca
// CHECK:           %[[VIEW:.+]] = memref.subview %[[T]][%{{.+}}, 0] [1, 4] [1, 1] : {{.*}} to memref<4xf32, strided<[128], offset: ?>, #gpu.address_space<workgroup>>
// CHECK:           math.exp
// CHECK:           memref.store %{{.+}}, %[[VIEW]]
// CHECK:           %[[FLAT:.+]] = memref.collapse_shape %[[T]] {{.*}} into memref<8xf32, strided<[128], offset: ?>, #gpu.address_space<workgroup>>
// CHECK:           %[[CAST:.+]] = memref.cast %[[FLAT]] : {{.*}} to memref<?xf32, strided<[128], offset: ?>, #gpu.address_space<workgroup>>
// CHECK:           %[[EXPANDED:.+]] = memref.expand_shape %[[FLAT]] {{.*}} into memref<4x2xf32, strided<[256, 128], offset: ?>, #gpu.address_space<workgroup>>
// CHECK:           memref.load %[[CAST]]
// CHECK:           memref.store %{{.+}}, %[[EXPANDED]]
func.func @users(%m: memref<?xf32, #gpu.address_space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloca() {alignment = 64 : i64, pol.buffer = {kernel = "", name = "t"}} : memref<2x4xf32, #gpu.address_space<global>>
    %u = memref.subview %t[%i, 0] [1, 4] [1, 1] : memref<2x4xf32, #gpu.address_space<global>> to memref<4xf32, strided<[1], offset: ?>, #gpu.address_space<global>>
    linalg.exp ins(%u : memref<4xf32, strided<[1], offset: ?>, #gpu.address_space<global>>) outs(%u : memref<4xf32, strided<[1], offset: ?>, #gpu.address_space<global>>)
    %flat = memref.collapse_shape %t [[0, 1]] : memref<2x4xf32, #gpu.address_space<global>> into memref<8xf32, #gpu.address_space<global>>
    %cast = memref.cast %flat : memref<8xf32, #gpu.address_space<global>> to memref<?xf32, #gpu.address_space<global>>
    %expanded = memref.expand_shape %flat [[0, 1]] output_shape [4, 2] : memref<8xf32, #gpu.address_space<global>> into memref<4x2xf32, #gpu.address_space<global>>
    %size = memref.dim %cast, %c0 : memref<?xf32, #gpu.address_space<global>>
    %v = memref.load %cast[%size] : memref<?xf32, #gpu.address_space<global>>
    memref.store %v, %expanded[%i, %c1] : memref<4x2xf32, #gpu.address_space<global>>
    memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  }
  return
}

// -----

// One element is one for each thread, whatever its type and memory space.

// CHECK-LABEL: func.func @scalar(
// CHECK:         gpu.launch
// CHECK-SAME:      threads(%[[THREAD:[^,]+]],
// CHECK-SAME:      workgroup(%[[S:.+]] : memref<128xbf16, #gpu.address_space<workgroup>>)
// CHECK-NEXT:      memref.subview %[[S]][%[[THREAD]]] [1] [1] : {{.*}} to memref<bf16, strided<[], offset: ?>, #gpu.address_space<workgroup>>
func.func @scalar(%m: memref<?xbf16, #gpu.address_space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloca() {pol.buffer = {kernel = "", name = "t"}} : memref<bf16>
    %v = memref.load %t[] : memref<bf16>
    memref.store %v, %m[%i] : memref<?xbf16, #gpu.address_space<global>>
  }
  return
}

// -----

// Copies within the thread's memory become loops; they are followed on both
// sides.

// CHECK-LABEL: func.func @copies(
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%{{.+}} : memref<4x128xf32, #gpu.address_space<workgroup>>, %{{.+}} : memref<4x128xf32, #gpu.address_space<workgroup>>)
// CHECK-NOT:       memref.alloca
// CHECK-NOT:       memref.copy
// CHECK:           scf.for
// CHECK:             %[[V:.+]] = memref.load %{{.+}} : memref<4xf32, strided<[128], offset: ?>, #gpu.address_space<workgroup>>
// CHECK:             memref.store %[[V]], %{{.+}} : memref<4xf32, strided<[128], offset: ?>, #gpu.address_space<workgroup>>
func.func @copies(%m: memref<?xf32, #gpu.address_space<global>>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloca() {pol.buffer = {kernel = "", name = "t"}} : memref<4xf32>
    %u = memref.alloca() {pol.buffer = {kernel = "", name = "u"}} : memref<4xf32>
    memref.copy %t, %u : memref<4xf32> to memref<4xf32>
    memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  }
  return
}

// -----

// 48 KiB are 96 f32 for each of 128 threads.

// CHECK-LABEL: func.func @all(
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%{{.+}} : memref<95x128xf32, #gpu.address_space<workgroup>>, %{{.+}} : memref<1x128xf32, #gpu.address_space<workgroup>>)
// CHECK-NOT:       memref.alloca
// CHECK:           gpu.terminator
func.func @all(%m: memref<?xf32, #gpu.address_space<global>>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloca() {pol.buffer = {kernel = "", name = "t"}} : memref<95xf32>
    %u = memref.alloca() {pol.buffer = {kernel = "", name = "u"}} : memref<1xf32>
    memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  }
  return
}

// -----

// The first that fits goes first; one that no longer fits stays local, and a
// smaller one after it still moves.

// CHECK-LABEL: func.func @some(
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%{{.+}} : memref<48x128xf32, #gpu.address_space<workgroup>>, %{{.+}} : memref<24x128xf64, #gpu.address_space<workgroup>>)
// CHECK-DAG:       memref.alloca() {pol.buffer = {kernel = "", name = "large"}} : memref<97xf32>
// CHECK-DAG:       memref.alloca() {pol.buffer = {kernel = "", name = "second"}} : memref<49xf32>
// CHECK-DAG:       memref.alloca() {pol.buffer = {kernel = "", name = "last"}} : memref<i8>
// CHECK:           gpu.terminator
func.func @some(%m: memref<?xf32, #gpu.address_space<global>>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.alloca() {pol.buffer = {kernel = "", name = "large"}} : memref<97xf32>
    %b = memref.alloca() {pol.buffer = {kernel = "", name = "first"}} : memref<48xf32>
    %c = memref.alloca() {pol.buffer = {kernel = "", name = "second"}} : memref<49xf32>
    %d = memref.alloca() {pol.buffer = {kernel = "", name = "third"}} : memref<24xf64>
    %e = memref.alloca() {pol.buffer = {kernel = "", name = "last"}} : memref<i8>
    memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  }
  return
}

// -----

// Each buffer counts up to a multiple of 16 bytes, for one thread also: of the
// two large ones, only the smaller is left room.

// CHECK-LABEL: func.func @padding(
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%{{.+}} : memref<128xi8, #gpu.address_space<workgroup>>)

// ONE-LABEL:   func.func @padding(
// ONE:           gpu.launch
// ONE-SAME:        workgroup(%{{.+}} : memref<1xi8, #gpu.address_space<workgroup>>, %{{.+}} : memref<49136x1xi8, #gpu.address_space<workgroup>>)
// ONE:             memref.alloca() {{.*}} : memref<49137xi8>
func.func @padding(%m: memref<?xf32, #gpu.address_space<global>>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.alloca() {pol.buffer = {kernel = "", name = "small"}} : memref<i8>
    %b = memref.alloca() {pol.buffer = {kernel = "", name = "large"}} : memref<49137xi8>
    %c = memref.alloca() {pol.buffer = {kernel = "", name = "fits"}} : memref<49136xi8>
    memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  }
  return
}

// -----

// Each launch has memory of its own.

// CHECK-LABEL: func.func @launches(
// CHECK-COUNT-2: workgroup(%{{.+}} : memref<96x128xf32, #gpu.address_space<workgroup>>)
func.func @launches(%m: memref<?xf32, #gpu.address_space<global>>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloca() {pol.buffer = {kernel = "", name = "t"}} : memref<96xf32>
    memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloca() {pol.buffer = {kernel = "", name = "t"}} : memref<96xf32>
    memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  }
  return
}

// -----

// Tiles of kernels are no frame's; what has no bytes needs none.

// CHECK-LABEL: func.func @others(
// CHECK:         gpu.launch
// CHECK-DAG:       memref.alloca() : memref<4xf32>
// CHECK-DAG:       memref.alloca() {pol.buffer = {kernel = "", name = "empty"}} : memref<0xf32>
// CHECK:           gpu.terminator
func.func @others(%m: memref<?xf32, #gpu.address_space<global>>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloca() : memref<4xf32, #gpu.address_space<global>>
    %e = memref.alloca() {pol.buffer = {kernel = "", name = "empty"}} : memref<0xf32>
    memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  }
  return
}

// -----

// What is used in a way that a strided buffer in another memory cannot be stays
// local, with the views of it, while others move: chosen from, seen as bytes or
// as a vector, accessed with an alignment, reshaped where strides do not allow.

// CHECK-LABEL: func.func @cannot_follow(
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%{{.+}} : memref<3x128xf32, #gpu.address_space<workgroup>>)
// CHECK-DAG:       %[[CHOSEN:.+]] = memref.alloca() {pol.buffer = {kernel = "", name = "chosen"}} : memref<4xf32>
// CHECK-DAG:       %[[OTHER:.+]] = memref.alloca() {pol.buffer = {kernel = "", name = "other"}} : memref<4xf32>
// CHECK-DAG:       %[[BYTES:.+]] = memref.alloca() {pol.buffer = {kernel = "", name = "bytes"}} : memref<16xi8>
// CHECK-DAG:       %[[VECTOR:.+]] = memref.alloca() {pol.buffer = {kernel = "", name = "vector"}} : memref<2x4xf32>
// CHECK-DAG:       %[[ALIGNED:.+]] = memref.alloca() {pol.buffer = {kernel = "", name = "aligned"}} : memref<4xf32>
// CHECK-DAG:       %[[UNKNOWN:.+]] = memref.alloca() {pol.buffer = {kernel = "", name = "unknown"}} : memref<4x4xf32>
// CHECK:           arith.select %{{.+}}, %[[CHOSEN]], %[[OTHER]] : memref<4xf32>
// CHECK:           memref.view %[[BYTES]]
// CHECK:           memref.subview %[[VECTOR]]{{.*}} to memref<4xf32, strided<[1], offset: ?>>
// CHECK:           vector.load
// CHECK:           memref.load %[[ALIGNED]]
// CHECK:           memref.cast %[[UNKNOWN]] : memref<4x4xf32> to memref<?x?xf32>
func.func @cannot_follow(%m: memref<?xf32, #gpu.address_space<global>>, %n: index, %b: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %chosen = memref.alloca() {pol.buffer = {kernel = "", name = "chosen"}} : memref<4xf32>
    %other = memref.alloca() {pol.buffer = {kernel = "", name = "other"}} : memref<4xf32>
    %bytes = memref.alloca() {pol.buffer = {kernel = "", name = "bytes"}} : memref<16xi8>
    %vector = memref.alloca() {pol.buffer = {kernel = "", name = "vector"}} : memref<2x4xf32>
    %aligned = memref.alloca() {pol.buffer = {kernel = "", name = "aligned"}} : memref<4xf32>
    %unknown = memref.alloca() {pol.buffer = {kernel = "", name = "unknown"}} : memref<4x4xf32>
    %moves = memref.alloca() {pol.buffer = {kernel = "", name = "moves"}} : memref<3xf32>
    %0 = arith.select %b, %chosen, %other : memref<4xf32>
    %v0 = memref.load %0[%i] : memref<4xf32>
    %1 = memref.view %bytes[%c0][] : memref<16xi8> to memref<4xf32>
    %v1 = memref.load %1[%i] : memref<4xf32>
    %2 = memref.subview %vector[%i, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    %v2 = vector.load %2[%c0] : memref<4xf32, strided<[1], offset: ?>>, vector<4xf32>
    %e2 = vector.extract %v2[0] : f32 from vector<4xf32>
    %v3 = memref.load %aligned[%i] {alignment = 16 : i64} : memref<4xf32>
    %4 = memref.cast %unknown : memref<4x4xf32> to memref<?x?xf32>
    %5 = memref.collapse_shape %4 [[0, 1]] : memref<?x?xf32> into memref<?xf32>
    %v4 = memref.load %5[%i] : memref<?xf32>
    %v5 = memref.load %moves[%i] : memref<3xf32>
    memref.store %v0, %m[%i] : memref<?xf32, #gpu.address_space<global>>
    memref.store %v1, %m[%i] : memref<?xf32, #gpu.address_space<global>>
    memref.store %e2, %m[%i] : memref<?xf32, #gpu.address_space<global>>
    memref.store %v3, %m[%i] : memref<?xf32, #gpu.address_space<global>>
    memref.store %v4, %m[%i] : memref<?xf32, #gpu.address_space<global>>
    memref.store %v5, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  }
  return
}

// -----

// What a callee's frame has is in the kernel, too.

// CHECK-LABEL: func.func @caller(
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%{{.+}} : memref<4x128xf32, #gpu.address_space<workgroup>>)
func.func private @callee(%m: memref<?xf32, #gpu.address_space<global>>, %i: index) {
  %t = memref.alloca() {pol.buffer = {kernel = "", name = "t"}} : memref<4xf32>
  %v = memref.load %t[%i] : memref<4xf32>
  memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  return
}
func.func @caller(%m: memref<?xf32, #gpu.address_space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    func.call @callee(%m, %i) : (memref<?xf32, #gpu.address_space<global>>, index) -> ()
  }
  return
}

// -----

// Nothing changes on the host.

// CHECK-LABEL: func.func @host(
// CHECK:         memref.alloca() {pol.buffer = {kernel = "", name = "t"}} : memref<4xf32>
// CHECK:         scf.parallel
// CHECK:           memref.alloca() {pol.buffer = {kernel = "", name = "u"}} : memref<4xf32>
func.func @host(%n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.alloca() {pol.buffer = {kernel = "", name = "t"}} : memref<4xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %u = memref.alloca() {pol.buffer = {kernel = "", name = "u"}} : memref<4xf32>
    memref.store %v, %u[%i] : memref<4xf32>
    memref.store %v, %t[%i] : memref<4xf32>
  }
  return
}
