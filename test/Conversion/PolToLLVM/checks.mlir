// RUN: pol-opt %s --convert-to-llvm --split-input-file | FileCheck %s

// Compared in line; only a failure calls the runtime.

// CHECK-DAG:   llvm.func @pol_report_mismatch(!llvm.ptr, i64, i64)
// CHECK-DAG:   llvm.mlir.global private constant @[[SITE:pol_site_[0-9A-F]+_0]]() {{.*}}pol.site = ["extent 0 of y", "k", "a.mlir", 3 : i32, 8 : i32, 0 : i32]} : !llvm.struct<(ptr, ptr, ptr, i32, i32, i32)>
// CHECK-LABEL: llvm.func @equal(
// CHECK-SAME:    %[[GOT:.+]]: i64, %[[WANT:.+]]: i64)
// CHECK-NEXT:    %[[OK:.+]] = llvm.icmp "eq" %[[GOT]], %[[WANT]]
// CHECK-NEXT:    llvm.cond_br %[[OK]], ^[[REST:.+]], ^[[REPORT:bb[0-9]+]]
// CHECK-NEXT:  ^[[REPORT]]:
// CHECK-NEXT:    %[[ADDRESS:.+]] = llvm.mlir.addressof @[[SITE]]
// CHECK-NEXT:    llvm.call @pol_report_mismatch(%[[ADDRESS]], %[[GOT]], %[[WANT]])
// CHECK-NEXT:    llvm.br ^[[REST]]
// CHECK-NEXT:  ^[[REST]]:
// CHECK-NEXT:    llvm.return %[[OK]]
func.func @equal(%n: index, %m: index) -> i1 {
  %ok = pol.check %n eq %m, "extent 0 of y" {kernel = "k"} loc("a.mlir":3:8)
  return %ok : i1
}

// -----

// The predicate is part of the site.

// CHECK-DAG:   pol.site = ["n", "", {{.+}}, {{.+}}, {{.+}}, 1 : i32]
// CHECK-DAG:   pol.site = ["n", "", {{.+}}, {{.+}}, {{.+}}, 2 : i32]
// CHECK-DAG:   pol.site = ["n", "", {{.+}}, {{.+}}, {{.+}}, 3 : i32]
// CHECK-LABEL: llvm.func @others(
// CHECK-SAME:    %[[GOT:.+]]: i64, %[[WANT:.+]]: i64)
// CHECK:         llvm.icmp "sle" %[[GOT]], %[[WANT]]
// CHECK:         llvm.icmp "sge" %[[GOT]], %[[WANT]]
// CHECK:         %[[ZERO:.+]] = llvm.mlir.constant(0 : i64)
// CHECK:         %[[ONE:.+]] = llvm.mlir.constant(1 : i64)
// CHECK:         %[[SOME:.+]] = llvm.icmp "sgt" %[[WANT]], %[[ZERO]]
// CHECK:         %[[BY:.+]] = llvm.select %[[SOME]], %[[WANT]], %[[ONE]]
// CHECK:         %[[REST:.+]] = llvm.srem %[[GOT]], %[[BY]]
// CHECK:         %[[LEFT:.+]] = llvm.select %[[SOME]], %[[REST]], %[[GOT]]
// CHECK:         llvm.icmp "eq" %[[LEFT]], %[[ZERO]]
func.func @others(%n: index, %m: index) {
  pol.check %n le %m, "n"
  pol.check %n ge %m, "n"
  pol.check %n multiple_of %m, "n"
  return
}
