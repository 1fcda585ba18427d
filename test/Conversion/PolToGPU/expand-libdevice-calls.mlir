// RUN: pol-opt %s --pass-pipeline='builtin.module(gpu.module(pol-expand-libdevice-calls))' \
// RUN:   | FileCheck %s

// Roots are rounded to the nearest number; what LLVM cannot do stays a call.

gpu.module @kernels {
  llvm.func @__nv_sqrtf(f32) -> f32
  llvm.func @__nv_rsqrt(f64) -> f64
  llvm.func @__nv_fabsf(f32) -> f32
  llvm.func @__nv_expf(f32) -> f32
  // CHECK-LABEL: llvm.func @f(
  // CHECK-SAME:    %[[X:.+]]: f32, %[[Y:.+]]: f64
  llvm.func @f(%x: f32, %y: f64) -> f64 {
    // CHECK: %[[SQRT:.+]] = llvm.intr.sqrt(%[[X]]) : (f32) -> f32
    %0 = llvm.call @__nv_sqrtf(%x) : (f32) -> f32
    // CHECK: %[[ABS:.+]] = llvm.intr.fabs(%[[SQRT]]) : (f32) -> f32
    %1 = llvm.call @__nv_fabsf(%0) : (f32) -> f32
    // CHECK: llvm.call @__nv_expf(%[[ABS]])
    %2 = llvm.call @__nv_expf(%1) : (f32) -> f32
    // CHECK: %[[ROOT:.+]] = llvm.intr.sqrt(%[[Y]]) : (f64) -> f64
    // CHECK: %[[ONE:.+]] = llvm.mlir.constant(1.000000e+00 : f64)
    // CHECK: llvm.fdiv %[[ONE]], %[[ROOT]] : f64
    %3 = llvm.call @__nv_rsqrt(%y) : (f64) -> f64
    llvm.return %3 : f64
  }
}
