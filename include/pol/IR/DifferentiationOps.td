//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_DIFFERENTIATIONOPS_TD
#define POL_IR_DIFFERENTIATIONOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pol/IR/PolTypes.td"

def Pol_DuplicatedOp : Pol_Op<"duplicated", [Pure]> {
  let summary = "pair a primal with its shadow";
  let description = [{
    A value together with its shadow, where its gradient goes.

    ```mlir
    %d = pol.duplicated %x, %dx : tensor<?xf32>, tensor<?xf32>
    %w = pol.duplicated %x, %u : tensor<?xf32>, !pol.undef<?xf64>
    ```

    Without a shadow, the result's shadow is a description with the primal's
    extents: like the primal, or, where the result type says so, of wider
    elements or other knowledge of the shape. `pol.alloc` materializes it.

    ```mlir
    %a = pol.duplicated %x : tensor<?xbf16>
    %b = pol.duplicated %x : tensor<?xbf16>
        -> !pol.duplicated<tensor<?xbf16>, !pol.undef<?xf32>>
    ```
  }];
  let arguments = (ins Pol_AnyShaped:$primal, Optional<Pol_AnyShaped>:$shadow);
  let results = (outs Pol_DuplicatedType:$result);
  let assemblyFormat = [{
    $primal (`,` $shadow^)? attr-dict `:`
    custom<DuplicatedTypes>(type($primal), ref($shadow), type($shadow),
                            type($result))
  }];
  let builders = [
    OpBuilder<(ins "Value":$primal, CArg<"Value", "Value()">:$shadow)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Pol_PrimalOp : Pol_Op<"primal", [Pure, InferTypeOpAdaptor]> {
  let summary = "the primal of a value";
  let description = [{
    The primal of a duplicated value. That of a bare one is the value itself, so
    that code can be written for both.

    ```mlir
    %x = pol.primal %d : !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
    %t = pol.primal %bare : tensor<?xf32>
    ```
  }];
  let arguments = (ins Pol_AnyDifferentiable:$source);
  let results = (outs Pol_AnyShaped:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasFolder = 1;
}

def Pol_ShadowOp : Pol_Op<"shadow", [Pure, InferTypeOpAdaptor]> {
  let summary = "the shadow of a duplicated value";
  let description = [{
    The shadow, a description as long as it is not allocated. A bare value has
    none: asking for it is an error.

    ```mlir
    %dx = pol.shadow %d : !pol.duplicated<tensor<?xbf16>, tensor<?xf32>>
    ```
  }];
  let arguments = (ins Pol_AnyDifferentiable:$source);
  let results = (outs Pol_AnyShaped:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // POL_IR_DIFFERENTIATIONOPS_TD
