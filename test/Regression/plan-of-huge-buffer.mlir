// Placing a buffer of 2^62 bytes went on forever.

// RUN: pol-opt %s --pol-plan-memory | FileCheck %s

// CHECK-LABEL: func.func @huge_footprint(
// CHECK: %[[BYTES:.*]] = arith.constant 4611686018427387904 : i64
// CHECK: return %[[BYTES]]
func.func @huge(%a: !pol.arena) -> i8 {
  %c0 = arith.constant 0 : index
  %t = pol.alloc %a : !pol.arena -> memref<4611686018427387904xi8>
  %z = arith.constant 1 : i8
  memref.store %z, %t[%c0] : memref<4611686018427387904xi8>
  %v = memref.load %t[%c0] : memref<4611686018427387904xi8>
  return %v : i8
}
