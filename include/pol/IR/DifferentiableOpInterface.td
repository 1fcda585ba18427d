//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_DIFFERENTIABLEOPINTERFACE_TD
#define POL_IR_DIFFERENTIABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def Pol_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::pol";
  let description = [{
    A scalar op, without side effects, that knows its derivative: from the
    cotangents of its results it builds those of its operands. So far ops of
    arith and math are known (`pol/Differentiation/Derivatives.h`); another
    dialect's ops implement the interface themselves, or by an external model:

    ```c++
    /// softplus(x) = log(1 + exp(x)), whose derivative is logistic(x).
    struct SoftplusModel
        : DifferentiableOpInterface::ExternalModel<SoftplusModel, SoftplusOp> {
      SmallVector<Value> buildDerivative(Operation *op, OpBuilder &builder,
                                         const OpEvaluation &at) const {
        Value slope =
            LogisticOp::create(builder, op->getLoc(), at.operands[0]);
        return {arith::MulFOp::create(builder, op->getLoc(), at.cotangents[0],
                                      slope)};
      }
    };

    registry.addExtension(+[](MLIRContext *context, MyDialect *) {
      SoftplusOp::attachInterface<SoftplusModel>(*context);
    });
    ```

    Where all cotangents of an op are exactly 0, those of its operands are
    taken for 0 whatever the derivative is, infinite or NaN: implementations
    need not see to that.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the cotangents of the operands for one evaluation of the op:
        those of the results, times the derivative. The values to use are the
        evaluation's, not the op's own operands and results, which may be of
        another place. Returns one value for each operand, of the operand's
        type; a null one where nothing flows: for an integer, where the
        derivative is 0 everywhere, or where none is wanted. Where results
        depend on nothing but integers, nothing asks.
      }],
      "::llvm::SmallVector<::mlir::Value>", "buildDerivative",
      (ins "::mlir::OpBuilder &":$builder,
           "const ::mlir::pol::OpEvaluation &":$evaluation)>,
  ];
}

#endif // POL_IR_DIFFERENTIABLEOPINTERFACE_TD
