//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_CONVERSION_PASSES_TD
#define POL_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Expand
//===----------------------------------------------------------------------===//

def ExpandAttentionForms
    : Pass<"pol-expand-attention-forms", "::mlir::ModuleOp"> {
  let summary = "turn attention's short forms into regions";
  let description = [{
    Of attention on memrefs, `causal`, `window` and lengths become part of the
    mask region, `softcap` and bias of the score region: the cap comes before
    what the region does, the bias after it. What they need from operands becomes
    a capture, and the gradient of a bias that of a capture. Positions and
    lengths are taken to at most 2^60 from 0. What expands attention knows
    regions alone.

    ```mlir
    func.func @f(%q: memref<1x2x8x4xf32>, %k: memref<1x2x8x4xf32>,
                 %o: memref<1x2x8x4xf32>) {
      pol.attention ins(%q, %k, %k : memref<1x2x8x4xf32>, memref<1x2x8x4xf32>,
                        memref<1x2x8x4xf32>)
          outs(%o : memref<1x2x8x4xf32>) {causal = #pol.causal<top_left>}
      return
    }
    ```

    becomes

    ```mlir
    func.func @f(%q: memref<1x2x8x4xf32>, %k: memref<1x2x8x4xf32>,
                 %o: memref<1x2x8x4xf32>) {
      pol.attention ins(%q, %k, %k : memref<1x2x8x4xf32>, memref<1x2x8x4xf32>,
                        memref<1x2x8x4xf32>)
          outs(%o : memref<1x2x8x4xf32>)
          mask(%b, %h, %i, %j) {
            %kept = arith.cmpi sle, %j, %i : index
            pol.yield %kept : i1
          }
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def ConvertPolToLinalg : Pass<"convert-pol-to-linalg", "::mlir::ModuleOp"> {
  let summary = "expand kernels into linalg and loops: the reference";
  let description = [{
    Expands kernel ops on memrefs into loops over rows, blocked sums and
    `linalg.generic`. It is the readable reference, for any target, that every
    tuned expansion is compared with. Rows are an `scf.parallel`. Short forms of
    attention become regions first, as by `pol-expand-attention-forms`. A
    `memref.copy` between strided memrefs becomes a `linalg.generic` as well.

    ```mlir
    pol.rms_norm ins(%x, %w : memref<?x64xf32>, memref<64xf32>)
        outs(%y : memref<?x64xf32>)
    ```

    becomes an `scf.parallel` over the rows; in each, nested `scf.for` that sum the
    squares in blocks, and a `linalg.generic` over the row.
  }];
  let options = [
    Option<"sumBlock", "sum-block", "int64_t", "16",
           "Elements summed one after the other before blocks are added">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def ConvertPolToVector : Pass<"convert-pol-to-vector", "::mlir::ModuleOp"> {
  let summary = "expand kernels into vectors: fast code for the CPU";
  let description = [{
    Expands kernel ops on memrefs into loops over vectors, for the target that the
    module carries (`pol-set-target`). Rows, or blocks of queries, are an
    `scf.parallel`; how they are split depends on shapes and the target alone, and
    so does every result. What the tuned expansion does not cover goes the way of
    `convert-pol-to-linalg`: arrays whose rows have gaps or no columns, f16 where
    the target cannot convert it, and attention without a workspace, or in a module
    that names no target: a workspace is then described for none.

    ```mlir
    pol.rms_norm ins(%x, %w : memref<?x64xf32>, memref<64xf32>)
        outs(%y : memref<?x64xf32>)
    ```

    becomes an `scf.parallel` over groups of rows, and in it an `scf.for` over
    rows: vectors of squares are added up four at a time, in sums which are
    then added lane by lane, and the row is read again, from the cache, to be
    scaled and written.
  }];
  let options = [
    Option<"sumBlock", "sum-block", "int64_t", "16",
           "Of the reference expansion: elements summed one after the other">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// GPU
//===----------------------------------------------------------------------===//

def MapParallelLoopsToGPU
    : Pass<"pol-map-parallel-loops-to-gpu", "::mlir::ModuleOp"> {
  let summary = "run parallel loops over a GPU's memory on the GPU";
  let description = [{
    Each outermost `scf.parallel` that uses memory in
    `#gpu.address_space<global>` becomes a `gpu.launch` with a thread for each
    trip, in blocks of `block-size`; loops in it run in sequence, and calls are
    inlined. Linalg operations and copies on such memory that are in no loop
    become loops first. Stack buffers are static, at the entry of the kernel, in
    default memory, whatever their frame's memory space: each thread's local
    memory. Access to the memory that would run on the host, and use of the
    host's memory in a launch, are errors.

    ```mlir
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
    }
    ```

    becomes

    ```mlir
    scf.if %any {
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%x = %c128, %y = %c1, %z = %c1) {
        %first = arith.muli %bx, %c128 : index
        %i = arith.addi %first, %tx : index
        %exists = arith.cmpi slt, %i, %n : index
        scf.if %exists {
          memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
        }
        gpu.terminator
      }
    }
    ```

    With `worker-memory=workgroup`, the buffers of frames in the loop are in
    workgroup memory instead, as long as all of a launch fit 48 KiB for the
    threads of a block, each counted up to a multiple of 16 bytes. In program
    order, each that still fits moves; the others stay local. So do buffers that
    are used by anything but loads, stores, copies, subviews, casts and changes
    of shape, and the tiles of kernels. Threads are the last dimension, so that
    those of a warp access different banks.

    ```mlir
    %t = memref.alloca() {pol.buffer = {kernel = "", name = "t"}} : memref<4xf32>
    memref.store %v, %t[%c0] : memref<4xf32>
    ```

    in a loop becomes

    ```mlir
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%x = %c128, %y = %c1, %z = %c1)
               workgroup(%s : memref<4x128xf32, #gpu.address_space<workgroup>>) {
      %t = memref.subview %s[0, %tx] [4, 1] [1, 1]
          : memref<4x128xf32, #gpu.address_space<workgroup>>
          to memref<4xf32, strided<[128], offset: ?>, #gpu.address_space<workgroup>>
      memref.store %v, %t[%c0]
          : memref<4xf32, strided<[128], offset: ?>, #gpu.address_space<workgroup>>
      gpu.terminator
    }
    ```
  }];
  let options = [
    Option<"blockSize", "block-size", "int64_t", "128", "Threads in a block">,
    Option<"workerMemory", "worker-memory", "std::string", "\"local\"",
           "Where frames in parallel loops are: local or workgroup, as far as "
           "they fit">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def ExpandLibdeviceCalls
    : Pass<"pol-expand-libdevice-calls", "::mlir::gpu::GPUModuleOp"> {
  let summary = "round square roots on the GPU as on the CPU";
  let description = [{
    The functions of libdevice that `convert-gpu-to-nvvm` calls for `math.sqrt`
    and `math.rsqrt` approximate them in f32. They become LLVM's square root,
    which is rounded to the nearest number, and a division. Absolute values
    become LLVM's, too, so that kernels without transcendental functions can do
    without the library.

    ```mlir
    gpu.module @kernels {
      llvm.func @__nv_sqrtf(f32) -> f32
      llvm.func @f(%x: f32) -> f32 {
        %r = llvm.call @__nv_sqrtf(%x) : (f32) -> f32
        llvm.return %r : f32
      }
    }
    ```

    becomes

    ```mlir
    gpu.module @kernels {
      llvm.func @f(%x: f32) -> f32 {
        %r = llvm.intr.sqrt(%x) : (f32) -> f32
        llvm.return %r : f32
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def AttachNVVMTarget : Pass<"pol-attach-nvvm-target", "::mlir::ModuleOp"> {
  let summary = "say which GPU kernels are compiled for, and check that they can be";
  let description = [{
    Attaches `#nvvm.target` to the GPU modules, after checking what otherwise is
    found out late or not at all: that LLVM knows the chip, that there is a
    format of this name and the tools it takes, and that the functions of
    libdevice which kernels call can be linked.

    ```mlir
    gpu.module @kernels {
    }
    ```

    becomes

    ```mlir
    gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"", "The GPU">,
    Option<"features", "features", "std::string", "\"\"",
           "Features of the target, such as +ptx80">,
    Option<"optLevel", "opt-level", "int", "2",
           "How far kernels are optimized, 0 to 3">,
    Option<"format", "format", "std::string", "\"isa\"",
           "What kernels will become: isa, bin, fatbin, llvm or offload">,
    Option<"toolkitPath", "toolkit", "std::string", "\"\"",
           "The folder of the CUDA toolkit">
  ];
  let dependentDialects = [
    "::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"
  ];
}

def EraseGPUMemorySpaces
    : Pass<"pol-erase-gpu-memory-spaces", "::mlir::ModuleOp"> {
  let summary = "take a GPU's memory for plain pointers on the host";
  let description = [{
    Once all that reads and writes it is in kernels, memory in
    `#gpu.address_space<global>` is no more than addresses to the host: memrefs
    and spaces outside of GPU modules lose the memory space.

    ```mlir
    %m, %ok = pol.carve %a[%n] : !pol.arena<#gpu.address_space<global>>
        -> memref<?xf32, #gpu.address_space<global>>
    ```

    becomes

    ```mlir
    %m, %ok = pol.carve %a[%n] : !pol.arena -> memref<?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::pol::PolDialect"];
}

#endif // POL_CONVERSION_PASSES_TD
