//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What of a kernel's signature is to be checked at run time.

#include "pol/IR/CaptureLoads.h"
#include "pol/IR/Checks.h"

#include "KernelShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;
using namespace mlir::pol;

namespace {
/// Compares extents of operand after operand with those that came before.
class CheckBuilder {
public:
  CheckBuilder(OpBuilder &builder, Operation *op,
               const KernelSignature &signature)
      : builder(builder), op(op), loc(op->getLoc()), signature(signature) {}

  void build();

private:
  void addOperand(const KernelOperand &operand, Value array);
  OpFoldResult getExtent(char letter);
  OpFoldResult getWanted(char letter, OpFoldResult got);
  void buildDivisibility();
  void buildLengths(const KernelOperand &operand, Value lengths);
  void buildCaptureGradients();
  void buildCaptureSums(const KernelOperand &operand, Value sums);

  OpBuilder &builder;
  Operation *op;
  Location loc;
  const KernelSignature &signature;
  /// What letters stand for, as far as operands have said.
  std::map<char, OpFoldResult> extents;
  SmallVector<OpFoldResult> leading;
  bool hasLeading = false;
};
} // namespace

/// What a letter stands for, as operands have said or as it follows from them.
OpFoldResult CheckBuilder::getExtent(char letter) {
  const DerivedExtent *derived = signature.getDerived(letter);
  if (!derived)
    return extents[letter];
  SmallVector<OpFoldResult> from;
  for (char other : derived->from)
    if (other == '*')
      llvm::append_range(from, leading);
    else
      from.push_back(getExtent(other));
  return derived->build(builder, loc, from, op->getAttrDictionary());
}

/// What an extent has to be; null for the first one of its letter.
OpFoldResult CheckBuilder::getWanted(char letter, OpFoldResult got) {
  if (signature.getDerived(letter))
    return getExtent(letter);
  if (auto found = extents.find(letter); found != extents.end())
    return found->second;
  extents[letter] = got;
  if (!llvm::isLower(letter))
    return OpFoldResult();
  // 1 or the whole.
  OpFoldResult whole = extents[llvm::toUpper(letter)];
  std::optional<int64_t> known = getConstantIntValue(got);
  if (known)
    return *known == 1 ? OpFoldResult() : whole;
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value extent = getValueOrCreateConstantIndexOp(builder, loc, got);
  Value isOne = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      extent, one);
  return arith::SelectOp::create(
             builder, loc, isOne, one,
             getValueOrCreateConstantIndexOp(builder, loc, whole))
      .getResult();
}

void CheckBuilder::addOperand(const KernelOperand &operand, Value array) {
  bool isLeading = operand.shape.starts_with("*");
  StringRef letters = operand.shape.drop_front(isLeading ? 1 : 0);
  int64_t rank = cast<MemRefType>(array.getType()).getRank();
  int64_t numLeading = rank - static_cast<int64_t>(letters.size());
  bool isFirst = isLeading && !hasLeading;
  for (int64_t i = 0; i < rank; ++i) {
    OpFoldResult got = getKnownExtent(builder, loc, array, i);
    OpFoldResult want;
    if (i >= numLeading)
      want = getWanted(letters[i - numLeading], got);
    else if (isFirst)
      leading.push_back(got);
    else
      want = leading[i];
    if (want)
      buildExtentCheck(builder, loc, array, i, want, CheckPredicate::eq,
                       operand.name, signature.name);
  }
  hasLeading |= isLeading;
}

void CheckBuilder::buildDivisibility() {
  if (!signature.dividend)
    return;
  // The first operand has the dividend.
  const KernelOperand &operand = signature.operands.front();
  buildExtentCheck(builder, loc, getKernelOperand(op, signature, 0),
                   operand.shape.find(signature.dividend),
                   getExtent(signature.divisor), CheckPredicate::multiple_of,
                   operand.name, signature.name);
}

