// What is left of allocations, frames and calls in optimized code: one check of
// the arena's room, where the function begins, and additions to an address.

// UNSUPPORTED: sanitize
// RUN: pol-opt %s --pol-to-llvm=max-stack-bytes=0 \
// RUN:   | mlir-translate --mlir-to-llvmir -o %t.ll
// RUN: %cc_with_pol -O2 -fno-vectorize -S -emit-llvm %t.ll -o - | FileCheck %s

// The other way round, every allocation is a call and a branch.
// RUN: pol-opt %s --pol-to-llvm="max-stack-bytes=0 placement=carve" \
// RUN:   | mlir-translate --mlir-to-llvmir -o %t.carved.ll
// RUN: %cc_with_pol -O2 -fno-vectorize -S -emit-llvm %t.carved.ll -o - \
// RUN:   | FileCheck %s --check-prefix=CARVED

// CHECK-LABEL: define {{.*}} @straight(
// CHECK:         call ptr @pol_carve(
// CHECK-NOT:     {{ (call|br|switch|invoke) }}
// CHECK:         br i1
// CHECK-NOT:     {{ (br|switch|invoke) }}
// CHECK-NOT:     call{{.*}}@{{[^l]}}
// CHECK:         store float
// CHECK-NOT:     {{ (br|switch|invoke) }}
// CHECK-NOT:     call{{.*}}@{{[^l]}}
// CHECK:         store float
// CHECK-NOT:     {{ (br|switch|invoke) }}
// CHECK-NOT:     call{{.*}}@{{[^l]}}
// CHECK:         store float
// CHECK-NOT:     {{ (br|switch|invoke) }}
// CHECK-NOT:     call{{.*}}@{{[^l]}}
// CHECK:         call i32 @pol_space_retract(
// CHECK-NOT:     @pol_carve(
// CHECK:         ret

// CARVED-LABEL: define {{.*}} @straight(
// CARVED:         call ptr @pol_carve(
// CARVED:         call ptr @pol_carve(
// CARVED:         call ptr @pol_carve(
// CARVED-LABEL: define {{.*}} @pol_entry_straight(

func.func private @callee(%f: !pol.frame, %n: index, %x: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
  %0 = memref.load %x[%c0] : memref<?xf32>
  %1 = arith.addf %0, %0 : f32
  memref.store %1, %t[%c0] : memref<?xf32>
  return %1 : f32
}

func.func @straight(%a: !pol.arena, %n: index, %x: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %r = pol.frame on %a : !pol.arena -> f32 {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
    %0 = memref.load %x[%c0] : memref<?xf32>
    memref.store %0, %t[%c0] : memref<?xf32>
    %s = pol.frame on %f : !pol.frame -> f32 {
    ^bb0(%g: !pol.frame):
      %twice = arith.addi %n, %n : index
      %u = pol.alloc %g[%twice] : !pol.frame -> memref<?xf32>
      %1 = arith.mulf %0, %0 : f32
      memref.store %1, %u[%c0] : memref<?xf32>
      %2 = func.call @callee(%g, %n, %x)
          : (!pol.frame, index, memref<?xf32>) -> f32
      // What was stored is still there.
      %3 = memref.load %u[%c0] : memref<?xf32>
      %4 = memref.load %t[%c0] : memref<?xf32>
      %5 = arith.addf %2, %3 : f32
      %6 = arith.addf %4, %5 : f32
      pol.yield %6 : f32
    }
    pol.yield %s : f32
  }
  return %r : f32
}

// In a loop, too: no call, and no more branches than the loop has.

// CHECK-LABEL: define {{.*}} @loop(
// CHECK:         call ptr @pol_carve({{.+}}
// CHECK-NOT:     @pol_
// CHECK:         fadd
// CHECK-NOT:     @pol_
// CHECK:         call i32 @pol_space_retract(
// CHECK-LABEL: define {{.*}} @pol_entry_loop(
func.func @loop(%a: !pol.arena, %n: index, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
      memref.copy %x, %t : memref<?xf32> to memref<?xf32>
      %0 = memref.load %t[%i] : memref<?xf32>
      %1 = memref.load %x[%c0] : memref<?xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %x[%i] : memref<?xf32>
    }
  }
  return
}
