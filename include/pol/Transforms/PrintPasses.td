//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Passes that print what is known of a program, and leave it as it is.

#ifndef POL_TRANSFORMS_PRINTPASSES_TD
#define POL_TRANSFORMS_PRINTPASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// What is known of a program
//===----------------------------------------------------------------------===//

def PrintTileClasses : Pass<"pol-print-tile-classes", "::mlir::ModuleOp"> {
  let summary = "print which tiles of attention its mask keeps";
  let description = [{
    For each attention op, in one batch and head, prints a line for each row of
    tiles of queries, of a sign for each tile of keys: `.` where the mask keeps
    nothing, `+` where it may keep a part, `#` where it keeps everything, and `?`
    where that depends on captures that are not constant; and a line that counts
    them. Only the mask's region is looked at: short forms are an error.

    ```mlir
    func.func @f(%q: tensor<1x1x256x8xf32>, %o: tensor<1x1x256x8xf32>)
        -> tensor<1x1x256x8xf32> {
      %0 = pol.attention
          ins(%q, %q, %q : tensor<1x1x256x8xf32>, tensor<1x1x256x8xf32>,
              tensor<1x1x256x8xf32>)
          outs(%o : tensor<1x1x256x8xf32>)
          mask(%b, %h, %i, %j) {
            %kept = arith.cmpi sle, %j, %i : index
            pol.yield %kept : i1
          } -> tensor<1x1x256x8xf32>
      return %0 : tensor<1x1x256x8xf32>
    }
    ```

    prints

    ```
    pol.attention in @f, batch 0, head 0
    +...
    #+..
    ##+.
    ###+
    tiles: 4 x 4 of 64 x 64; visited 10 (62.5%), full 6, partial 4
    ```
  }];
  let options = [
    Option<"tileQueries", "tile-queries", "int64_t", "64",
           "how many queries a tile has">,
    Option<"tileKeys", "tile-keys", "int64_t", "64",
           "how many keys a tile has">,
    Option<"queries", "queries", "int64_t", "-1",
           "how many queries there are, where that is dynamic">,
    Option<"keys", "keys", "int64_t", "-1",
           "how many keys there are, where that is dynamic">,
    Option<"firstQuery", "first-query", "int64_t", "0",
           "the position of the first query, where input_pos is not constant">,
    Option<"batch", "batch", "int64_t", "0", "which batch">,
    Option<"head", "head", "int64_t", "0", "which head of queries">,
    Option<"countsOnly", "counts-only", "bool", "false",
           "leave out the picture">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
}

#endif // POL_TRANSFORMS_PRINTPASSES_TD
