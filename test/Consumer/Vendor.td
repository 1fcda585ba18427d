//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A dialect with one kernel, which pol's verbs can ask for its buffers.

#ifndef CONSUMER_VENDOR_TD
#define CONSUMER_VENDOR_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "pol/IR/PolInterfaces.td"

def Vendor_Dialect : Dialect {
  let name = "vendor";
  let cppNamespace = "::vendor";
}

def Vendor_TwiceOp : Op<Vendor_Dialect, "twice", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<Pol_KernelOpInterface>]> {
  let summary = "each element, doubled";
  let description = [{
    Of x, of any shape: output y and scratch tmp, both like x.
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y,
                       AnyRankedTensor:$tmp);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $y `,` $tmp attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getYMutable(); }
  }];
}

#endif // CONSUMER_VENDOR_TD
