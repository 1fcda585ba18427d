//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What of a kernel can be left out, and what can be told of its operands.

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
/// Leaves out the results of a kernel on tensors that nobody uses, with their
/// destinations and the scratch that is for them alone, and bare operands that
/// are there for their types.
class DropUnused : public RewritePattern {
public:
  DropUnused(StringRef name, const KernelSignature &signature,
             MLIRContext *context)
      : RewritePattern(name, /*benefit=*/1, context), signature(signature) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override;

private:
  /// A bit for each operand of the signature: whether it stays, or any of it.
  SmallVector<bool> getKept(Operation *op) const;
  SmallVector<bool> getKeptValues(Operation *op) const;

  const KernelSignature &signature;
};
} // namespace

/// Whether any of the values of a group is used, or, of one that is no
/// destination, there. `results` are those from the group's on.
static bool isGroupUsed(const KernelOperand &operand, OperandRange values,
                        ResultRange results) {
  for (auto [index, value] : llvm::enumerate(values)) {
    if (!givesResult(operand, value) || !results[index].use_empty())
      return true;
  }
  return false;
}

SmallVector<bool> DropUnused::getKept(Operation *op) const {
  SmallVector<bool> kept;
  bool usesCheckpoints = false;
  unsigned nextResult = 0;
  for (auto [index, operand] : llvm::enumerate(signature.operands)) {
    OperandRange values = getKernelOperands(op, signature, index);
    bool isUsed =
        isGroupUsed(operand, values, op->getResults().drop_front(nextResult));
    if (operand.isDestination())
      nextResult +=
          llvm::count_if(values.getTypes(), llvm::IsaPred<RankedTensorType>);
    if (operand.clause == KernelClause::Checkpoints)
      usesCheckpoints |= isUsed;
    if (operand.isUnread)
      isUsed = llvm::any_of(values.getTypes(), llvm::IsaPred<DuplicatedType>);
    kept.push_back(!values.empty() && (isUsed || !operand.isOptional));
  }
  // Checkpoints are all or none; a duplicated input has a gradient.
  bool hasDuplicatedCapture = llvm::any_of(
      getKernelOperands(op, signature, KernelClause::Captures).getTypes(),
      llvm::IsaPred<DuplicatedType>);
  for (auto [index, operand] : llvm::enumerate(signature.operands)) {
    bool isPresent = !getKernelOperands(op, signature, index).empty();
    Value input =
        operand.gradientOf.empty()
            ? Value()
            : getKernelOperand(op, signature,
                               signature.getIndex(operand.gradientOf));
    bool isShadow = input && isa<DuplicatedType>(input.getType());
    if (operand.clause == KernelClause::CaptureGradients)
      isShadow = hasDuplicatedCapture;
    if (operand.clause == KernelClause::Checkpoints)
      kept[index] = isPresent && usesCheckpoints;
    else if (isShadow)
      kept[index] = isPresent;
  }
  for (auto [index, operand] : llvm::enumerate(signature.operands))
    if (operand.clause == KernelClause::Scratch)
      kept[index] =
          getKernelOperand(op, signature, index) &&
          (operand.usedFor.empty() ||
           signature.anyUser(operand, [&](const KernelOperand &gradient) {
             return kept[signature.getIndex(gradient.name)];
           }));
  return kept;
}

/// The same for each value. Of the gradients of captures some may stay.
SmallVector<bool> DropUnused::getKeptValues(Operation *op) const {
  SmallVector<bool> kept = getKept(op);
  SmallVector<bool> values;
  unsigned nextResult = 0;
  bool hasDuplicated =
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<DuplicatedType>);
  for (auto [index, operand] : llvm::enumerate(signature.operands))
    for (Value value : getKernelOperands(op, signature, index)) {
      bool hasResult = givesResult(operand, value);
      bool isUsed = !hasResult || !op->getResult(nextResult).use_empty();
      nextResult += hasResult;
      bool mayDrop =
          operand.clause == KernelClause::CaptureGradients && !hasDuplicated;
      values.push_back(kept[index] && (isUsed || !mayDrop));
    }
  return values;
}

