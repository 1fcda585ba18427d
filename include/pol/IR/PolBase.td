//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_POLBASE_TD
#define POL_IR_POLBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Pol_Dialect : Dialect {
  let name = "pol";
  let cppNamespace = "::mlir::pol";
  let summary = "Buffers described as data, materialized by the caller";
  let description = [{
    In `pol` a kernel describes the buffers it needs as data, holding no memory,
    and the caller decides where they come from.

    `pol.undef` describes an array: element type and shape, no memory.
    `pol.bundle` groups descriptions by name. `pol.alloc` materializes a
    description, or a whole nested bundle of them, against a *space*: a heap, an
    arena, or the frame of a `pol.frame`, which reclaims everything allocated
    from it when it closes. A kernel (any `func.func` that has a
    `pol.description`, or an op that implements `KernelOpInterface`) states
    outputs, checkpoints and scratch. `pol.duplicated` pairs a value with its
    shadow, where its gradient goes.
  }];
  // Folds and canonicalizations build their ops.
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{ void registerTypes(); }];
}

def Pol_BufferRole : I32EnumAttr<"BufferRole",
    "what a kernel uses a buffer for", [
      I32EnumAttrCase<"Output", 0, "output">,
      I32EnumAttrCase<"Checkpoint", 1, "checkpoint">,
      I32EnumAttrCase<"Scratch", 2, "scratch">,
      I32EnumAttrCase<"Hidden", 3, "hidden">,
      I32EnumAttrCase<"Slab", 4, "slab">
    ]> {
  let cppNamespace = "::mlir::pol";
  let genSpecializedAttr = 0;
}

def Pol_BufferRoleAttr : EnumAttr<Pol_Dialect, Pol_BufferRole, "role"> {
  let summary = "what a kernel uses a buffer for";
  let description = [{
    `output` (the caller's), `checkpoint` (from forward to backward), `scratch`
    (dies with its frame), `hidden` (made by a pass, asked for by nobody) or
    `slab` (taken once for all that a function allocates).

    ```mlir
    #pol.role<scratch>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Pol_CausalAlignment : I32EnumAttr<"CausalAlignment",
    "which key a query attends to last", [
      I32EnumAttrCase<"TopLeft", 0, "top_left">,
      I32EnumAttrCase<"BottomRight", 1, "bottom_right">,
      I32EnumAttrCase<"InputPos", 2, "input_pos">
    ]> {
  let cppNamespace = "::mlir::pol";
  let genSpecializedAttr = 0;
}

def Pol_CausalAttr : EnumAttr<Pol_Dialect, Pol_CausalAlignment, "causal"> {
  let summary = "which key a query attends to last";
  let description = [{
    Query s attends to the keys up to s + pos, where pos is 0 (`top_left`), T − S
    (`bottom_right`) or an operand (`input_pos`).

    ```mlir
    #pol.causal<bottom_right>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Pol_CheckPredicate : I32EnumAttr<"CheckPredicate",
    "how what is there has to compare with what is expected", [
      I32EnumAttrCase<"eq", 0>,
      I32EnumAttrCase<"le", 1>,
      I32EnumAttrCase<"ge", 2>,
      I32EnumAttrCase<"multiple_of", 3>
    ]> {
  let cppNamespace = "::mlir::pol";
  let genSpecializedAttr = 0;
}

def Pol_CheckPredicateAttr
    : EnumAttr<Pol_Dialect, Pol_CheckPredicate, "predicate"> {
  let summary = "how what is there has to compare with what is expected";
  let description = [{
    `eq`, `le` (at most), `ge` (at least) or `multiple_of`. Both sides are
    signed; of 0, and of what is negative, only 0 is a multiple.

    ```mlir
    #pol.predicate<multiple_of>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Pol_KernelOpNameAttr : AttrDef<Pol_Dialect, "KernelOpName"> {
  let mnemonic = "kernel";
  let summary = "the name of an op that is a kernel";
  let description = [{
    Reading it loads the dialect of the op. A verifier asks that op for its
    buffers, at a time when no dialect may be loaded. The verbs print it as a
    string.

    ```mlir
    #pol.kernel<"pol.rms_norm">
    ```
  }];
  let parameters = (ins
      AttrParameter<"::mlir::StringAttr", "dialect and op">:$name);
  let hasCustomAssemblyFormat = 1;
}

def Pol_TargetAttr : AttrDef<Pol_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "what code is written for: the machine as far as it matters";
  let description = [{
    The CPU that kernels are expanded for: how wide its vectors are and how many
    registers hold one, the bytes of its caches (`llc`: the last level, shared),
    and how many workers may share a kernel. Work is split by this and by
    shapes, never by how many threads there are at run time. `f16` says whether
    it converts vectors of f16 by itself, and `row_group` how many rows that go
    past the caches are best read and written side by side: 4, or 1 where
    hardware follows few streams, as AMD's does.

    A module carries it as `pol.target` of its device `CPU` in
    `dlti.target_system_spec`; `pol-set-target` puts it there. Without one, it is
    that of `x86-64-v3`.

    ```mlir
    #pol.target<vector_bits = 512, vector_registers = 32, l1_bytes = 49152,
                l2_bytes = 2097152, llc_bytes = 33554432, max_workers = 8,
                f16 = true>
    ```
  }];
  let parameters = (ins "int64_t":$vector_bits, "int64_t":$vector_registers,
                    "int64_t":$l1_bytes, "int64_t":$l2_bytes,
                    "int64_t":$llc_bytes, "int64_t":$max_workers, "bool":$f16,
                    DefaultValuedParameter<"int64_t", "4">:$row_group);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Pol_BufferRoleArrayAttr
    : TypedArrayAttrBase<Pol_BufferRoleAttr, "buffer roles">;

// With AttrSizedOperandSegments, ODS checks how many values the groups of
// optional and variadic operands have, not those of single ones.
class Pol_OneOperand<string operand, int group> : PredOpTrait<
    "there is one operand '" # operand # "'",
    CPred<"getODSOperands(" # group # ").size() == 1">>;

class Pol_Op<string mnemonic, list<Trait> traits = []>
    : Op<Pol_Dialect, mnemonic, traits>;

#endif // POL_IR_POLBASE_TD
