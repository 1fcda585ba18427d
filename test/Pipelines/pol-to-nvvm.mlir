// RUN: pol-opt %S/Inputs/gpu.mlir --pol-to-nvvm | FileCheck %s --check-prefix=HOST
// RUN: pol-opt %S/Inputs/gpu.mlir --pol-to-nvvm | mlir-translate --mlir-to-llvmir \
// RUN:   | FileCheck %s --check-prefix=IR
// RUN: pol-opt %S/Inputs/gpu.mlir --pol-to-nvvm=chip=sm_80 | %extract_ptx | tee %t.80 \
// RUN:   | FileCheck %s --check-prefixes=PTX,F32 -DCHIP=sm_80
// RUN: pol-opt %S/Inputs/gpu.mlir --pol-to-nvvm="chip=sm_90 format=isa" | %extract_ptx | tee %t.90 \
// RUN:   | FileCheck %s --check-prefixes=PTX,F32 -DCHIP=sm_90
// RUN: sed s/xf32/xf16/g %S/Inputs/gpu.mlir | sed s/64xf16/64xf32/ \
// RUN:   | pol-opt --pol-to-nvvm | %extract_ptx | FileCheck %s --check-prefixes=PTX,F16 -DCHIP=sm_80
// RUN: sed s/xf32/xbf16/g %S/Inputs/gpu.mlir | sed s/64xbf16/64xf32/ \
// RUN:   | pol-opt --pol-to-nvvm | %extract_ptx | FileCheck %s --check-prefixes=PTX,BF16 -DCHIP=sm_80
// RUN: sed s/xf32/xbf16/g %S/Inputs/gpu.mlir | sed s/64xbf16/64xf32/ \
// RUN:   | pol-opt --pol-to-nvvm=chip=sm_90 | %extract_ptx | FileCheck %s --check-prefixes=PTX,BF16 -DCHIP=sm_90
// RUN: sed s/xf32/xf64/g %S/Inputs/gpu.mlir \
// RUN:   | pol-opt --pol-to-nvvm | %extract_ptx | FileCheck %s --check-prefixes=PTX,F64 -DCHIP=sm_80
// RUN: cat %t.80 %t.90 | FileCheck %s --check-prefix=NONE

// The host carves once and launches. A frame around kernels is on no stack, even
// if it is static: the GPU could not read it. The second norm works in place.

// HOST-NOT:   {{^ *(%[^=]+ = )?(pol|func|scf|cf|memref|arith|linalg|tensor)\.}}
// HOST-NOT:   unrealized_conversion_cast
// HOST-LABEL: llvm.func @dynamic(
// HOST:         llvm.call @pol_space_mark(
// HOST:         llvm.call @pol_carve(
// HOST-NOT:     llvm.call
// HOST:         gpu.launch_func @dynamic_kernel::@dynamic_kernel
// HOST:         gpu.launch_func @{{dynamic_kernel_[0-9]+}}::@dynamic_kernel
// HOST-NOT:     llvm.call
// HOST:         llvm.return
// HOST-LABEL: llvm.func @pol_entry_dynamic(
// HOST-LABEL: llvm.func @static(
// HOST:         llvm.call @pol_space_mark(
// HOST:         llvm.call @pol_carve(
// HOST-NOT:     memref.alloca
// HOST:         gpu.launch_func @static_kernel::@static_kernel
// HOST:         gpu.launch_func @{{static_kernel_[0-9]+}}::@static_kernel
// HOST:         llvm.call @pol_space_retract(
// HOST-LABEL: llvm.func @row(
// HOST:         gpu.launch_func @row_kernel::@row_kernel
// HOST-LABEL: llvm.func @workers(
// HOST-NOT:     llvm.call @pol_carve(
// HOST:         gpu.launch_func @workers_kernel::@workers_kernel

// IR: define {{.*}} @dynamic(
// IR:   call void @mgpuLaunchKernel(
// IR:   call void @mgpuLaunchKernel(

// Rows are read from and written to global memory; stack buffers of a worker are
// local memory of static size.

// PTX:       .target [[CHIP]]
// PTX:       .visible .entry dynamic_kernel(
// PTX-SAME:  {{$}}
// PTX:         .param .u64 .ptr .global
// F32:         ld.global.b32
// F32:         sqrt.rn.f32
// F32:         rcp.rn.f32
// F32:         st.global.b32
// F16:         ld.global.b16
// F16:         cvt.f32.f16
// F16:         sqrt.rn.f32
// F16:         cvt.rn.f16.f32
// F16:         st.global.b16
// BF16:        ld.global.b16
// BF16:        sqrt.rn.f32
// BF16:        cvt.rn.bf16.f32
// BF16:        st.global.b16
// F64:         ld.global.b64
// F64:         sqrt.rn.f64
// F64:         st.global.b64
// PTX:       .visible .entry dynamic_kernel(
// PTX:       .visible .entry static_kernel(
// PTX:       .visible .entry static_kernel(
// PTX:       .visible .entry row_kernel(
// PTX:       .visible .entry workers_kernel(
// PTX:         .local .align 64 .b8 __local_depot0[{{[0-9]+}}];

// No stack grows, nothing is left to link, no product is contracted with a sum,
// and nothing is approximate.

// NONE-NOT: alloca
// NONE-NOT: stacksave
// NONE-NOT: .extern
// NONE-NOT: fma.
// NONE-NOT: .approx
// NONE-NOT: .ftz
