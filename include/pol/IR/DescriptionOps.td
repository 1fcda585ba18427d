//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_DESCRIPTIONOPS_TD
#define POL_IR_DESCRIPTIONOPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pol/IR/PolTypes.td"

//===----------------------------------------------------------------------===//
// Descriptions as values
//===----------------------------------------------------------------------===//

def Pol_UndefOp : Pol_Op<"undef", [Pure, AttrSizedOperandSegments]> {
  let summary = "describe an array";
  let description = [{
    A description of an array that holds no memory: an element type and a shape.
    Dynamic extents are operands. `like` takes what is not given from another
    array or description: the shape, the element type, or both.

    ```mlir
    %a = pol.undef [%n] : !pol.undef<4x?xf32>
    %b = pol.undef like %x : tensor<?xf32>                        // same
    %c = pol.undef like %x : tensor<?xf32> -> !pol.undef<?xf64>   // other type
    %d = pol.undef like %x [%n] : tensor<?xf32> -> !pol.undef<?x2xf32>
    ```

    With `like` and extents, the extents are the shape and the element type is
    the operand's. With `like` and no extents, the result has the operand's
    shape; its element type may differ. Where that makes an extent static, it is
    compared with the operand's at run time.
  }];
  let arguments = (ins Optional<Pol_AnyShaped>:$like, Variadic<Index>:$extents);
  let results = (outs Pol_UndefType:$result);
  let assemblyFormat = [{
    (`like` $like^)? (`[` $extents^ `]`)? attr-dict `:`
    custom<UndefTypes>(ref($like), type($like), type($result))
  }];
  let builders = [
    OpBuilder<(ins "UndefType":$type, "ValueRange":$extents), [{
      build($_builder, $_state, type, Value(), extents);
    }]>,
    OpBuilder<(ins "Value":$like), [{
      auto shaped = ::llvm::cast<ShapedType>(like.getType());
      build($_builder, $_state,
            UndefType::get($_builder.getContext(), shaped.getShape(),
                           shaped.getElementType()),
            like, ValueRange());
    }]>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Whether the shape is that of the `like` operand.
    bool takesShapeOfLike() {
      return getLike() && getExtents().empty() &&
             ::llvm::cast<ShapedType>(getLike().getType()).getRank() ==
                 getType().getRank();
    }
  }];
}

