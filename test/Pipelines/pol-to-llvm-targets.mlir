// RUN: pol-opt %s --pol-to-llvm="cpu=x86-64-v2 checks=false" \
// RUN:   | mlir-translate --mlir-to-llvmir \
// RUN:   | llc -O3 -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2 | FileCheck %s --check-prefix=V2
// RUN: pol-opt %s --pol-to-llvm="cpu=x86-64-v3 checks=false" \
// RUN:   | mlir-translate --mlir-to-llvmir \
// RUN:   | llc -O3 -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 | FileCheck %s --check-prefix=V3
// RUN: pol-opt %s --pol-to-llvm="cpu=x86-64-v4 checks=false" \
// RUN:   | mlir-translate --mlir-to-llvmir \
// RUN:   | llc -O3 -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 | FileCheck %s --check-prefix=V4
// RUN: pol-opt %s --pol-to-llvm="cpu=neon checks=false" \
// RUN:   | mlir-translate --mlir-to-llvmir \
// RUN:   | llc -O3 -mtriple=aarch64-linux-gnu | FileCheck %s --check-prefix=NEON

// What each target's steady loop of attention is made of: as many products as
// its register tile has vectors, and nothing that goes to the stack.

// V2-LABEL: attention:
// V2-COUNT-12: mulps {{.*}}xmm
// V2-NOT: callq fma

// V3-LABEL: attention:
// V3: vfmadd231ps %ymm
// V3-NOT: (%rsp)
// V3-COUNT-11: vfmadd231ps {{.*}}%ymm
// V3-NOT: %zmm

// V4-LABEL: attention:
// V4: vfmadd231ps {{.*}}%zmm
// V4-NOT: (%rsp)
// V4-COUNT-15: vfmadd231ps {{.*}}%zmm

// NEON-LABEL: attention:
// NEON: fmla v{{[0-9]+}}.4s
// NEON-NOT: [sp
// NEON-COUNT-23: fmla v{{[0-9]+}}.4s
func.func @attention(%q: memref<1x2x?x64xf32>, %k: memref<1x2x?x64xf32>,
                     %o: memref<1x2x?x64xf32>, %w: memref<?x?xf32>) {
  pol.attention ins(%q, %k, %k : memref<1x2x?x64xf32>, memref<1x2x?x64xf32>,
                    memref<1x2x?x64xf32>)
      outs(%o : memref<1x2x?x64xf32>)
      scratch(workspace = %w : memref<?x?xf32>)
  return
}
