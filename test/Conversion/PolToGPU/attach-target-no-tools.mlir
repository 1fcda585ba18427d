// UNSUPPORTED: libdevice, ptxas
// RUN: pol-opt %s --pol-attach-nvvm-target --verify-diagnostics -o /dev/null
// RUN: not pol-opt %s --pol-attach-nvvm-target=format=bin 2>&1 | FileCheck %s

// Where there is no toolkit, PTX can be had without its library only.

// CHECK: error: expected ptxas in the CUDA toolkit or on the PATH, as format=bin takes it, but got neither
gpu.module @kernels {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @f(%x: f32) -> f32 {
    // expected-error@+1 {{expected a CUDA toolkit, whose libdevice has '__nv_expf', but got none: name its folder with the option toolkit, or in CUDA_ROOT, CUDA_HOME or CUDA_PATH}}
    %0 = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.return %0 : f32
  }
}
