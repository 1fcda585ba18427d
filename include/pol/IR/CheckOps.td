//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_CHECKOPS_TD
#define POL_IR_CHECKOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "pol/IR/PolTypes.td"

def Pol_CheckOp : Pol_Op<"check", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "compare what is there with what is expected, at run time";
  let description = [{
    True if the first operand stands to the second as the predicate says: equal
    to it, at most that, at least that, or a multiple of it. If not, the text
    and the kernel say what was wrong, both operands how, and the location
    where: the failure is recorded, with status `POL_SHAPE_MISMATCH`, and
    `pol-thread-status` turns it into an early return of the function.

    ```mlir
    %ok = pol.check %got eq %want, "extent 1 of weight"
        {kernel = "pol.rms_norm"}
    %ok2 = pol.check %heads multiple_of %groups, "extent 1 of q"
    ```

    A check that is known to hold folds to true. All others stay, whether or not
    something looks at the result: they write the record of failures.
  }];
  let arguments = (ins Index:$got, Pol_CheckPredicateAttr:$predicate,
                       Index:$want, StrAttr:$what, OptionalAttr<StrAttr>:$kernel);
  let results = (outs I1:$ok);
  let assemblyFormat = [{
    $got custom<CheckPredicate>($predicate) $want `,` $what attr-dict
  }];
  let builders = [
    OpBuilder<(ins "Value":$got, "CheckPredicate":$predicate, "Value":$want,
                   "StringRef":$what, "StringRef":$kernel), [{
      build($_builder, $_state, $_builder.getI1Type(), got,
            CheckPredicateAttr::get($_builder.getContext(), predicate), want,
            $_builder.getStringAttr(what),
            kernel.empty() ? StringAttr() : $_builder.getStringAttr(kernel));
    }]>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // POL_IR_CHECKOPS_TD
