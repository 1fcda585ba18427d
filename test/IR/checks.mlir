// RUN: pol-opt %s | pol-opt | FileCheck %s
// RUN: pol-opt %s --canonicalize --cse | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: func.func @predicates(
// CHECK-SAME:    %[[N:.+]]: index, %[[M:.+]]: index)
// FOLD-LABEL:  func.func @predicates(
func.func @predicates(%n: index, %m: index) -> i1 {
  // CHECK: pol.check %[[N]] eq %[[M]], "extent 1 of weight" {kernel = "pol.rms_norm"}
  // CHECK: pol.check %[[N]] le %[[M]], "n"
  // CHECK: pol.check %[[N]] ge %[[M]], "n"
  // CHECK: %[[OK:.+]] = pol.check %[[N]] multiple_of %[[M]], "n" {note = "kept"}
  // CHECK: return %[[OK]]
  // FOLD-COUNT-4: pol.check
  pol.check %n eq %m, "extent 1 of weight" {kernel = "pol.rms_norm"}
  pol.check %n le %m, "n"
  pol.check %n ge %m, "n"
  %ok = pol.check %n multiple_of %m, "n" {note = "kept"}
  return %ok : i1
}

// What is known to hold goes.

// FOLD-LABEL: func.func @holds(
// FOLD-NEXT:    %[[TRUE:.+]] = arith.constant true
// FOLD-NEXT:    return %[[TRUE]] : i1
func.func @holds(%n: index, %x: memref<?xf32>) -> i1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %d0 = memref.dim %x, %c0 : memref<?xf32>
  %d1 = memref.dim %x, %c0 : memref<?xf32>
  pol.check %n eq %n, "n"
  pol.check %n le %n, "n"
  pol.check %n ge %n, "n"
  pol.check %n multiple_of %c1, "n"
  pol.check %d0 eq %d1, "n"
  pol.check %c4 eq %c4, "n"
  pol.check %c4 le %c8, "n"
  pol.check %c8 ge %c4, "n"
  pol.check %c0 multiple_of %c0, "n"
  %ok = pol.check %c8 multiple_of %c4, "n"
  return %ok : i1
}

// What does not, or may not, stays as often as it is there.

// FOLD-LABEL: func.func @may_fail(
// FOLD:         pol.check %{{.+}} eq %{{.+}}, "constants"
// FOLD:         pol.check %{{.+}} le %{{.+}}, "constants"
// FOLD:         pol.check %{{.+}} ge %{{.+}}, "constants"
// FOLD:         pol.check %{{.+}} multiple_of %{{.+}}, "constants"
// FOLD:         pol.check %{{.+}} multiple_of %{{.+}}, "of zero"
// FOLD:         pol.check %[[N:.+]] multiple_of %[[N]], "of a negative"
// FOLD:         pol.check %{{.+}} eq %{{.+}}, "twice"
// FOLD:         pol.check %{{.+}} eq %{{.+}}, "twice"
func.func @may_fail(%n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  pol.check %c4 eq %c6, "constants"
  pol.check %c6 le %c4, "constants"
  pol.check %c4 ge %c6, "constants"
  pol.check %c6 multiple_of %c4, "constants"
  pol.check %c6 multiple_of %c0, "of zero"
  pol.check %n multiple_of %n, "of a negative"
  pol.check %n eq %m, "twice"
  pol.check %n eq %m, "twice"
  return
}
