//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_MEMORYOPS_TD
#define POL_IR_MEMORYOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pol/IR/PolTypes.td"

//===----------------------------------------------------------------------===//
// Spaces and frames
//===----------------------------------------------------------------------===//

def Pol_AllocOp : Pol_Op<"alloc", [
    AttrSizedOperandSegments, Pol_OneOperand<"space", 0>]> {
  let summary = "materialize a description in a space";
  let description = [{
    Allocates what is described: an array, or every array of a bundle, name for
    name. Entries of a bundle that are buffers already pass through untouched.
    Contents are undefined. The result is a tensor whose encoding is the memory
    space of the space, or a memref in it. Of a duplicated value, what is still
    a description is allocated: the shadow, or both.

    ```mlir
    %t = pol.alloc %arena, %u : !pol.arena, !pol.undef<?xf32> -> tensor<?xf32>
    %b = pol.alloc %heap, %spec : !pol.heap, !pol.bundle<{y: !pol.undef<f32>}>
        -> !pol.bundle<{y: tensor<f32>}>
    %d = pol.alloc %arena, %x
        : !pol.arena, !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>>
        -> !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
    ```

    The form with extents in place of a description allocates one array; it is
    what descriptions become, on tensors before and on memrefs after
    bufferization.

    ```mlir
    %t = pol.alloc %arena[%n] {kernel = "softmax", name = "y",
                               role = #pol.role<output>}
        : !pol.arena -> tensor<?xf32>
    ```

    `name`, `kernel` and `role` say in reports and errors what the buffer is.
    An allocation has the `Allocate` effect on its results and no other: equal
    ones are not merged, unused ones are removed.
  }];
  let arguments = (ins Pol_AnySpace:$space, Optional<Pol_AnyDescription>:$spec,
                       Variadic<Index>:$extents,
                       OptionalAttr<StrAttr>:$name,
                       OptionalAttr<StrAttr>:$kernel,
                       OptionalAttr<Pol_BufferRoleAttr>:$role);
  let results = (outs Res<AnyTypeOf<[AnyRankedTensor, AnyMemRef,
                                     Pol_BundleType, Pol_DuplicatedType]>,
                          "", [MemAlloc<DefaultResource>]>:$result);
  let assemblyFormat = [{
    $space (`,` $spec^)? (`[` $extents^ `]`)? attr-dict `:` type($space)
    (`,` type($spec)^)? `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "Type":$result, "Value":$space, "ValueRange":$extents), [{
      build($_builder, $_state, result, space, Value(), extents, StringAttr(),
            StringAttr(), BufferRoleAttr());
    }]>
  ];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Pol_FrameOp : Pol_Op<"frame", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
                              ["getRegionInvocationBounds"]>]> {
  let summary = "a scope whose allocations are reclaimed at its end";
  let description = [{
    Opens a frame on a space and runs its body once. Everything allocated from
    the frame is reclaimed when the body ends; nothing allocated from it may be
    reachable afterwards, which `pol-verify-lifetimes` checks. Frames nest, on
    spaces and on other frames.

    ```mlir
    %r = pol.frame on %arena : !pol.arena -> tensor<4xf32> {
    ^bb0(%frame: !pol.frame):
      %t = pol.alloc %frame[] : !pol.frame -> tensor<4xf32>
      %0 = linalg.exp ins(%t : tensor<4xf32>) outs(%y : tensor<4xf32>)
          -> tensor<4xf32>
      pol.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Pol_AnySpace:$space);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `on` $space `:` type($space) (`->` type($results)^)? $body attr-dict
  }];
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "TypeRange":$results, "Value":$space,
                   CArg<"function_ref<void(OpBuilder &, Location, Value)>",
                        "nullptr">:$bodyBuilder)>
  ];
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// The space that the body allocates from.
    BlockArgument getFrame() { return getBody().getArgument(0); }
    YieldOp getYield();
  }];
}

def Pol_CaptureOp : Pol_Op<"capture", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
                              ["getRegionInvocationBounds"]>]> {
  let summary = "a piece of program that is recorded once and replayed";
  let description = [{
    Runs its body once. What records it, as a graph of launches say, may replay
    it on the same addresses: inside, also in what is called, nothing is
    allocated from a heap, and sizes of what is allocated from an arena or a
    frame follow from shapes, which `pol-verify-capture` checks. Captures are in
    frames and frames in captures, but captures do not nest.

    ```mlir
    %r = pol.capture -> tensor<4xf32> {
      %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>)
          -> tensor<4xf32>
      pol.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`->` type($results)^)? $body attr-dict";
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "TypeRange":$results,
                   CArg<"function_ref<void(OpBuilder &, Location)>",
                        "nullptr">:$bodyBuilder)>
  ];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    YieldOp getYield();
  }];
}

def Pol_YieldOp : Pol_Op<"yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["ApplyOp", "AttentionGradOp", "AttentionOp", "CallOp",
                 "CaptureOp", "CheckpointsOp", "FrameOp", "OutputsOp",
                 "ScratchOp"]>]> {
  let summary = "end a region with its results";
  let description = [{
    The values become the results of the frame or capture, or what a kernel's
    region computes.

    ```mlir
    pol.yield %0 : tensor<?xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ValueRange()); }]>];
}

