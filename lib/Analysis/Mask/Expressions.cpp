//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pol::mask;

OpKind mlir::pol::mask::getKind(Operation *op) {
  return llvm::TypeSwitch<Operation *, OpKind>(op)
      .Case<arith::AddIOp, index::AddOp>([](auto) { return OpKind::Add; })
      .Case<arith::SubIOp, index::SubOp>([](auto) { return OpKind::Sub; })
      .Case<arith::MulIOp, index::MulOp>([](auto) { return OpKind::Mul; })
      .Case<arith::DivSIOp, index::DivSOp>([](auto) { return OpKind::Div; })
      .Case<arith::DivUIOp, index::DivUOp>([](auto) { return OpKind::DivU; })
      .Case<arith::FloorDivSIOp, index::FloorDivSOp>(
          [](auto) { return OpKind::FloorDiv; })
      .Case<arith::CeilDivSIOp, index::CeilDivSOp>(
          [](auto) { return OpKind::CeilDiv; })
      .Case<arith::CeilDivUIOp, index::CeilDivUOp>(
          [](auto) { return OpKind::CeilDivU; })
      .Case<arith::RemSIOp, index::RemSOp>([](auto) { return OpKind::Rem; })
      .Case<arith::RemUIOp, index::RemUOp>([](auto) { return OpKind::RemU; })
      .Case<arith::AndIOp, index::AndOp>([](auto) { return OpKind::And; })
      .Case<arith::OrIOp, index::OrOp>([](auto) { return OpKind::Or; })
      .Case<arith::XOrIOp, index::XOrOp>([](auto) { return OpKind::Xor; })
      .Case<arith::ShLIOp, index::ShlOp>([](auto) { return OpKind::Shl; })
      .Case<arith::ShRSIOp, index::ShrSOp>([](auto) { return OpKind::Shr; })
      .Case<arith::ShRUIOp, index::ShrUOp>([](auto) { return OpKind::ShrU; })
      .Case<arith::MinSIOp, index::MinSOp>([](auto) { return OpKind::Min; })
      .Case<arith::MaxSIOp, index::MaxSOp>([](auto) { return OpKind::Max; })
      .Case<arith::MinUIOp, index::MinUOp>([](auto) { return OpKind::MinU; })
      .Case<arith::MaxUIOp, index::MaxUOp>([](auto) { return OpKind::MaxU; })
      .Case<math::AbsIOp>([](auto) { return OpKind::Abs; })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp,
            index::CastSOp>([](auto) { return OpKind::Cast; })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, index::CastUOp>(
          [](auto) { return OpKind::CastU; })
      .Case<arith::CmpIOp, index::CmpOp>([](auto) { return OpKind::Compare; })
      .Case<arith::SelectOp>([](auto) { return OpKind::Select; })
      .Case<tensor::ExtractOp, memref::LoadOp>(
          [](auto) { return OpKind::Load; })
      .Case<tensor::DimOp, memref::DimOp>([](auto) { return OpKind::Extent; })
      .Default([](Operation *) { return OpKind::Other; });
}

arith::CmpIPredicate mlir::pol::mask::getPredicate(Operation *compare) {
  if (auto cmp = dyn_cast<arith::CmpIOp>(compare))
    return cmp.getPredicate();
  switch (cast<index::CmpOp>(compare).getPred()) {
  case index::IndexCmpPredicate::EQ:
    return arith::CmpIPredicate::eq;
  case index::IndexCmpPredicate::NE:
    return arith::CmpIPredicate::ne;
  case index::IndexCmpPredicate::SLT:
    return arith::CmpIPredicate::slt;
  case index::IndexCmpPredicate::SLE:
    return arith::CmpIPredicate::sle;
  case index::IndexCmpPredicate::SGT:
    return arith::CmpIPredicate::sgt;
  case index::IndexCmpPredicate::SGE:
    return arith::CmpIPredicate::sge;
  case index::IndexCmpPredicate::ULT:
    return arith::CmpIPredicate::ult;
  case index::IndexCmpPredicate::ULE:
    return arith::CmpIPredicate::ule;
  case index::IndexCmpPredicate::UGT:
    return arith::CmpIPredicate::ugt;
  case index::IndexCmpPredicate::UGE:
    return arith::CmpIPredicate::uge;
  }
  llvm_unreachable("no such predicate");
}

unsigned mlir::pol::mask::getWidth(Type type) {
  if (type.isIndex())
    return 64;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() <= 64 ? integer.getWidth() : 0;
}

std::optional<int64_t> mlir::pol::mask::getConstant(Value value) {
  APInt constant;
  if (getWidth(value.getType()) == 0 ||
      !matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  // Truth is 0 or 1.
  return value.getType().isInteger(1)
             ? static_cast<int64_t>(constant.getZExtValue())
             : constant.getSExtValue();
}

unsigned Dependences::get(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  unsigned on = 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == mask && argument.getArgNumber() < FirstCapture)
      on = 1u << argument.getArgNumber();
  } else {
    for (Value operand : value.getDefiningOp()->getOperands())
      on |= get(operand);
  }
  return known[value] = on;
}
