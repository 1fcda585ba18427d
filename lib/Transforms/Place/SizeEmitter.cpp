//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::pol;

Value SizeEmitter::constant(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                      value);
}

Value SizeEmitter::get(Size size) {
  if (Value known = values.lookup(size))
    return known;
  auto isEmitted = [&](Size part) { return values.contains(part); };
  for (Size part : inOrder(size, isEmitted)) {
    SmallVector<Value, 3> operands;
    for (Size operand : part->operands)
      operands.push_back(values.at(operand));
    Value value = emit(part, operands);
    values[part] = value;
  }
  return values.at(size);
}

Value SizeEmitter::getIndex(Size size) {
  Value &index = indices[size];
  if (index)
    return index;
  if (size->isConstant())
    return index = arith::ConstantIndexOp::create(builder, loc, size->value);
  Value value = get(size);
  return index = arith::IndexCastOp::create(builder, loc,
                                            builder.getIndexType(), value);
}

Value SizeEmitter::getBytes(Size size) {
  if (size->isConstant())
    return constant(size->value == SizeExpr::overflow ? -1 : size->value);
  Value bytes = get(size);
  Value isTooLarge =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bytes,
                            constant(SizeExpr::overflow));
  return arith::SelectOp::create(builder, loc, isTooLarge, constant(-1), bytes);
}

/// Nothing here may trap: what is computed may never be used.
Value SizeEmitter::emitDivision(Size size, Value a, Value b) {
  auto compute = [&](Value divisor) -> Value {
    switch (size->op) {
    case SizeOp::DivS:
      return arith::DivSIOp::create(builder, loc, a, divisor);
    case SizeOp::DivU:
      return arith::DivUIOp::create(builder, loc, a, divisor);
    case SizeOp::CeilDivS:
      return arith::CeilDivSIOp::create(builder, loc, a, divisor);
    case SizeOp::CeilDivU:
      return arith::CeilDivUIOp::create(builder, loc, a, divisor);
    case SizeOp::FloorDivS:
      return arith::FloorDivSIOp::create(builder, loc, a, divisor);
    case SizeOp::RemS:
      return arith::RemSIOp::create(builder, loc, a, divisor);
    default:
      return arith::RemUIOp::create(builder, loc, a, divisor);
    }
  };
  Size divisor = size->operands[1];
  if (divisor->isConstant() && divisor->value != 0 && divisor->value != -1)
    return compute(b);
  auto isEqual = [&](int64_t value) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, b,
                                 constant(value));
  };
  auto select = [&](Value condition, Value then, Value otherwise) -> Value {
    return arith::SelectOp::create(builder, loc, condition, then, otherwise);
  };
  bool isSigned = size->op != SizeOp::DivU && size->op != SizeOp::CeilDivU &&
                  size->op != SizeOp::RemU;
  Value isZero = isEqual(0);
  Value safe = select(isZero, constant(1), b);
  if (!isSigned)
    return select(isZero, constant(0), compute(safe));
  Value isMinusOne = isEqual(-1);
  safe = select(isMinusOne, constant(1), safe);
  Value negated = arith::SubIOp::create(builder, loc, constant(0), a);
  Value special = size->op == SizeOp::RemS ? constant(0) : negated;
  return select(isZero, constant(0),
                select(isMinusOne, special, compute(safe)));
}

Value SizeEmitter::emitBytes(Size size, Value a, Value b) {
  Value limit = constant(SizeExpr::overflow);
  auto saturate = [&](Value value) -> Value {
    return arith::MinUIOp::create(builder, loc, value, limit);
  };
  if (size->op == SizeOp::AddBytes)
    return saturate(arith::AddIOp::create(builder, loc, a, b));
  if (size->op == SizeOp::AlignBytes) {
    Value sum = arith::AddIOp::create(builder, loc, a,
                                      constant(SizeExpr::alignment - 1));
    return saturate(arith::AndIOp::create(builder, loc, sum,
                                          constant(-SizeExpr::alignment)));
  }
  auto product = arith::MulUIExtendedOp::create(builder, loc, a, b);
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     product.getHigh(), constant(0));
  return arith::SelectOp::create(builder, loc, fits, saturate(product.getLow()),
                                 limit);
}

static std::optional<arith::CmpIPredicate> getPredicate(SizeOp op) {
  switch (op) {
  case SizeOp::Equal:
    return arith::CmpIPredicate::eq;
  case SizeOp::NotEqual:
    return arith::CmpIPredicate::ne;
  case SizeOp::LessS:
    return arith::CmpIPredicate::slt;
  case SizeOp::LessEqualS:
    return arith::CmpIPredicate::sle;
  case SizeOp::LessU:
    return arith::CmpIPredicate::ult;
  case SizeOp::LessEqualU:
    return arith::CmpIPredicate::ule;
  default:
    return std::nullopt;
  }
}

Value SizeEmitter::emit(Size size, ArrayRef<Value> operands) {
  Value a = operands.empty() ? Value() : operands[0];
  Value b = operands.size() < 2 ? Value() : operands[1];
  if (auto predicate = getPredicate(size->op)) {
    Value holds = arith::CmpIOp::create(builder, loc, *predicate, a, b);
    return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), holds);
  }
  switch (size->op) {
  case SizeOp::Constant:
    return constant(size->value);
  case SizeOp::Parameter:
    return parameters[size->value];
  case SizeOp::Add:
    return arith::AddIOp::create(builder, loc, a, b);
  case SizeOp::Sub:
    return arith::SubIOp::create(builder, loc, a, b);
  case SizeOp::Mul:
    return arith::MulIOp::create(builder, loc, a, b);
  case SizeOp::MinS:
    return arith::MinSIOp::create(builder, loc, a, b);
  case SizeOp::MaxS:
    return arith::MaxSIOp::create(builder, loc, a, b);
  case SizeOp::MinU:
    return arith::MinUIOp::create(builder, loc, a, b);
  case SizeOp::MaxU:
    return arith::MaxUIOp::create(builder, loc, a, b);
  case SizeOp::And:
    return arith::AndIOp::create(builder, loc, a, b);
  case SizeOp::Or:
    return arith::OrIOp::create(builder, loc, a, b);
  case SizeOp::Xor:
    return arith::XOrIOp::create(builder, loc, a, b);
  case SizeOp::Select: {
    Value condition = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne, a, constant(0));
    return arith::SelectOp::create(builder, loc, condition, b, operands[2]);
  }
  case SizeOp::AddBytes:
  case SizeOp::MulBytes:
  case SizeOp::AlignBytes:
    return emitBytes(size, a, b);
  default:
    return emitDivision(size, a, b);
  }
}

SmallVector<Value> mlir::pol::emitSizeParameters(OpBuilder &builder,
                                                 Location loc,
                                                 func::FuncOp function) {
  SmallVector<Value> parameters;
  for (SizeParameter parameter : getSizeParameters(function)) {
    Value value = function.getArgument(parameter.argument);
    if (parameter.dimension >= 0)
      value = memref::DimOp::create(builder, loc, value, parameter.dimension);
    parameters.push_back(
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value));
  }
  return parameters;
}
