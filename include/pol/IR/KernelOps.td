//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_KERNELOPS_TD
#define POL_IR_KERNELOPS_TD

include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pol/IR/PolTypes.td"


def Pol_KernelFloat : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
def Pol_KernelBuffer : AnyTypeOf<[
    RankedTensorOf<[Pol_KernelFloat]>, MemRefOf<[Pol_KernelFloat]>],
    "tensor or memref of f16, bf16, f32 or f64">;

class Pol_KernelOp<string mnemonic, list<Trait> traits = []>
    : Pol_Op<mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<Pol_KernelOpInterface, ["buildChecks"]>])> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
}

def Pol_RmsNormOp : Pol_KernelOp<"rms_norm", [
    AttrSizedOperandSegments, Pol_OneOperand<"x", 0>, Pol_OneOperand<"y", 2>]> {
  let summary = "root mean square normalization of the last dimension";
  let description = [{
    For each row of length M, `y = x · rstd · (w + offset)` with
    `rstd = 1/√(mean(x²) + eps)`. Without a weight, `w + offset` is 1 and
    `offset` must be 0.

    | operand | shape | element type |
    | --- | --- | --- |
    | x | [..., M], rank ≥ 1 | f16, bf16, f32, f64 |
    | w, `weight` (optional) | [M] | any of these, no wider than accumulation |
    | y, output | as x | any of these, no wider than accumulation |
    | rstd, checkpoint (optional) | [...] | that of accumulation |

    Accumulation is f64 for f64 inputs, else f32. `eps` ≥ 0 is added inside the
    root, `offset` to the weight, both in the accumulation type. Squares do not
    overflow or vanish whatever finite values x holds. A row of zeros with
    `eps` 0 gives NaN, as the formula does; rows of length 0 have rstd =
    1/√eps. Zhang and Sennrich, *Root Mean Square Layer Normalization*, 2019.

    ```mlir
    %y, %rstd = pol.rms_norm ins(%x, %w : tensor<?x64xf32>, tensor<64xf32>)
        outs(%y0 : tensor<?x64xf32>) checkpoints(%r0 : tensor<?xf32>)
        {eps = 1.0e-6 : f64} -> tensor<?x64xf32>, tensor<?xf32>
    pol.rms_norm ins(%m : memref<8x64xf16>) outs(%n : memref<8x64xf16>)
    ```
  }];
  let arguments = (ins Pol_KernelBuffer:$x, Optional<Pol_KernelBuffer>:$weight,
                       Pol_KernelBuffer:$y, Optional<Pol_KernelBuffer>:$rstd,
                       DefaultValuedAttr<F64Attr, "1.0e-5">:$eps,
                       DefaultValuedAttr<F64Attr, "0.0">:$offset);
  let assemblyFormat = [{
    `ins` `(` $x (`,` $weight^)? `:` type($x) (`,` type($weight)^)? `)`
    `outs` `(` $y `:` type($y) `)`
    (`checkpoints` `(` $rstd^ `:` type($rstd) `)`)?
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable();
    /// Whether an input and a destination may be the same buffer.
    bool mayWorkInPlace(OpOperand &input, OpOperand &destination) {
      return &input == &getXMutable() && &destination == &getYMutable();
    }
  }];
}

#endif // POL_IR_KERNELOPS_TD
