//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A dialect of somebody else's: kernels and a space that pol does not know.

#ifndef POL_TEST_LIB_TESTPOLOPS_TD
#define POL_TEST_LIB_TESTPOLOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pol/IR/DifferentiableOpInterface.td"
include "pol/IR/PolInterfaces.td"

def TestPol_Dialect : Dialect {
  let name = "test_pol";
  let cppNamespace = "::mlir::pol::test";
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::pol::PolDialect"];
}

def TestPol_PoolType : TypeDef<TestPol_Dialect, "Pool", [
    DeclareTypeInterfaceMethods<Pol_SpaceTypeInterface, ["canRelease"]>]> {
  let mnemonic = "pool";
  let summary = "a space of a dialect that is not pol";
  let parameters = (ins OptionalParameter<"::mlir::Attribute">:$memorySpace);
  let assemblyFormat = "(`<` $memorySpace^ `>`)?";
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

def TestPol_Buffer : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;

class TestPol_Op<string mnemonic, list<Trait> traits = []>
    : Op<TestPol_Dialect, mnemonic, traits>;

class TestPol_KernelOp<string mnemonic, list<Trait> traits = [],
                       list<string> defaulted = []>
    : TestPol_Op<mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<Pol_KernelOpInterface, defaulted>])> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
}

def TestPol_TiledOp : TestPol_KernelOp<"tiled", [], ["buildChecks"]> {
  let summary = "all roles, dynamic shapes, and an attribute that decides one";
  let description = [{
    Of x[N, M]: output y[N, M], checkpoint maxima[N], scratch tile[block, M] and
    counts[ceil(N / block)]. Scratch may be larger; M is checked to be a
    multiple of N where maxima are asked for.
  }];
  let arguments = (ins TestPol_Buffer:$x, TestPol_Buffer:$y,
                       Optional<TestPol_Buffer>:$maxima, TestPol_Buffer:$tile,
                       TestPol_Buffer:$counts, I64Attr:$block);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $y `:` type($y) `)`
    (`checkpoints` `(` $maxima^ `:` type($maxima) `)`)?
    `scratch` `(` $tile `,` $counts `:` type($tile) `,` type($counts) `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
}

def TestPol_FoldRowsOp : TestPol_KernelOp<"fold_rows"> {
  let summary = "a region that decides the description";
  let description = [{
    Of x[N]: output y[N], scratch lanes[A, N] and trace[T], where A is the
    number of arguments of the region and T that of its ops without the
    terminator.
  }];
  let arguments = (ins TestPol_Buffer:$x, TestPol_Buffer:$y,
                       TestPol_Buffer:$lanes, TestPol_Buffer:$trace);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $y `:` type($y) `)`
    `scratch` `(` $lanes `,` $trace `:` type($lanes) `,` type($trace) `)`
    $body attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
}

def TestPol_FoldYieldOp : TestPol_Op<"fold_yield", [Pure, Terminator]> {
  let summary = "end the region of a `test_pol.fold_rows`";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def TestPol_ScaleOp : TestPol_KernelOp<"scale", [AttrSizedOperandSegments]> {
  let summary = "optional operands";
  let description = [{
    Of x[N], and optionally bias[B] and gain[G]: output y[N], and scratch
    bias_copy[B] and gain_copy[G] for what is present.
  }];
  let arguments = (ins TestPol_Buffer:$x, Optional<TestPol_Buffer>:$bias,
                       Optional<TestPol_Buffer>:$gain, TestPol_Buffer:$y,
                       Optional<TestPol_Buffer>:$bias_copy,
                       Optional<TestPol_Buffer>:$gain_copy);
  let assemblyFormat = [{
    `x` `(` $x `:` type($x) `)` (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`gain` `(` $gain^ `:` type($gain) `)`)? `outs` `(` $y `:` type($y) `)`
    (`bias_copy` `(` $bias_copy^ `:` type($bias_copy) `)`)?
    (`gain_copy` `(` $gain_copy^ `:` type($gain_copy) `)`)?
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
}

def TestPol_BrokenOp : TestPol_KernelOp<"broken"> {
  let summary = "a kernel that answers wrongly, in the way `how` names";
  let description = [{
    `infer`, `shapes` and `build` fail in that method; `count` gives too few
    shapes and `rank` too few extents; `name` describes two buffers of one name;
    `buffer` describes a tensor; `order` scratch before outputs; `hidden` a
    buffer of no role that a caller knows; `results` has one result too few.
    Any other value, or none, gives an output y like x.
  }];
  let arguments = (ins TestPol_Buffer:$x, Variadic<TestPol_Buffer>:$buffers,
                       OptionalAttr<StrAttr>:$how);
  let assemblyFormat = [{
    $x `,` $buffers attr-dict `:` functional-type(operands, $results)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
}

def TestPol_NestedOp : TestPol_KernelOp<"nested"> {
  let summary = "a kernel that describes a bundle";
  let description = [{
    Of x[N]: output pair, a bundle of low[N] and high[N].
  }];
  let arguments = (ins TestPol_Buffer:$x, AnyType:$pair);
  let assemblyFormat = [{
    $x `,` $pair attr-dict `:` functional-type(operands, $results)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
}

def TestPol_Input : AnyTypeOf<[
    AnyRankedTensor, AnyMemRef,
    Type<CPred<"::llvm::isa<::mlir::pol::DuplicatedType>($_self)">,
         "duplicated value">]>;

def TestPol_PullbackOp : TestPol_Op<"pullback", [
    AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<Pol_KernelOpInterface, ["takesShadow"]>]> {
  let summary = "a kernel of duplicated operands that takes one's shadow";
  let description = [{
    Of x[N], y[N], and optionally gain[N]: output dx[N]. Of a duplicated y it
    takes the shadow. A trace is not described.
  }];
  let arguments = (ins TestPol_Input:$x, TestPol_Input:$y,
                       Optional<TestPol_Input>:$gain, TestPol_Buffer:$dx,
                       Optional<TestPol_Buffer>:$trace,
                       OptionalAttr<I64Attr>:$order);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    $x `,` $y (`,` $gain^)? `:` type($x) `,` type($y) (`,` type($gain)^)?
    `outs` `(` $dx `:` type($dx) `)` (`trace` `(` $trace^ `:` type($trace) `)`)?
    $body attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
}

def TestPol_NoKernelOp : TestPol_Op<"no_kernel", [Pure]> {
  let summary = "an op that is no kernel";
  let arguments = (ins Variadic<AnyType>:$inputs);
  let assemblyFormat = "($inputs^ `:` type($inputs))? attr-dict";
}

def TestPol_CubeOp : TestPol_Op<"cube", [
    Pure, AllTypesMatch<["x", "result"]>,
    DeclareOpInterfaceMethods<Pol_DifferentiableOpInterface>]> {
  let summary = "an op that knows its derivative";
  let arguments = (ins AnyFloat:$x);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // POL_TEST_LIB_TESTPOLOPS_TD
