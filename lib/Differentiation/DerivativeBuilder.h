//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What derivatives are written with.

#ifndef POL_LIB_DIFFERENTIATION_DERIVATIVEBUILDER_H
#define POL_LIB_DIFFERENTIATION_DERIVATIVEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "pol/IR/DifferentiableOpInterface.h"

namespace mlir::pol {

/// Builds arithmetic of one float type, or of vectors of it.
class DerivativeBuilder {
public:
  DerivativeBuilder(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), type(type) {}

  template <typename OpTy, typename... Args> Value create(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  /// Numbers that the type cannot hold are rounded.
  Value constant(double value) {
    Attribute attribute =
        FloatAttr::get(cast<FloatType>(getElementTypeOrSelf(type)), value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attribute = DenseElementsAttr::get(shaped, attribute);
    return create<arith::ConstantOp>(cast<TypedAttr>(attribute));
  }
  Value add(Value a, Value b) { return create<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return create<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return create<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return create<arith::DivFOp>(a, b); }
  Value neg(Value a) { return create<arith::NegFOp>(a); }
  Value scale(Value a, double factor) { return mul(a, constant(factor)); }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return create<arith::CmpFOp>(predicate, a, b);
  }
  Value equalsZero(Value a) {
    return compare(arith::CmpFPredicate::OEQ, a, constant(0.0));
  }
  Value select(Value condition, Value a, Value b) {
    return create<arith::SelectOp>(condition, a, b);
  }
  Type getType() const { return type; }

private:
  OpBuilder &builder;
  Location loc;
  Type type;
};

/// An evaluation of an op of one operand, and the cotangent of its result.
struct UnaryEvaluation {
  Value x, y, cotangent;
};

/// Builds the cotangents of an op's operands.
using DerivativeFn = SmallVector<Value> (*)(DerivativeBuilder &,
                                            const OpEvaluation &);
/// Builds the cotangent of an op's only operand.
using UnaryDerivativeFn = Value (*)(DerivativeBuilder &,
                                    const UnaryEvaluation &);

/// An op whose derivative a function builds, in the type of its results.
template <typename OpTy, DerivativeFn derivative>
struct DerivativeModel : DifferentiableOpInterface::ExternalModel<
                             DerivativeModel<OpTy, derivative>, OpTy> {
  SmallVector<Value> buildDerivative(Operation *op, OpBuilder &builder,
                                     const OpEvaluation &at) const {
    DerivativeBuilder d(builder, op->getLoc(), op->getResult(0).getType());
    return derivative(d, at);
  }
};

/// The same of an op of one operand and one result.
template <typename OpTy, UnaryDerivativeFn derivative>
struct UnaryDerivativeModel
    : DifferentiableOpInterface::ExternalModel<
          UnaryDerivativeModel<OpTy, derivative>, OpTy> {
  SmallVector<Value> buildDerivative(Operation *op, OpBuilder &builder,
                                     const OpEvaluation &at) const {
    DerivativeBuilder d(builder, op->getLoc(), op->getResult(0).getType());
    return {derivative(d, {at.operands[0], at.results[0], at.cotangents[0]})};
  }
};

/// Attaches derivatives to ops.
template <typename OpTy, DerivativeFn derivative>
void attachDerivative(MLIRContext *context) {
  OpTy::template attachInterface<DerivativeModel<OpTy, derivative>>(*context);
}
template <typename OpTy, UnaryDerivativeFn derivative>
void attachDerivative(MLIRContext *context) {
  OpTy::template attachInterface<UnaryDerivativeModel<OpTy, derivative>>(
      *context);
}

/// Those of arith and of math.
void attachArithDerivatives(MLIRContext *context);
void attachMathDerivatives(MLIRContext *context);

} // namespace mlir::pol

#endif // POL_LIB_DIFFERENTIATION_DERIVATIVEBUILDER_H