def Pol_DimOp : Pol_Op<"dim", [Pure]> {
  let summary = "extent of a description";
  let description = [{
    The extent of one dimension of a described array. The dimension is a
    constant within the rank.

    ```mlir
    %n = pol.dim %u, 1 : !pol.undef<4x?xf32>
    ```
  }];
  let arguments = (ins Pol_UndefType:$source, I64Attr:$dimension);
  let results = (outs Index:$result);
  let assemblyFormat = [{
    $source `,` $dimension attr-dict `:` qualified(type($source))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Pol_BundleOp : Pol_Op<"bundle", [Pure, InferTypeOpAdaptor]> {
  let summary = "group values by name";
  let description = [{
    Groups descriptions, buffers, duplicated values and bundles by name, in the
    order given.

    ```mlir
    %b = pol.bundle {y = %u : !pol.undef<?xf32>, r = %t : tensor<4xf32>}
    %e = pol.bundle {}
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$elements, StrArrayAttr:$names);
  let results = (outs Pol_BundleType:$result);
  let assemblyFormat = [{
    custom<NamedOperands>($elements, type($elements), $names) attr-dict
  }];
  let builders = [
    OpBuilder<(ins "ArrayRef<StringAttr>":$names, "ValueRange":$elements)>
  ];
  let hasVerifier = 1;
}

def Pol_GetOp : Pol_Op<"get", [Pure, InferTypeOpAdaptor]> {
  let summary = "one entry of a bundle";
  let description = [{
    The entry of that name.

    ```mlir
    %y = pol.get %b, "y" : !pol.bundle<{y: !pol.undef<?xf32>}>
    ```
  }];
  let arguments = (ins Pol_BundleType:$source, StrAttr:$name);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $source `,` $name attr-dict `:` qualified(type($source))
  }];
  let hasFolder = 1;
}

def Pol_MergeOp : Pol_Op<"merge", [Pure, InferTypeOpAdaptor]> {
  let summary = "union of bundles, in which later entries win";
  let description = [{
    All entries of the operands. Where two have an entry of one name, the later
    operand's takes the place of the earlier one's; nested bundles are replaced
    whole, not merged.

    ```mlir
    %m = pol.merge %a, %b
        : !pol.bundle<{x: !pol.undef<2xf32>}>, !pol.bundle<{y: !pol.undef<f32>}>
    ```
  }];
  let arguments = (ins Variadic<Pol_BundleType>:$sources);
  let results = (outs Pol_BundleType:$result);
  let assemblyFormat = "($sources^ `:` type($sources))? attr-dict";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Descriptions of functions
//===----------------------------------------------------------------------===//

def Pol_DescriptionOp : Pol_Op<"description", [
    IsolatedFromAbove, SingleBlock, HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the buffers a function needs";
  let description = [{
    Describes outputs, checkpoints and scratch of a `func.func`, which stays as
    it is. The arguments are the function's arguments that are not described, in
    order. The body may look at their shapes and at scalars, but never at an
    element: it is free of memory effects, and uses a tensor or memref only in
    `tensor.dim`, `memref.dim`, `pol.undef like` and the description ops. Of a
    duplicated argument it looks at `pol.primal` and `pol.shadow`. A function
    has at most one description.

    A backward function says whose gradients it computes: `gradient_of @forward`.
    Then its checkpoints are the forward's, as that describes them, and a
    `pol.call` with those of another kernel, or with some that nothing has
    written, is an error.

    ```mlir
    pol.description for @softmax(%x: tensor<?xf32>) {
      %u = pol.undef like %x : tensor<?xf32>
      pol.describe outputs {y(1) = %u : !pol.undef<?xf32>}
                   scratch {tmp(2) = %u : !pol.undef<?xf32>}
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$function,
                       OptionalAttr<FlatSymbolRefAttr>:$forward);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    DescribeOp getDescribe();
    /// The names, types and roles of the described buffers.
    void getBuffers(SmallVectorImpl<BufferDescription> &buffers);
  }];
}

def Pol_DescribeOp : Pol_Op<"describe", [
    Pure, Terminator, HasParent<"DescriptionOp">]> {
  let summary = "end a description with what it describes";
  let description = [{
    Names each described buffer and the function argument it is passed as. The
    argument is a tensor or memref of the described element type and a
    compatible shape, or a bundle or duplicated value of such. Names are unique.
    A group that is left out is one the kernel does not have.

    ```mlir
    pol.describe outputs {y(1) = %u : !pol.undef<?xf32>}
                 scratch {tmp(2) = %u : !pol.undef<?xf32>}
    ```
  }];
  let arguments = (ins Variadic<Pol_AnyDescription>:$buffers,
                       StrArrayAttr:$names, Pol_BufferRoleArrayAttr:$roles,
                       DenseI64ArrayAttr:$arguments);
  let assemblyFormat = [{
    custom<DescribedBuffers>($buffers, type($buffers), $names, $roles,
                             $arguments) attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Verbs: asking a kernel for its buffers, and calling it
//===----------------------------------------------------------------------===//

def Pol_KernelRef : AnyAttrOf<[FlatSymbolRefAttr,
                               Pol_KernelOpNameAttr],
    "a function's symbol or the name of a registered op">;

class Pol_VerbOp<string mnemonic, list<Trait> traits>
    : Pol_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  code kernelAccessors = [{
    /// What the kernel was asked with.
    KernelInvocation getInvocation();
    /// Which operands of the kernel op `inputs` are; empty if all are present.
    ArrayRef<bool> getPresence() {
      return getPresent() ? *getPresent() : ArrayRef<bool>();
    }
  }];
}

class Pol_DescribingOp<string mnemonic, string cppRole, string spaceRule,
                       string example>
    : Pol_VerbOp<mnemonic, [
        AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the " # mnemonic # " that a kernel describes";
  let description = [{
    Asks a kernel for the buffers of one role. The kernel is a function that has
    a `pol.description`, or a registered op that implements `KernelOpInterface`;
    `none` stands for an optional operand of the op that is absent. Whatever
    decides the description goes along: operands, attributes, regions.

    Without `in`, the result is data: a bundle of descriptions. With `in`, the
    buffers are allocated from that space on the spot. }] # spaceRule # [{
    Asking for a role of which the kernel describes nothing is an error.

    ```mlir}] # example # [{```
  }];
  let arguments = (ins Pol_KernelRef:$kernel, Variadic<AnyType>:$inputs,
                       Optional<Pol_AnySpace>:$space,
                       OptionalAttr<DenseBoolArrayAttr>:$present,
                       OptionalAttr<DictionaryAttr>:$options);
  let results = (outs Pol_BundleType:$result);
  let regions = (region VariadicRegion<AnyRegion>:$kernel_regions);
  let assemblyFormat = [{
    custom<KernelInvocation>($kernel, $inputs, $present, $options,
                             $kernel_regions) (`in` $space^)?
    attr-dict-with-keyword `:`
    custom<DescribingTypes>(type($inputs), ref($space), type($space),
                            type($result))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = kernelAccessors # [{
    static constexpr BufferRole role = }] # cppRole # [{;
  }];
}

def Pol_OutputsOp : Pol_DescribingOp<"outputs", "BufferRole::Output", [{Outputs
    belong to the caller: the space is open for as long as they are used.}], [{
    %d = pol.outputs @softmax(%x)
        : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
    %b = pol.outputs "pol.rms_norm"(%x, none) {eps = 0.0 : f64} in %arena
        : (tensor<?xf32>), !pol.arena -> !pol.bundle<{y: tensor<?xf32>}>
    }]>;
def Pol_CheckpointsOp : Pol_DescribingOp<"checkpoints",
    "BufferRole::Checkpoint", [{Checkpoints
    bridge forward and backward, so the space outlives both.}], [{
    %d = pol.checkpoints "pol.rms_norm"(%x, %w)
        : (tensor<?x64xf16>, tensor<64xf16>)
        -> !pol.bundle<{rstd: !pol.undef<?xf32>}>
    %b = pol.checkpoints "pol.rms_norm"(%x, %w) in %arena
        : (tensor<?x64xf16>, tensor<64xf16>), !pol.arena
        -> !pol.bundle<{rstd: tensor<?xf32>}>
    }]>;
def Pol_ScratchOp : Pol_DescribingOp<"scratch", "BufferRole::Scratch", [{The
    space is a frame, and only a frame: scratch dies with it.}], [{
    %d = pol.scratch @softmax(%x)
        : (tensor<?xf32>) -> !pol.bundle<{tmp: !pol.undef<?xf32>}>
    %b = pol.scratch @softmax(%x) in %frame
        : (tensor<?xf32>), !pol.frame -> !pol.bundle<{tmp: tensor<?xf32>}>
    }]>;

def Pol_CallOp : Pol_VerbOp<"call", [AttrSizedOperandSegments]> {
  let summary = "call a kernel on bundles of buffers";
  let description = [{
    Calls a kernel with its inputs and the buffers it describes, which are taken
    from the bundles by name. A function wants every buffer it describes; an op
    may be called without those that it says it can do without, checkpoints of a
    forward pass and gradients. Results are those of the function or
    op.

    ```mlir
    %r = pol.call @softmax(%x) outputs(%out) scratch(%s)
        : (tensor<?xf32>), !pol.bundle<{y: tensor<?xf32>}>,
          !pol.bundle<{tmp: tensor<?xf32>}> -> tensor<?xf32>
    ```
  }];
  let arguments = (ins Pol_KernelRef:$kernel, Variadic<AnyType>:$inputs,
                       Optional<Pol_BundleType>:$outputs,
                       Optional<Pol_BundleType>:$checkpoints,
                       Optional<Pol_BundleType>:$scratch,
                       OptionalAttr<DenseBoolArrayAttr>:$present,
                       OptionalAttr<DictionaryAttr>:$options);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region VariadicRegion<AnyRegion>:$kernel_regions);
  let assemblyFormat = [{
    custom<KernelInvocation>($kernel, $inputs, $present, $options,
                             $kernel_regions)
    (`outputs` `(` $outputs^ `)`)? (`checkpoints` `(` $checkpoints^ `)`)?
    (`scratch` `(` $scratch^ `)`)? attr-dict-with-keyword `:`
    custom<CallTypes>(type($inputs), ref($outputs), ref($checkpoints),
                      ref($scratch), type($outputs), type($checkpoints),
                      type($scratch), type($results))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = kernelAccessors # [{
    /// The bundle operand that holds the buffers of a role, null if absent.
    Value getBundle(BufferRole role);
  }];
}