Value mlir::pol::buildLeastStep(OpBuilder &builder, Location loc, Value array) {
  if (cast<MemRefType>(array.getType()).getMemorySpace())
    return Value();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = getValueOrCreateConstantIndexOp(
      builder, loc, getKnownExtent(builder, loc, array, 0));
  auto load = [&](OpBuilder &b, Value index) -> Value {
    return arith::IndexCastOp::create(
        b, loc, b.getIndexType(), memref::LoadOp::create(b, loc, array, index));
  };
  auto loop = scf::ForOp::create(
      builder, loc, one, count, one, zero,
      [&](OpBuilder &b, Location, Value index, ValueRange least) {
        Value before = arith::SubIOp::create(b, loc, index, one);
        Value step =
            arith::SubIOp::create(b, loc, load(b, index), load(b, before));
        scf::YieldOp::create(
            b, loc,
            arith::MinSIOp::create(b, loc, least.front(), step).getResult());
      });
  return loop.getResult(0);
}

/// The least and the greatest of the lengths. Those in another memory space are
/// not for this code to read: kernels take them for what is within bounds.
void CheckBuilder::buildLengths(const KernelOperand &operand, Value lengths) {
  if (cast<MemRefType>(lengths.getType()).getMemorySpace())
    return;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = getValueOrCreateConstantIndexOp(
      builder, loc, getKnownExtent(builder, loc, lengths, 0));
  auto loop = scf::ForOp::create(
      builder, loc, zero, count, one, ValueRange{zero, zero},
      [&](OpBuilder &b, Location, Value index, ValueRange running) {
        Value length = arith::IndexCastOp::create(
            b, loc, b.getIndexType(),
            memref::LoadOp::create(b, loc, lengths, index));
        scf::YieldOp::create(
            b, loc,
            ValueRange{arith::MinSIOp::create(b, loc, running[0], length),
                       arith::MaxSIOp::create(b, loc, running[1], length)});
      });
  buildCheck(builder, loc, loop.getResult(0), CheckPredicate::ge,
             builder.getIndexAttr(0), ("the least of " + operand.name).str(),
             signature.name);
  buildCheck(builder, loc, loop.getResult(1), CheckPredicate::le,
             getExtent(operand.bound),
             ("the greatest of " + operand.name).str(), signature.name);
}

/// The gradient of a capture has its extents.
void CheckBuilder::buildCaptureGradients() {
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(kCaptureGradients);
  if (!numbers)
    return;
  OperandRange captures =
      getKernelOperands(op, signature, KernelClause::Captures);
  OperandRange gradients =
      getKernelOperands(op, signature, KernelClause::CaptureGradients);
  for (auto [number, gradient] :
       llvm::zip_equal(numbers.asArrayRef(), gradients))
    for (int64_t i = 0; i < cast<MemRefType>(gradient.getType()).getRank(); ++i)
      buildExtentCheck(builder, loc, gradient, i,
                       getKnownExtent(builder, loc, captures[number], i),
                       CheckPredicate::eq, "a gradient of captures",
                       signature.name);
}

/// There are as many sums as the gradients of captures take.
void CheckBuilder::buildCaptureSums(const KernelOperand &operand, Value sums) {
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(kCaptureGradients);
  Value count = arith::ConstantIndexOp::create(builder, loc, 0);
  if (numbers)
    for (auto [number, gradient] : llvm::zip_equal(
             numbers.asArrayRef(),
             getKernelOperands(op, signature, KernelClause::CaptureGradients)))
      if (isScattered(op->getRegion(0), number))
        count = builder.createOrFold<arith::AddIOp>(
            loc, count, buildNumSums(builder, loc, gradient));
  buildExtentCheck(builder, loc, sums, 0, getAsOpFoldResult(count),
                   CheckPredicate::ge, operand.name, signature.name);
}

void CheckBuilder::build() {
  SmallVector<std::pair<const KernelOperand *, Value>> lengths;
  for (auto [index, operand] : llvm::enumerate(signature.operands)) {
    Value value = getKernelOperand(op, signature, index);
    if (!value || !isa<MemRefType>(value.getType()))
      continue;
    if (operand.isOfSums) {
      buildCaptureSums(operand, value);
      continue;
    }
    addOperand(operand, value);
    if (operand.bound)
      lengths.emplace_back(&operand, value);
  }
  buildDivisibility();
  buildCaptureGradients();
  // Last, as they are read in as many places as there are batches.
  for (auto [operand, value] : lengths)
    buildLengths(*operand, value);
  if (signature.buildMoreChecks)
    signature.buildMoreChecks(builder, op);
}

void mlir::pol::buildKernelChecks(OpBuilder &builder, Operation *op,
                                  const KernelSignature &signature) {
  CheckBuilder(builder, op, getKernelVariant(op, signature)).build();
}
