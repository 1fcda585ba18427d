//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The passes that make LLVM's dialect of what kernels have become, and what runs
// between stages.

#ifndef POL_TRANSFORMS_TARGETPASSES_TD
#define POL_TRANSFORMS_TARGETPASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

def FuseParallelRegions
    : Pass<"pol-fuse-parallel-regions", "::mlir::ModuleOp"> {
  let summary = "wake threads once for loops that follow each other";
  let description = [{
    Parallel regions of OpenMP that share nothing but loops, and have nothing but
    arithmetic between them, become one: at the end of each loop its threads wait
    for each other, which takes less than to wake them again. Where no loop of a
    region has more than one trip, it is run by the thread that is there.

    ```mlir
    omp.parallel {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
          memref.store %v, %m[%i] : memref<?xf32>
          omp.yield
        }
      }
      omp.terminator
    }
    %k = arith.muli %n, %n : index
    omp.parallel {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%k) step (%c1) {
          memref.store %v, %m[%i] : memref<?xf32>
          omp.yield
        }
      }
      omp.terminator
    }
    ```

    becomes

    ```mlir
    %k = arith.muli %n, %n : index
    %0 = arith.subi %n, %c0 : index
    %1 = arith.cmpi sgt, %0, %c1 : index
    %2 = arith.subi %k, %c0 : index
    %3 = arith.cmpi sgt, %2, %c1 : index
    %4 = arith.ori %1, %3 : i1
    omp.parallel if(%4) {
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
          memref.store %v, %m[%i] : memref<?xf32>
          omp.yield
        }
      }
      omp.wsloop {
        omp.loop_nest (%i) : index = (%c0) to (%k) step (%c1) {
          memref.store %v, %m[%i] : memref<?xf32>
          omp.yield
        }
      }
      omp.terminator
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::omp::OpenMPDialect"
  ];
}

def LowerAllocaScopes
    : Pass<"pol-lower-alloca-scopes", "::mlir::ModuleOp"> {
  let summary = "turn memref.alloca_scope into a saved and restored stack";
  let description = [{
    A scope that allocates on the stack becomes its body between
    `llvm.intr.stacksave` and `llvm.intr.stackrestore`; every other one becomes
    its body alone. Loops in it can be lowered afterwards, which they cannot
    inside a scope.

    ```mlir
    memref.alloca_scope {
      %a = memref.alloca() : memref<4xf32>
    }
    ```

    becomes

    ```mlir
    %s = llvm.intr.stacksave : !llvm.ptr
    %a = memref.alloca() : memref<4xf32>
    llvm.intr.stackrestore %s : !llvm.ptr
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerExpandShapes : Pass<"pol-lower-expand-shapes"> {
  let summary = "spell out memref.expand_shape where extents are dynamic";
  let description = [{
    A `memref.expand_shape` that makes several extents of one of which more than
    one is dynamic becomes a `memref.reinterpret_cast`. Upstream's
    `expand-strided-metadata`, which takes all others, crashes on these.

    ```mlir
    %y = memref.expand_shape %x [[0, 1]] output_shape [%n, %m]
        : memref<?xf32> into memref<?x?xf32>
    ```

    becomes

    ```mlir
    %base, %offset, %size, %stride = memref.extract_strided_metadata %x
        : memref<?xf32> -> memref<f32>, index, index, index
    %y = memref.reinterpret_cast %base to offset: [0], sizes: [%n, %m],
        strides: [%m, 1] : memref<f32> to memref<?x?xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"
  ];
}

def ThreadStatus : Pass<"pol-thread-status", "::mlir::ModuleOp"> {
  let summary = "return early where a carve, retract or check fails";
  let description = [{
    Runs once control flow is unstructured. Every function that may carve,
    retract or check, or calls one that may, gets one more result, an `i1` that
    is true on success; it returns at once with false when one of these fails.
    Retracting what was carved until then is up to the entry point.

    ```mlir
    %m, %ok = pol.carve %arena[%n] : !pol.arena -> memref<?xf32>
    cf.cond_br %ok, ^next, ^failed
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::ub::UBDialect"
  ];
}

def EmitEntryPoints : Pass<"pol-emit-entry-points", "::mlir::ModuleOp"> {
  let summary = "give public functions a C wrapper that returns a status";
  let description = [{
    For each public function `f` with a body, emits `pol_entry_f`, callable from
    C: an error record (may be null), a pointer for each result, then the
    arguments, memrefs as pointers to descriptors and spaces as `pol_space *`.
    It returns 0, or a `pol_status` with the record filled and every space as it
    was before the call.

    ```c
    int32_t pol_entry_f(pol_error *error, memref_f32_1d *result,
                        pol_space *arena, memref_f32_1d *x);
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::pol::PolDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Between stages
//===----------------------------------------------------------------------===//

def VerifyStage : Pass<"pol-verify-stage", "::mlir::ModuleOp"> {
  let summary = "check what may remain after a stage";
  let description = [{
    Reports the first op or type that the stage should have removed:

    | stage | gone |
    | --- | --- |
    | `describe` | descriptions, bundles, duplicated values, verbs |
    | `materialize` | tensors |
    | `place` | frames, captures, allocations |
    | `expand` | kernel ops |
    | `target` | carves, retracts and checks whose status is unused, structured control flow |

    ```
    pol-opt in.mlir --pol-verify-stage=stage=place
    ```
  }];
  let options = [
    Option<"stage", "stage", "std::string", "\"describe\"",
           "describe, materialize, place, expand or target">
  ];
}

#endif // POL_TRANSFORMS_TARGETPASSES_TD
