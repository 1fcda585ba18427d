//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The passes between a program as it is written and kernels in their places, in
// the order in which the pipelines run them.

#ifndef POL_TRANSFORMS_PASSES_TD
#define POL_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Describe
//===----------------------------------------------------------------------===//

def SetTarget : Pass<"pol-set-target", "::mlir::ModuleOp"> {
  let summary = "say which CPU the module is compiled for";
  let description = [{
    The module gets the `#pol.target` of a CPU: that of `x86-64-v2`, `x86-64-v3`,
    `x86-64-v4` or `neon` (any AArch64) with the caches of common machines, or
    that of the `host`, for as many workers as it has processors. With an empty
    name, a target that the module has stays what it is; `none` removes it.
    Descriptions and expansions both depend on the target: it has to be set before
    either.

    ```mlir
    module {
    }
    ```

    becomes

    ```mlir
    module attributes {
        dlti.target_system_spec = #dlti.target_system_spec<
          "CPU" = #dlti.target_device_spec<
            "pol.target" = #pol.target<
              vector_bits = 256, vector_registers = 16, l1_bytes = 32768,
              l2_bytes = 1048576, llc_bytes = 33554432, max_workers = 8,
              f16 = true>>>} {
    }
    ```
  }];
  let options = [
    Option<"cpu", "cpu", "std::string", "\"\"",
           "x86-64-v2, x86-64-v3, x86-64-v4, neon, host or none">,
    Option<"maxWorkers", "max-workers", "int64_t", "0",
           "Workers that may share a kernel; 0 for the CPU's own number">
  ];
  let dependentDialects = ["::mlir::DLTIDialect", "::mlir::pol::PolDialect"];
}

