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

def ConvertPolToLinalg : Pass<"convert-pol-to-linalg", "::mlir::ModuleOp"> {
  let summary = "expand kernels into linalg and loops: the reference";
  let description = [{
    Expands kernel ops on memrefs into loops over rows, blocked sums and
    `linalg.generic`. It is the readable reference, for any target, that every
    tuned expansion is compared with. Rows are an `scf.parallel`. A
    `memref.copy` between strided memrefs becomes a `linalg.generic` as well.

    ```mlir
    pol.rms_norm ins(%x, %w : memref<?x64xf32>, memref<64xf32>)
        outs(%y : memref<?x64xf32>)
    ```

    becomes an `scf.parallel` over the rows; in each, nested `scf.for` that sum the
    squares in blocks of blocks, and a `linalg.generic` over the row.
  }];
  let options = [
    Option<"sumBlock", "sum-block", "int64_t", "64",
           "Elements summed one after the other before blocks are added">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

#endif // POL_CONVERSION_PASSES_TD
