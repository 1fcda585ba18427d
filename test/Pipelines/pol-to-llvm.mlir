// RUN: pol-opt %s --pol-to-llvm | FileCheck %s
// RUN: pol-opt %s --pol-to-llvm="openmp expansion=linalg" | FileCheck %s --check-prefix=OMP
// RUN: pol-opt %s --pol-to-llvm=max-stack-bytes=0 | FileCheck %s --check-prefix=ARENA
// RUN: pol-opt %s --pol-to-llvm | mlir-translate --mlir-to-llvmir \
// RUN:   | FileCheck %s --check-prefix=IR

// All the way: only LLVM's dialect is left (and OpenMP's with `openmp`).

// CHECK-NOT:   {{^ *(%[^=]+ = )?(pol|func|scf|cf|memref|arith|linalg|tensor)\.}}
// CHECK-NOT:   unrealized_conversion_cast
// CHECK-LABEL: llvm.func @main(
// CHECK-NOT:   {{^ *(%[^=]+ = )?(pol|func|scf|cf|memref|arith|linalg|tensor)\.}}
// CHECK-NOT:   unrealized_conversion_cast
// CHECK-LABEL: llvm.func @pol_entry_main(

// OMP-LABEL: llvm.func @main(
// OMP:         omp.wsloop

// ARENA-LABEL: llvm.func @main(
// ARENA:         llvm.call @pol_space_mark
// ARENA:         llvm.call @pol_carve
// ARENA:         llvm.call @pol_space_retract

// IR: define i32 @pol_entry_main(ptr %{{.+}}, ptr %{{.+}}, ptr %{{.+}}, ptr %{{.+}})
func.func @main(%a: !pol.arena, %x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = pol.alloc %a : !pol.arena -> tensor<8x4xf32>
  %r = pol.frame on %a : !pol.arena -> tensor<8x4xf32> {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f : !pol.frame -> tensor<8x4xf32>
    %0 = pol.rms_norm ins(%x : tensor<8x4xf32>) outs(%t : tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = pol.rms_norm ins(%0 : tensor<8x4xf32>) outs(%y : tensor<8x4xf32>) -> tensor<8x4xf32>
    pol.yield %1 : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}
