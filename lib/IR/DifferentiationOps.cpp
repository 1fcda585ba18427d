//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Primals and their shadows.

#include "mlir/IR/PatternMatch.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// DuplicatedOp
//===----------------------------------------------------------------------===//

void DuplicatedOp::build(OpBuilder &builder, OperationState &state,
                         Value primal, Value shadow) {
  Type type = primal.getType();
  build(builder, state,
        DuplicatedType::get(builder.getContext(), type,
                            shadow ? shadow.getType() : getDescribedType(type)),
        primal, shadow);
}

LogicalResult DuplicatedOp::verify() {
  DuplicatedType type = getType();
  if (getPrimal().getType() != type.getPrimal())
    return emitOpError("expected the primal of ")
           << type << ", but got " << getPrimal().getType();
  if (Value shadow = getShadow()) {
    if (shadow.getType() != type.getShadow())
      return emitOpError("expected the shadow of ")
             << type << ", but got " << shadow.getType();
    return success();
  }
  if (!isa<UndefType>(type.getShadow()))
    return emitOpError("expected a description for the shadow that is not "
                       "given, but got ")
           << type.getShadow();
  return success();
}

OpFoldResult DuplicatedOp::fold(FoldAdaptor) {
  // What is taken apart and put together again is what it was.
  auto primal = getPrimal().getDefiningOp<PrimalOp>();
  auto shadow = getShadow() ? getShadow().getDefiningOp<ShadowOp>() : nullptr;
  if (primal && shadow && primal.getSource() == shadow.getSource())
    return primal.getSource();
  return {};
}

//===----------------------------------------------------------------------===//
// PrimalOp, ShadowOp
//===----------------------------------------------------------------------===//

LogicalResult PrimalOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(getPrimalType(adaptor.getSource().getType()));
  return success();
}

OpFoldResult PrimalOp::fold(FoldAdaptor) {
  if (!isa<DuplicatedType>(getSource().getType()))
    return getSource();
  if (auto duplicated = getSource().getDefiningOp<DuplicatedOp>())
    return duplicated.getPrimal();
  return {};
}

LogicalResult ShadowOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Type source = adaptor.getSource().getType();
  auto duplicated = dyn_cast<DuplicatedType>(source);
  if (!duplicated)
    return emitOptionalError(location, "expected a duplicated value, but got ",
                             source, ", which has no shadow");
  types.push_back(duplicated.getShadow());
  return success();
}

OpFoldResult ShadowOp::fold(FoldAdaptor) {
  if (auto duplicated = getSource().getDefiningOp<DuplicatedOp>())
    if (Value shadow = duplicated.getShadow())
      return shadow;
  return {};
}

namespace {
/// The shadow that a primal alone describes is a description like the primal.
struct DescribeShadow : OpRewritePattern<ShadowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ShadowOp op,
                                PatternRewriter &rewriter) const override {
    auto duplicated = op.getSource().getDefiningOp<DuplicatedOp>();
    if (!duplicated || duplicated.getShadow())
      return rewriter.notifyMatchFailure(op, "its shadow is not described");
    rewriter.replaceOpWithNewOp<UndefOp>(op, op.getType(),
                                         duplicated.getPrimal(), ValueRange());
    return success();
  }
};
} // namespace

void ShadowOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<DescribeShadow>(context);
}
