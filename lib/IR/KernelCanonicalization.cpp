//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What of a kernel can be left out.

#include "mlir/IR/PatternMatch.h"
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
  /// A bit for each operand of the signature: whether it stays.
  SmallVector<bool> getKept(Operation *op) const;

  const KernelSignature &signature;
};
} // namespace

SmallVector<bool> DropUnused::getKept(Operation *op) const {
  SmallVector<bool> kept;
  bool usesCheckpoints = false;
  unsigned nextResult = 0;
  for (auto [index, operand] : llvm::enumerate(signature.operands)) {
    Value value = getKernelOperand(op, signature, index);
    bool isUsed = true;
    if (value && operand.isDestination() &&
        isa<RankedTensorType>(value.getType()))
      isUsed = !op->getResult(nextResult++).use_empty();
    if (operand.clause == KernelClause::Checkpoints)
      usesCheckpoints |= value && isUsed;
    bool isDuplicated = value && isa<DuplicatedType>(value.getType());
    if (operand.isUnread)
      isUsed = isDuplicated;
    kept.push_back(value && (isUsed || !operand.isOptional));
  }
  // Checkpoints are all or none; a duplicated input has a gradient.
  for (auto [index, operand] : llvm::enumerate(signature.operands)) {
    bool isPresent = getKernelOperand(op, signature, index) != Value();
    Value input =
        operand.gradientOf.empty()
            ? Value()
            : getKernelOperand(op, signature,
                               signature.getIndex(operand.gradientOf));
    if (operand.clause == KernelClause::Checkpoints)
      kept[index] = isPresent && usesCheckpoints;
    else if (input && isa<DuplicatedType>(input.getType()))
      kept[index] = isPresent;
  }
  for (auto [index, operand] : llvm::enumerate(signature.operands))
    if (operand.clause == KernelClause::Scratch)
      kept[index] =
          getKernelOperand(op, signature, index) &&
          signature.anyUser(operand, [&](const KernelOperand &gradient) {
            return kept[signature.getIndex(gradient.name)];
          });
  return kept;
}

LogicalResult DropUnused::matchAndRewrite(Operation *op,
                                          PatternRewriter &rewriter) const {
  SmallVector<bool> kept = getKept(op);
  OperationState state(op->getLoc(), op->getName());
  SmallVector<int32_t> sizes;
  SmallVector<Value> oldResults;
  unsigned nextResult = 0;
  for (auto [index, operand] : llvm::enumerate(signature.operands)) {
    Value value = getKernelOperand(op, signature, index);
    sizes.push_back(kept[index] ? 1 : 0);
    bool hasResult = value && operand.isDestination() &&
                     isa<RankedTensorType>(value.getType());
    Value result = hasResult ? Value(op->getResult(nextResult++)) : Value();
    if (!kept[index])
      continue;
    state.addOperands(value);
    if (!result)
      continue;
    state.addTypes(result.getType());
    oldResults.push_back(result);
  }
  if (state.operands.size() == op->getNumOperands())
    return rewriter.notifyMatchFailure(op, "everything is used");
  state.addAttributes(op->getAttrs());
  state.attributes.set("operandSegmentSizes",
                       rewriter.getDenseI32ArrayAttr(sizes));
  Operation *smaller = rewriter.create(state);
  for (auto [old, result] : llvm::zip_equal(oldResults, smaller->getResults()))
    rewriter.replaceAllUsesWith(old, result);
  rewriter.eraseOp(op);
  return success();
}

void mlir::pol::populateKernelCanonicalizationPatterns(
    RewritePatternSet &patterns, StringRef name,
    const KernelSignature &signature) {
  if (signature.hasOptionalOperands())
    patterns.add<DropUnused>(name, signature, patterns.getContext());
}