//===----------------------------------------------------------------------===//
// What frames become
//===----------------------------------------------------------------------===//

def Pol_MarkOp : Pol_Op<"mark", []> {
  let summary = "where a space is in its sequence of carves";
  let description = [{
    A snapshot of the space to return to. Does not change the space, but counts
    as a write to it: an alloc does not, and two snapshots with one in between
    must not become one.

    ```mlir
    %m = pol.mark %arena : !pol.arena
    ```
  }];
  let arguments = (ins Arg<Pol_AnySpace, "", [MemRead, MemWrite]>:$space);
  let results = (outs Pol_MarkType:$result);
  let assemblyFormat = "$space attr-dict `:` type($space)";
}

def Pol_RetractOp : Pol_Op<"retract", []> {
  let summary = "reclaim all carved since a mark";
  let description = [{
    Returns the space to the mark. A stale mark, one taken before a reset or one
    above where the space is now, changes nothing and yields false.

    ```mlir
    %ok = pol.retract %arena, %m : !pol.arena
    ```
  }];
  let arguments = (ins Arg<Pol_AnySpace, "", [MemRead, MemWrite]>:$space,
                       Pol_MarkType:$mark);
  let results = (outs I1:$ok);
  let assemblyFormat = "$space `,` $mark attr-dict `:` type($space)";
}

def Pol_ResetOp : Pol_Op<"reset", []> {
  let summary = "reclaim all that was ever carved";
  let description = [{
    Returns the space to its beginning. Marks taken before are stale.

    ```mlir
    pol.reset %arena : !pol.arena
    ```
  }];
  let arguments = (ins Arg<Pol_AnySpace, "", [MemRead, MemWrite]>:$space);
  let assemblyFormat = "$space attr-dict `:` type($space)";
}

def Pol_WatermarkOp : Pol_Op<"watermark", []> {
  let summary = "the most bytes a space has ever held";
  let description = [{
    The peak in bytes; it survives retract and reset. As `pol.mark`, it counts
    as a write.

    ```mlir
    %bytes = pol.watermark %arena : !pol.arena
    ```
  }];
  let arguments = (ins Arg<Pol_AnySpace, "", [MemRead, MemWrite]>:$space);
  let results = (outs I64:$result);
  let assemblyFormat = "$space attr-dict `:` type($space)";
}

def Pol_CarveOp : Pol_Op<"carve", []> {
  let summary = "take a buffer from a space, if it fits";
  let description = [{
    What `pol.alloc` on memrefs becomes once frames are marks and retracts. If
    the space cannot give the buffer, or an extent is negative or the size
    overflows, `ok` is false and the buffer must not be touched.
    `pol-thread-status` turns that into an early return of the function.
    `alignment`, of the address, is a power of two.

    ```mlir
    %m, %ok = pol.carve %arena[%n] : !pol.arena -> memref<?xf32>
    ```
  }];
  let arguments = (ins Arg<Pol_AnySpace, "", [MemRead, MemWrite]>:$space,
                       Variadic<Index>:$extents,
                       OptionalAttr<StrAttr>:$name,
                       OptionalAttr<StrAttr>:$kernel,
                       OptionalAttr<Pol_BufferRoleAttr>:$role,
                       OptionalAttr<I64Attr>:$alignment);
  let results = (outs AnyMemRef:$buffer, I1:$ok);
  let assemblyFormat = [{
    $space (`[` $extents^ `]`)? attr-dict `:` type($space) `->` type($buffer)
  }];
  let hasVerifier = 1;
}

def Pol_TrimOp : Pol_Op<"trim", []> {
  let summary = "give back the end of what was carved last";
  let description = [{
    Keeps the first bytes of a buffer that is the last carved from its space,
    and lets the space have the others again. A space that cannot do so keeps
    them all.

    ```mlir
    pol.trim %slab to %bytes in %arena : memref<?xi8>, !pol.arena
    ```
  }];
  let arguments = (ins AnyMemRef:$buffer, Index:$bytes,
                       Arg<Pol_AnySpace, "", [MemRead, MemWrite]>:$space);
  let assemblyFormat = [{
    $buffer `to` $bytes `in` $space attr-dict `:` type($buffer) `,` type($space)
  }];
}

def Pol_ReleaseOp : Pol_Op<"release", []> {
  let summary = "free one buffer of a heap";
  let description = [{
    Frees a buffer before its space goes. Only spaces whose type says so can.

    ```mlir
    pol.release %m in %heap : memref<?xf32>, !pol.heap
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemFree]>:$buffer,
                       Arg<Pol_AnySpace, "", [MemRead, MemWrite]>:$space);
  let assemblyFormat = [{
    $buffer `in` $space attr-dict `:` type($buffer) `,` type($space)
  }];
  let hasVerifier = 1;
}

def Pol_ThreadHeapOp : Pol_Op<"thread_heap", [Pure]> {
  let summary = "the heap of the running thread";
  let description = [{
    Where buffers that no `pol.alloc` asked for come from.

    ```mlir
    %h = pol.thread_heap : !pol.heap
    ```
  }];
  let results = (outs Pol_HeapType:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

#endif // POL_IR_MEMORYOPS_TD