LogicalResult DropUnused::matchAndRewrite(Operation *op,
                                          PatternRewriter &rewriter) const {
  SmallVector<bool> kept = getKeptValues(op);
  if (!llvm::is_contained(kept, false))
    return rewriter.notifyMatchFailure(op, "everything is used");
  OperationState state(op->getLoc(), op->getName());
  SmallVector<int32_t> sizes;
  SmallVector<Value> oldResults;
  SmallVector<int64_t> numbers;
  auto oldNumbers = op->getAttrOfType<DenseI64ArrayAttr>(kCaptureGradients);
  unsigned nextResult = 0, nextValue = 0;
  for (auto [index, operand] : llvm::enumerate(signature.operands)) {
    sizes.push_back(0);
    for (auto [number, value] :
         llvm::enumerate(getKernelOperands(op, signature, index))) {
      bool hasResult = givesResult(operand, value);
      Value result = hasResult ? Value(op->getResult(nextResult++)) : Value();
      if (!kept[nextValue++])
        continue;
      ++sizes.back();
      state.addOperands(value);
      if (operand.clause == KernelClause::CaptureGradients)
        numbers.push_back(oldNumbers[number]);
      if (!result)
        continue;
      state.addTypes(result.getType());
      oldResults.push_back(result);
    }
  }
  state.addAttributes(op->getAttrs());
  state.attributes.set("operandSegmentSizes",
                       rewriter.getDenseI32ArrayAttr(sizes));
  if (oldNumbers)
    state.attributes.set(kCaptureGradients,
                         rewriter.getDenseI64ArrayAttr(numbers));
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *smaller = rewriter.create(state);
  for (auto [old, result] : llvm::zip_equal(oldResults, smaller->getResults()))
    rewriter.replaceAllUsesWith(old, result);
  rewriter.eraseOp(op);
  return success();
}

namespace {
/// Folds casts of operands that forget extents into kernels with regions.
/// Upstream's pattern for all destination-style ops does not expect a region
/// without blocks, nor types of block arguments that follow from operands.
class FoldCasts : public RewritePattern {
public:
  FoldCasts(StringRef name, const KernelSignature &signature,
            MLIRContext *context)
      : RewritePattern(name, /*benefit=*/2, context), signature(signature) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override;

private:
  void updateArguments(Operation *op) const;

  const KernelSignature &signature;
};
} // namespace

/// Captures are the last arguments of each region.
void FoldCasts::updateArguments(Operation *op) const {
  OperandRange captures =
      getKernelOperands(op, signature, KernelClause::Captures);
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    auto arguments = region.getArguments().take_back(captures.size());
    for (auto [argument, capture] : llvm::zip_equal(arguments, captures))
      argument.setType(getPrimalType(capture.getType()));
  }
}

LogicalResult FoldCasts::matchAndRewrite(Operation *op,
                                         PatternRewriter &rewriter) const {
  bool isAny = false;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    auto cast = operand.getDefiningOp<tensor::CastOp>();
    bool canFold = cast && tensor::canFoldIntoConsumerOp(cast);
    isAny |= canFold;
    operands.push_back(canFold ? cast.getSource() : operand);
  }
  if (!isAny)
    return rewriter.notifyMatchFailure(op, "expected a cast to fold");
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  auto kernel = mlir::cast<DestinationStyleOpInterface>(op);
  for (OpResult result : op->getResults())
    state.addTypes(operands[kernel.getTiedOpOperand(result)->getOperandNumber()]
                       .getType());
  state.addAttributes(op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *folded = rewriter.create(state);
  updateArguments(folded);
  SmallVector<Value> results;
  for (auto [old, result] : llvm::zip(op->getResults(), folded->getResults()))
    results.push_back(rewriter.createOrFold<tensor::CastOp>(
        op->getLoc(), old.getType(), result));
  rewriter.replaceOp(op, results);
  return success();
}

void mlir::pol::populateKernelCanonicalizationPatterns(
    RewritePatternSet &patterns, StringRef name,
    const KernelSignature &signature) {
  MLIRContext *context = patterns.getContext();
  if (signature.hasOptionalOperands())
    patterns.add<DropUnused>(name, signature, context);
  if (!signature.regions.empty())
    patterns.add<FoldCasts>(name, signature, context);
}