def Pol_ApplyOp : Pol_VerbOp<"apply", [
    AttrSizedOperandSegments, Pol_OneOperand<"space", 1>]> {
  let summary = "allocate outputs, then run a kernel in a frame";
  let description = [{
    The allocating form of a kernel: its outputs (and, of a function, its
    checkpoints) come from the space, before a frame on that space is opened;
    its scratch comes from the frame. An output that is overridden is the one
    given, and is never allocated. An op's checkpoints are left out unless the
    results include them.

    ```mlir
    %r = pol.apply @softmax(%x) in %arena
        : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
    %s = pol.apply @softmax(%x) in %arena override {y = %mine : tensor<?xf32>}
        : (tensor<?xf32>), !pol.arena -> tensor<?xf32>
    ```
  }];
  let arguments = (ins Pol_KernelRef:$kernel, Variadic<AnyType>:$inputs,
                       Pol_AnySpace:$space, Variadic<AnyType>:$overrides,
                       OptionalAttr<DenseBoolArrayAttr>:$present,
                       OptionalAttr<DictionaryAttr>:$options,
                       OptionalAttr<StrArrayAttr>:$override_names);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region VariadicRegion<AnyRegion>:$kernel_regions);
  let assemblyFormat = [{
    custom<KernelInvocation>($kernel, $inputs, $present, $options,
                             $kernel_regions) `in` $space
    (`override` custom<NamedOperands>($overrides, type($overrides),
                                      $override_names)^)?
    attr-dict-with-keyword `:`
    custom<ApplyTypes>(type($inputs), type($space), type($results))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = kernelAccessors;
}

#endif // POL_IR_DESCRIPTIONOPS_TD
