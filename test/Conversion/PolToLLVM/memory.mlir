// RUN: pol-opt %s --convert-to-llvm --split-input-file | FileCheck %s

// A carve asks the runtime with what it says about itself, and the extents in
// an array of the function's entry.

// CHECK-DAG:   llvm.func @pol_carve(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:   llvm.mlir.global private constant @[[SITE:pol_site_[0-9A-F]+_0]]() {{.*}}pol.site = ["t", "softmax", "scratch", "f16", "{{.+}}memory.mlir", {{.+}} : i32, {{.+}} : i32, 2, 2]} : !llvm.struct<(ptr, ptr, ptr, ptr, ptr, i32, i32, i64, i64)>
// CHECK-DAG:   llvm.mlir.global private constant @{{pol_string_[0-9A-F]+_0}}("t\00")
// CHECK-DAG:   llvm.mlir.global private constant @{{pol_string_[0-9A-F]+_0}}("softmax\00")
// CHECK-DAG:   llvm.mlir.global private constant @{{pol_string_[0-9A-F]+_0}}("scratch\00")
// CHECK-DAG:   llvm.mlir.global private constant @{{pol_string_[0-9A-F]+_0}}("f16\00")
// CHECK-LABEL: llvm.func @carve(
// CHECK-SAME:    %[[SPACE:.+]]: !llvm.ptr, %[[N:.+]]: i64)
// CHECK:         %[[TWO:.+]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[DIMS:.+]] = llvm.alloca %[[TWO]] x i64
// CHECK:         llvm.br
// CHECK:       ^bb1:
// CHECK-NOT:     llvm.alloca
// CHECK:         %[[ADDRESS:.+]] = llvm.mlir.addressof @[[SITE]]
// CHECK:         llvm.store %[[N]]
// CHECK:         %[[P:.+]] = llvm.call @pol_carve(%[[SPACE]], %[[ADDRESS]], %{{.+}}, %[[DIMS]])
// CHECK:         %[[NULL:.+]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         %[[OK:.+]] = llvm.icmp "ne" %[[P]], %[[NULL]]
// CHECK:         llvm.return %[[OK]]
func.func @carve(%a: !pol.arena, %n: index) -> i1 {
  cf.br ^bb1
^bb1:
  %t, %ok = pol.carve %a[%n] {kernel = "softmax", name = "t", role = #pol.role<scratch>} : !pol.arena -> memref<?x4xf16>
  return %ok : i1
}

// -----

// One site for carves that say the same, and no extents without dimensions.

// CHECK-COUNT-2: llvm.mlir.global private constant @pol_site_
// CHECK-NOT:     llvm.mlir.global private constant @pol_site_
// CHECK-LABEL: llvm.func @scalar(
// CHECK-NOT:     llvm.alloca
// CHECK:         %[[NONE:.+]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         llvm.call @pol_carve(%{{.+}}, %{{.+}}, %{{.+}}, %[[NONE]])
#same = loc("a.mlir":1:1)
#other = loc("a.mlir":2:1)
func.func @scalar(%h: !pol.heap) {
  %t, %ok = pol.carve %h : !pol.heap -> memref<f32> loc(#same)
  %u, %ok2 = pol.carve %h : !pol.heap -> memref<f32> loc(#same)
  %v, %ok3 = pol.carve %h : !pol.heap -> memref<f32> loc(#other)
  return
}

// -----

// CHECK-DAG:   llvm.func @pol_space_mark(!llvm.ptr) -> !llvm.struct<(i64, i64)>
// CHECK-DAG:   llvm.func @pol_space_retract(!llvm.ptr, i64, i64) -> i32
// CHECK-LABEL: llvm.func @mark(
// CHECK-SAME:    %[[SPACE:.+]]: !llvm.ptr)
// CHECK:         %[[MARK:.+]] = llvm.call @pol_space_mark(%[[SPACE]])
// CHECK:         llvm.br ^bb1(%[[MARK]] : !llvm.struct<(i64, i64)>)
// CHECK:       ^bb1(%[[M:.+]]: !llvm.struct<(i64, i64)>):
// CHECK:         %[[OFFSET:.+]] = llvm.extractvalue %[[M]][0]
// CHECK:         %[[EPOCH:.+]] = llvm.extractvalue %[[M]][1]
// CHECK:         %[[STATUS:.+]] = llvm.call @pol_space_retract(%[[SPACE]], %[[OFFSET]], %[[EPOCH]])
// CHECK:         %[[ZERO:.+]] = llvm.mlir.constant(0 : i32)
// CHECK:         %[[OK:.+]] = llvm.icmp "ne" %[[STATUS]], %[[ZERO]]
func.func @mark(%a: !pol.arena) -> i1 {
  %m = pol.mark %a : !pol.arena
  cf.br ^bb1(%m : !pol.mark)
^bb1(%n: !pol.mark):
  %ok = pol.retract %a, %n : !pol.arena
  return %ok : i1
}

// -----

// CHECK:       llvm.func @pol_space_reset(!llvm.ptr)
// CHECK-LABEL: llvm.func @reset(
// CHECK:         llvm.call @pol_space_reset(%{{.+}}) : (!llvm.ptr) -> ()
func.func @reset(%a: !pol.arena) {
  pol.reset %a : !pol.arena
  return
}

// -----

// CHECK:       llvm.func @pol_space_watermark(!llvm.ptr) -> i64
// CHECK-LABEL: llvm.func @watermark(
// CHECK:         %[[BYTES:.+]] = llvm.call @pol_space_watermark(%{{.+}})
// CHECK:         llvm.return %[[BYTES]] : i64
func.func @watermark(%f: !pol.frame) -> i64 {
  %w = pol.watermark %f : !pol.frame
  return %w : i64
}

// -----

// What is released is what was carved, wherever the descriptor points.

// CHECK-DAG:   llvm.func @pol_thread_heap() -> !llvm.ptr
// CHECK-DAG:   llvm.func @pol_space_release(!llvm.ptr, !llvm.ptr)
// CHECK-LABEL: llvm.func @release(
// CHECK:         %[[HEAP:.+]] = llvm.call @pol_thread_heap()
// CHECK:         %[[P:.+]] = llvm.extractvalue %{{.+}}[0]
// CHECK:         llvm.call @pol_space_release(%[[HEAP]], %[[P]]) : (!llvm.ptr, !llvm.ptr) -> ()
func.func @release(%m: memref<4xf32>) {
  %h = pol.thread_heap : !pol.heap
  pol.release %m in %h : memref<4xf32>, !pol.heap
  return
}

// -----

// Spaces are pointers in every kind of value.

// CHECK-LABEL: llvm.func @spaces(
// CHECK-SAME:    %{{.+}}: !llvm.ptr, %[[B:.+]]: !llvm.ptr, %[[C:.+]]: i1) -> !llvm.ptr
// CHECK:         llvm.select %[[C]], %[[B]], %{{.+}} : i1, !llvm.ptr
func.func @spaces(%a: !pol.heap, %b: !pol.heap, %c: i1) -> !pol.heap {
  %s = arith.select %c, %b, %a : !pol.heap
  return %s : !pol.heap
}
