// REQUIRES: libdevice
// RUN: pol-opt %s --pol-to-nvvm=chip=sm_80 | %extract_ptx | FileCheck %s
// RUN: %if ptxas %{ pol-opt %s --pol-to-nvvm="chip=sm_80 format=bin" -o /dev/null %}

// Functions that PTX has no instruction for are linked in, for f32 and f64; roots
// are rounded to the nearest number.

// CHECK-NOT: .extern
// CHECK:     .visible .entry f32_kernel(
// CHECK:       ex2.approx
// CHECK-NOT:   sqrt.approx
// CHECK:       sqrt.rn.f32
// CHECK-NOT:   rsqrt
// CHECK:       sqrt.rn.f32
// CHECK:     .visible .entry f64_kernel(
// CHECK:       fma.rn.f64
// CHECK:       sqrt.rn.f64
// CHECK-NOT: .extern
func.func @f32(%m: memref<?xf32, #gpu.address_space<global>>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%m : memref<?xf32, #gpu.address_space<global>>) {
  ^bb0(%x: f32):
    %0 = math.exp %x : f32
    %1 = math.tanh %0 : f32
    %2 = math.sqrt %1 : f32
    %3 = math.rsqrt %2 : f32
    linalg.yield %3 : f32
  }
  return
}

func.func @f64(%m: memref<?xf64, #gpu.address_space<global>>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%m : memref<?xf64, #gpu.address_space<global>>) {
  ^bb0(%x: f64):
    %0 = math.exp %x : f64
    %1 = math.tanh %0 : f64
    %2 = math.sqrt %1 : f64
    linalg.yield %2 : f64
  }
  return
}
