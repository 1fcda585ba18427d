//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_POLTYPES_TD
#define POL_IR_POLTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "pol/IR/PolBase.td"
include "pol/IR/PolInterfaces.td"

class Pol_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Pol_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Pol_UndefType : Pol_Type<"Undef", "undef", [ShapedTypeInterface]> {
  let summary = "description of an array";
  let description = [{
    Element type and shape of an array, holding no memory. Dynamic extents are
    carried by the value. The element type is an integer, index, float or
    complex type.

    ```mlir
    !pol.undef<4x?xf32>
    !pol.undef<f64>
    ```
  }];
  let parameters = (ins
      ArrayRefParameter<"int64_t", "extents, kDynamic where known at run time">
          :$shape,
      TypeParameter<"::mlir::Type", "integer, index, float or complex">
          :$elementType);
  let assemblyFormat = "`<` custom<UndefShape>($shape, $elementType) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasRank() const { return true; }
    ::mlir::ShapedType cloneWith(::std::optional<::llvm::ArrayRef<int64_t>> shape,
                                 ::mlir::Type elementType) const;
  }];
}

def Pol_BundleType : Pol_Type<"Bundle", "bundle"> {
  let summary = "bundle of named values";
  let description = [{
    An ordered list of uniquely named entries. An entry is a description
    (`!pol.undef`), a tensor or memref, a duplicated value, or another bundle.
    Bundles may be empty, and nest at most 64 deep.

    ```mlir
    !pol.bundle<{y: !pol.undef<?xf32>, stats: !pol.bundle<{m: tensor<f32>}>}>
    !pol.bundle<{}>
    ```
  }];
  let parameters = (ins
      ArrayRefParameter<"::mlir::StringAttr", "of the entries, each once">
          :$names,
      ArrayRefParameter<"::mlir::Type", "of the entries">:$types);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    size_t size() const { return getTypes().size(); }
    /// The position of the entry of that name, if there is one.
    ::std::optional<unsigned> find(::llvm::StringRef name) const;
  }];
}

def Pol_DuplicatedType : Pol_Type<"Duplicated", "duplicated"> {
  let summary = "value with its shadow";
  let description = [{
    A primal and its shadow, where the primal's gradient goes: ranked tensors or
    memrefs of floats, or descriptions of them. The shadow is of the primal's
    kind, or a description while it is still to be allocated. It has the
    primal's shape, and the same element type or a wider one. A shadow of the
    primal's type is left out.

    ```mlir
    !pol.duplicated<tensor<4xf32>>
    !pol.duplicated<memref<?xbf16>, memref<?xf32>>
    !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>>
    ```
  }];
  let parameters = (ins
      TypeParameter<"::mlir::Type", "ranked tensor, memref or description">
          :$primal,
      TypeParameter<"::mlir::Type", "the same kind, or a description">
          :$shadow);
  let assemblyFormat = "`<` custom<DuplicatedParts>($primal, $shadow) `>`";
  let genVerifyDecl = 1;
}

class Pol_SpaceType<string name, string typeMnemonic, string isFrame,
                    string canRelease>
    : Pol_Type<name, typeMnemonic, [
        DeclareTypeInterfaceMethods<Pol_SpaceTypeInterface,
            ["isFrame", "canRelease"]>]> {
  let parameters = (ins OptionalParameter<"::mlir::Attribute",
      "of the memrefs that come from the space; the default one if absent">:$memorySpace);
  let assemblyFormat = "(`<` custom<MemorySpace>($memorySpace)^ `>`)?";
  let genVerifyDecl = 1;
  let extraClassDefinition =
    "bool $cppClass::isFrame() const { return " # isFrame # "; }\n" #
    "bool $cppClass::canRelease() const { return " # canRelease # "; }\n" #
    [{
      ::llvm::LogicalResult $cppClass::verify(
          ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
          ::mlir::Attribute memorySpace) {
        return verifyMemorySpace(emitError, memorySpace);
      }
    }];
}

def Pol_HeapType : Pol_SpaceType<"Heap", "heap", "false", "true"> {
  let summary = "heap, a space of single allocations";
  let description = [{
    Every allocation is one of its own. Those that do not leave their block are
    freed in it, after their last use; the others belong to the heap's owner,
    which frees them with the heap. Each is freed exactly once.

    ```mlir
    !pol.heap
    ```
  }];
}

def Pol_ArenaType : Pol_SpaceType<"Arena", "arena", "false", "false"> {
  let summary = "arena, a space carved from one slab";
  let description = [{
    A bump allocator over memory of the caller's. Nothing carved from it is ever
    freed by itself; frames, retract and reset reclaim in bulk. It never grows.

    ```mlir
    !pol.arena
    !pol.arena<#gpu.address_space<global>>
    ```
  }];
}

def Pol_FrameType : Pol_SpaceType<"Frame", "frame", "true", "false"> {
  let summary = "frame, a space that lives as long as its `pol.frame`";
  let description = [{
    What is allocated from a frame is reclaimed when the frame closes. Only a
    frame can hold scratch.

    ```mlir
    !pol.frame
    ```
  }];
}

def Pol_MarkType : Pol_Type<"Mark", "mark"> {
  let summary = "mark, a point in a space's sequence of carves";
  let description = [{
    What `pol.mark` takes and `pol.retract` returns to: offset and epoch.

    ```mlir
    !pol.mark
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

def Pol_AnySpace : Type<
    CPred<"::llvm::isa<::mlir::pol::SpaceTypeInterface>($_self)">,
    "space", "::mlir::pol::SpaceTypeInterface">;
def Pol_AnyDescription : AnyTypeOf<[
    Pol_UndefType, Pol_BundleType, Pol_DuplicatedType], "description">;
def Pol_AnyBuffer : AnyTypeOf<[AnyRankedTensor, AnyMemRef], "buffer">;
def Pol_AnyShaped : AnyTypeOf<[AnyRankedTensor, AnyMemRef, Pol_UndefType],
    "ranked tensor, memref or description">;
def Pol_AnyDifferentiable : AnyTypeOf<[
    Pol_DuplicatedType, AnyRankedTensor, AnyMemRef, Pol_UndefType],
    "duplicated value, ranked tensor, memref or description">;

#endif // POL_IR_POLTYPES_TD