def ExpandApply : Pass<"pol-expand-apply", "::mlir::ModuleOp"> {
  let summary = "write pol.apply out as outputs, frame, scratch and call";
  let description = [{
    An apply becomes the description of its outputs with overrides in place,
    their allocation from the space, and, where the kernel describes scratch, a
    frame on the space in which scratch is allocated and the kernel called.

    ```mlir
    %r = pol.apply @softmax(%x) in %arena
        : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
    ```

    becomes

    ```mlir
    %d = pol.outputs @softmax(%x)
        : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
    %b = pol.alloc %arena, %d
        : !pol.arena, !pol.bundle<{y: !pol.undef<?xf32>}>
        -> !pol.bundle<{y: tensor<?xf32>}>
    %r = pol.frame on %arena : !pol.arena -> tensor<?xf32> {
    ^bb0(%frame: !pol.frame):
      %s = pol.scratch @softmax(%x) in %frame
          : (tensor<?xf32>), !pol.frame -> !pol.bundle<{tmp: tensor<?xf32>}>
      %0 = pol.call @softmax(%x) outputs(%b) scratch(%s)
          : (tensor<?xf32>), !pol.bundle<{y: tensor<?xf32>}>,
            !pol.bundle<{tmp: tensor<?xf32>}> -> tensor<?xf32>
      pol.yield %0 : tensor<?xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::pol::PolDialect"];
}

def ResolveDescriptions : Pass<"pol-resolve-descriptions", "::mlir::ModuleOp"> {
  let summary = "answer what kernels describe, and call them";
  let description = [{
    `pol.outputs`, `pol.checkpoints` and `pol.scratch` become what the kernel
    describes: the body of the function's description, inlined, or what the op's
    static interface says. `pol.call` becomes a `func.call` or the op itself.
    Descriptions of functions are gone afterwards.

    ```mlir
    %d = pol.outputs @softmax(%x)
        : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
    ```

    becomes

    ```mlir
    %u = pol.undef like %x : tensor<?xf32>
    %d = pol.bundle {y = %u : !pol.undef<?xf32>}
    ```
  }];
  let dependentDialects = [
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::pol::PolDialect", "::mlir::tensor::TensorDialect"
  ];
}

def FlattenBundles : Pass<"pol-flatten-bundles", "::mlir::ModuleOp"> {
  let summary = "dissolve bundles, descriptions and duplicated values";
  let description = [{
    A bundle becomes its entries, a description its dynamic extents: in
    functions (argument attributes move along), calls, `scf` and `cf` control
    flow, `arith.select`, frames and captures. What is left of descriptions are
    index values, and every `pol.alloc` allocates one array. A duplicated value
    becomes its primal and its shadow; a kernel that has it as an operand gets
    the one that it takes, which `KernelOpInterface` says. Where a description
    makes an extent static that its `like` has at run time only, the two are
    compared.

    ```mlir
    %b = pol.alloc %s, %d : !pol.arena, !pol.bundle<{y: !pol.undef<?xf32>}>
        -> !pol.bundle<{y: tensor<?xf32>}>
    %w = pol.alloc %s, %e {name = "w"}
        : !pol.arena, !pol.duplicated<tensor<4xbf16>, !pol.undef<4xf32>>
        -> !pol.duplicated<tensor<4xbf16>, tensor<4xf32>>
    ```

    becomes

    ```mlir
    %y = pol.alloc %s[%n] {name = "y"} : !pol.arena -> tensor<?xf32>
    %dw = pol.alloc %s {name = "w.shadow"} : !pol.arena -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"checks", "checks", "bool", "true",
           "Compare at run time what a description makes static">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::pol::PolDialect", "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Materialize
//===----------------------------------------------------------------------===//

def VerifyLifetimes : Pass<"pol-verify-lifetimes", "::mlir::ModuleOp"> {
  let summary = "check that nothing outlives the frame it was allocated from";
  let description = [{
    Follows every buffer through views, destination-style results, structured
    and unstructured control flow, calls and stores, and reports each that is
    reachable after its frame closes, scratch outside a frame, and allocations
    from an outer space inside a parallel region. On memrefs, after
    bufferization, the check is the authority; on tensors it gives the same
    errors earlier.

    ```mlir
    %r = pol.frame on %arena : !pol.arena -> tensor<4xf32> {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f[] : !pol.frame -> tensor<4xf32>
      pol.yield %t : tensor<4xf32>  // error: expected a value that outlives the frame
    }
    ```
  }];
}

def VerifyCheckpoints : Pass<"pol-verify-checkpoints", "::mlir::ModuleOp"> {
  let summary = "check that backward kernels read what forward kernels wrote";
  let description = [{
    Reports a checkpoint operand of a backward kernel that is another kernel's
    result, or another checkpoint, or a buffer that nothing has written, and
    attributes that are not those of the forward kernel that wrote it. Calls
    within the module are followed. What comes from elsewhere, an argument of an
    entry point or a loop say, is taken for what it should be.

    ```mlir
    %r = pol.alloc %arena[%n] : !pol.arena -> tensor<?xf32>
    // error: expected rstd to be the rstd that 'pol.rms_norm' wrote
    %dx = pol.rms_norm_grad ins(%x, %dy : tensor<?x8xf32>, tensor<?x8xf32>)
        checkpoints(%r : tensor<?xf32>) outs(%d : tensor<?x8xf32>)
        -> tensor<?x8xf32>
    ```
  }];
}

def Bufferize : Pass<"pol-bufferize", "::mlir::ModuleOp"> {
  let summary = "turn tensors into memrefs, reporting hidden buffers";
  let description = [{
    One-shot bufferization over function boundaries with identity layouts and
    memory spaces taken from tensor encodings. Every buffer and copy that it
    adds, which no `pol.alloc` asked for, is reported: as a remark, or with
    `strict` as an error. Added buffers come from the thread's heap.

    ```mlir
    %t = pol.alloc %s[] : !pol.arena -> tensor<4xf32>
    ```

    becomes

    ```mlir
    %t = pol.alloc %s[] : !pol.arena -> memref<4xf32>
    ```
  }];
  let options = [
    Option<"strict", "strict", "bool", "false",
           "A buffer or copy that no pol.alloc asked for is an error">,
    Option<"reportHidden", "report-hidden", "bool", "true",
           "Say where buffers and copies were added">
  ];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::pol::PolDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Place
//===----------------------------------------------------------------------===//

def VerifyCapture : Pass<"pol-verify-capture", "::mlir::ModuleOp"> {
  let summary = "check that captures can be replayed on the same addresses";
  let description = [{
    Reports what would give other addresses from run to run for the same shapes
    inside a `pol.capture`, with the calls that lead there: allocations from a
    heap, or from a frame on one, and whatever else changes a heap, buffers that
    bufferization added among them; and allocations from an arena or a frame
    whose size depends on what is read from memory. Functions that are called,
    through a pointer too, are followed. Of an external one, which might
    allocate from any space it is given, it is an error to be given a heap. What
    space the capture starts from is up to the program: the same one, in the
    same state.

    ```mlir
    pol.capture {
      %t = pol.alloc %heap : !pol.heap -> memref<4xf32>  // error: expected no allocation from a heap inside a capture
    }
    ```
  }];
}

def ReleaseBuffers : Pass<"pol-release-buffers", "::mlir::ModuleOp"> {
  let summary = "free heap buffers where they are last needed";
  let description = [{
    A buffer from a space that can free single ones, and that does not leave the
    block it is allocated in, is released after its last use there. A buffer
    that bufferization added and that does leave its block goes when its
    function returns: the thread's heap is marked at its entry and retracted at
    its returns. All others belong to the heap's owner, and what the program
    releases itself is left to it. So each is freed exactly once.

    ```mlir
    %m = pol.alloc %heap[] : !pol.heap -> memref<4xf32>
    memref.store %c, %m[%i] : memref<4xf32>
    pol.release %m in %heap : memref<4xf32>, !pol.heap
    ```
  }];
  let dependentDialects = ["::mlir::pol::PolDialect"];
}

def PromoteFrames : Pass<"pol-promote-frames", "::mlir::ModuleOp"> {
  let summary = "move frames of arrays of static size to the stack";
  let description = [{
    A frame from which only arrays of static size are allocated becomes stack
    buffers, hoisted to the entry of the function or parallel body, as long as
    no chain of calls needs more than `max-stack-bytes`.

    ```mlir
    pol.frame on %arena : !pol.arena {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f[] : !pol.frame -> memref<16xf32>
    }
    ```

    becomes

    ```mlir
    %t = memref.alloca() : memref<16xf32>
    ```
  }];
  let options = [
    Option<"maxStackBytes", "max-stack-bytes", "int64_t", "65536",
           "Bytes of stack that frames may take along any chain of calls">,
    Option<"allocaScope", "alloca-scope", "bool", "false",
           "Emit memref.alloca_scope in place of hoisted stack buffers, for "
           "consumers that lower it themselves">
  ];
  let dependentDialects = [
    "::mlir::memref::MemRefDialect", "::mlir::pol::PolDialect"
  ];
}

def HoistAllocs : Pass<"pol-hoist-allocs", "::mlir::ModuleOp"> {
  let summary = "allocate from outer spaces before frames are opened on them";
  let description = [{
    An allocation from an outer space inside a frame that is open on the same
    memory would go when the frame closes. It is placed before the frame, or
    reported where its size does not allow that.

    ```mlir
    pol.frame on %arena : !pol.arena {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %arena[%n] : !pol.arena -> memref<?xf32>
    }
    ```

    becomes

    ```mlir
    %t = pol.alloc %arena[%n] : !pol.arena -> memref<?xf32>
    pol.frame on %arena : !pol.arena {
    ^bb0(%f: !pol.frame):
    }
    ```
  }];
}

def PlanMemory : Pass<"pol-plan-memory", "::mlir::ModuleOp"> {
  let summary = "give all that a function allocates its place in one slab";
  let description = [{
    Of a function that takes a space, all that it allocates, in frames, branches
    and loops and by calls, gets its place in one slab for the space, whose size
    follows from the shapes that the function is given. Buffers that are never in
    use at once share memory. The function takes the slab in place of the space.
    Where it is called with the space, as a public function is, it carves the
    slab itself, checking once that it fits; the rest of it is another function
    then, `f_in_slab`, if it is also called with slabs.

    Of a public function `f`, `f_footprint` says how large the slab is, given the
    dynamic extents and `index` arguments of `f` in order: in bytes, or -1 where
    that overflows. Of several spaces there are `f_footprint_0`, `f_footprint_1`
    and so on.

    ```mlir
    func.func @f(%arena: !pol.arena, %x: memref<64xf32>) {
      pol.frame on %arena : !pol.arena {
      ^bb0(%frame: !pol.frame):
        %t = pol.alloc %frame[] : !pol.frame -> memref<64xf32>
        memref.copy %x, %t : memref<64xf32> to memref<64xf32>
      }
      return
    }
    ```

    becomes

    ```mlir
    func.func @f(%arena: !pol.arena, %x: memref<64xf32>) {
      %c0 = arith.constant 0 : index
      %bytes = arith.constant 256 : index
      %m = pol.mark %arena : !pol.arena
      %slab, %ok = pol.carve %arena[%bytes] {alignment = 256 : i64,
          kernel = "f", role = #pol.role<slab>} : !pol.arena -> memref<?xi8>
      %t = memref.view %slab[%c0][] : memref<?xi8> to memref<64xf32>
      memref.copy %x, %t : memref<64xf32> to memref<64xf32>
      %done = pol.retract %arena, %m : !pol.arena
      return
    }
    ```

    Where a size depends on data, or nothing is known of what is called, a remark
    says so at its place, the function stays as it is, and so do its callers.
  }];
  let options = [
    Option<"mode", "mode", "std::string", "\"plan\"",
           "plan, or bump: one buffer after the other, as an arena does">,
    Option<"requireFootprint", "require-footprint", "bool", "false",
           "A function whose footprint is not known is an error">,
    Option<"reportUnknown", "report-unknown", "bool", "true",
           "Say why a footprint is not known">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::pol::PolDialect"
  ];
}

def LowerFrames : Pass<"pol-lower-frames", "::mlir::ModuleOp"> {
  let summary = "turn frames into marks and retracts, allocations into carves";
  let description = [{
    A frame becomes a mark and a retract of its space; allocations become carves.
    Buffers that bufferization added in a parallel region go to the worker's
    stack.

    ```mlir
    pol.frame on %arena : !pol.arena {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f[%n] : !pol.frame -> memref<?xf32>
    }
    ```

    becomes

    ```mlir
    %m = pol.mark %arena : !pol.arena
    %t, %ok = pol.carve %arena[%n] : !pol.arena -> memref<?xf32>
    %done = pol.retract %arena, %m : !pol.arena
    ```
  }];
  let dependentDialects = [
    "::mlir::memref::MemRefDialect", "::mlir::pol::PolDialect"
  ];
}

def LowerCaptures : Pass<"pol-lower-captures", "::mlir::ModuleOp"> {
  let summary = "inline the bodies of captures";
  let description = [{
    What is left of a capture is its body. Runs once frames are lowered, which
    may want to know what is in a capture.

    ```mlir
    pol.capture {
      pol.rms_norm ins(%x : memref<?x64xf32>) outs(%y : memref<?x64xf32>)
    }
    ```

    becomes

    ```mlir
    pol.rms_norm ins(%x : memref<?x64xf32>) outs(%y : memref<?x64xf32>)
    ```
  }];
}

def EmitChecks : Pass<"pol-emit-checks", "::mlir::ModuleOp"> {
  let summary = "compare the shapes of kernels' operands at run time";
  let description = [{
    Every kernel on memrefs builds checks of what its verifier cannot see
    (`KernelOpInterface::buildChecks`). A check runs as early as its operands
    are known in the block of its kernel, at best at the start of the function:
    what fails there has changed nothing. It stays in the branch or loop of its
    kernel, but not in a parallel region, which no worker can leave early: a
    check that depends on the iteration there is an error, and so is a call of
    what may fail.

    ```mlir
    pol.rms_norm ins(%x : memref<?x64xf32>) outs(%y : memref<?x64xf32>)
    ```

    becomes

    ```mlir
    %got = memref.dim %y, %c0 : memref<?x64xf32>
    %want = memref.dim %x, %c0 : memref<?x64xf32>
    %ok = pol.check %got eq %want, "extent 0 of y" {kernel = "pol.rms_norm"}
    pol.rms_norm ins(%x : memref<?x64xf32>) outs(%y : memref<?x64xf32>)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::pol::PolDialect", "::mlir::scf::SCFDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Expand
//===----------------------------------------------------------------------===//

def MarkKnownBuffers
    : Pass<"pol-mark-known-buffers", "::mlir::ModuleOp"> {
  let summary = "tell buffers and copies of the program from later ones";
  let description = [{
    Runs before kernels are expanded, for `pol-report-hidden`, which runs
    afterwards: every buffer and copy that is there already gets the attribute
    `pol.known`, and the location of every kernel its name, which what it
    expands to inherits.

    ```mlir
    %t = memref.alloca() : memref<4xf32>
    ```

    becomes

    ```mlir
    %t = memref.alloca() {pol.known} : memref<4xf32>
    ```
  }];
}

def ReportHidden : Pass<"pol-report-hidden", "::mlir::ModuleOp"> {
  let summary = "report buffers and copies that expansion adds";
  let description = [{
    Every buffer and copy without the attribute `pol.known` of
    `pol-mark-known-buffers` is reported: as a remark, or with `strict` as an
    error. Buffers of frames, and those that a description asked for, are not
    hidden, nor are stack buffers of static size within 16 KiB in all for each
    function or body of a parallel loop, the tiles of kernels. The marks are
    gone afterwards.

    ```mlir
    %t = memref.alloc(%n) : memref<?xf32>
    ```
  }];
  let options = [
    Option<"strict", "strict", "bool", "false",
           "A buffer or copy that no pol.alloc asked for is an error">
  ];
}

def HoistStackBuffers : Pass<"pol-hoist-stack-buffers", "::mlir::ModuleOp"> {
  let summary = "move stack buffers out of parallel loops that run in sequence";
  let description = [{
    A stack buffer of static size that a trip of a parallel loop has moves
    before the loop where its trips run in sequence: nothing would give it back
    after a trip. With `threads`, that are loops of one trip. Loops that follow
    each other share buffers. Runs before canonicalization makes loops of one
    trip part of what is around them.

    ```mlir
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %t = memref.alloca() : memref<64xf32>
    }
    ```

    becomes

    ```mlir
    %t = memref.alloca() : memref<64xf32>
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    }
    ```
  }];
  let options = [
    Option<"threads", "threads", "bool", "false",
           "The trips of a parallel loop run on threads, not in sequence">
  ];
}

include "pol/Transforms/TargetPasses.td"
include "pol/Transforms/PrintPasses.td"

#endif // POL_TRANSFORMS_PASSES_TD
