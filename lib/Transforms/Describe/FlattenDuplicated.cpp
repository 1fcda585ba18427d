//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How duplicated values dissolve: into the values of the primal, then those of
// the shadow. A kernel gets the one it takes.

#include "FlattenBundles.h"

using namespace mlir;
using namespace mlir::pol;

ValueRange mlir::pol::getPrimalValues(ValueRange values, DuplicatedType type) {
  return values.take_front(getFlatSize(type.getPrimal()));
}

ValueRange mlir::pol::getShadowValues(ValueRange values, DuplicatedType type) {
  return values.drop_front(getFlatSize(type.getPrimal()));
}

LogicalResult mlir::pol::verifyKernelOperands(Operation *op) {
  auto kernel = cast<KernelOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<DuplicatedType>(operand.get().getType());
    if (!type)
      continue;
    bool takesShadow = kernel.takesShadow(operand);
    Type taken = takesShadow ? type.getShadow() : type.getPrimal();
    if (isa<UndefType>(taken))
      return op->emitOpError("expected the ")
             << (takesShadow ? "shadow" : "primal") << " of operand "
             << operand.getOperandNumber()
             << " to be a tensor or memref, but got " << taken;
  }
  return success();
}

namespace {
struct FlattenDuplicated : OpConversionPattern<DuplicatedOp> {
  FlattenDuplicated(const TypeConverter &converter, MLIRContext *context,
                    bool checks)
      : OpConversionPattern(converter, context), checks(checks) {}

  LogicalResult
  matchAndRewrite(DuplicatedOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values = llvm::to_vector(adaptor.getPrimal());
    if (op.getShadow())
      llvm::append_range(values, adaptor.getShadow());
    else
      llvm::append_range(values,
                         takeExtents(rewriter, op.getLoc(),
                                     cast<ShapedType>(op.getPrimal().getType()),
                                     adaptor.getPrimal(),
                                     cast<UndefType>(op.getType().getShadow()),
                                     checks));
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }

private:
  /// Whether extents that become static are compared with what is there.
  bool checks;
};

struct FlattenPrimal : OpConversionPattern<PrimalOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(PrimalOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ValueRange values = adaptor.getSource();
    if (auto type = dyn_cast<DuplicatedType>(op.getSource().getType()))
      values = getPrimalValues(values, type);
    rewriter.replaceOpWithMultiple(op, {llvm::to_vector(values)});
    return success();
  }
};

struct FlattenShadow : OpConversionPattern<ShadowOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ShadowOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<DuplicatedType>(op.getSource().getType());
    rewriter.replaceOpWithMultiple(
        op, {llvm::to_vector(getShadowValues(adaptor.getSource(), type))});
    return success();
  }
};

/// Each duplicated operand becomes the part that the kernel takes. Nothing else
/// of the op changes.
struct FlattenKernel : OpInterfaceConversionPattern<KernelOpInterface> {
  using OpInterfaceConversionPattern::OpInterfaceConversionPattern;
  LogicalResult
  matchAndRewrite(KernelOpInterface op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> taken;
    for (auto [operand, values] :
         llvm::zip_equal(op->getOpOperands(), operands)) {
      ValueRange part = values;
      if (auto type = dyn_cast<DuplicatedType>(operand.get().getType()))
        part = op.takesShadow(operand) ? getShadowValues(values, type)
                                       : getPrimalValues(values, type);
      if (part.size() != 1)
        return rewriter.notifyMatchFailure(op, "an operand is no buffer");
      taken.push_back(part.front());
    }
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(taken); });
    return success();
  }
};
} // namespace

void mlir::pol::populateFlattenDuplicatedPatterns(
    RewritePatternSet &patterns, const TypeConverter &converter, bool checks) {
  MLIRContext *context = patterns.getContext();
  patterns.add<FlattenDuplicated>(converter, context, checks);
  patterns.add<FlattenPrimal, FlattenShadow, FlattenKernel>(converter, context);
}
