//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How bundles dissolve in functions, calls, scf, cf, arith.select, frames and
// captures.
// Structured control flow has upstream patterns for one-to-many conversion;
// functions (whose argument attributes have to move along), branches, select,
// execute_region and indirect calls have not.

#include "FlattenControlFlow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

bool mlir::pol::canCarryBundles(Operation *op) {
  return isa<func::FuncOp, func::CallOp, func::CallIndirectOp, func::ReturnOp,
             cf::BranchOp, cf::CondBranchOp, cf::SwitchOp, arith::SelectOp,
             scf::IfOp, scf::ForOp, scf::WhileOp, scf::IndexSwitchOp,
             scf::ExecuteRegionOp, scf::YieldOp, scf::ConditionOp>(op);
}

bool mlir::pol::isFlat(Operation *op, const TypeConverter &converter) {
  if (auto function = dyn_cast<func::FuncOp>(op);
      function && !converter.isSignatureLegal(function.getFunctionType()))
    return false;
  return converter.isLegal(op) &&
         llvm::all_of(op->getRegions(), [&](Region &region) {
           return llvm::all_of(region, [&](Block &block) {
             return converter.isLegal(block.getArgumentTypes());
           });
         });
}

static SmallVector<Value> flatten(ArrayRef<ValueRange> values) {
  SmallVector<Value> flat;
  for (ValueRange range : values)
    llvm::append_range(flat, range);
  return flat;
}

/// Groups the results of a flat op by the results of the op it replaces.
static LogicalResult replaceWithGroups(ConversionPatternRewriter &rewriter,
                                       const TypeConverter &converter,
                                       Operation *op, ValueRange flat) {
  SmallVector<SmallVector<Value>> groups;
  for (Type type : op->getResultTypes()) {
    SmallVector<Type> types;
    if (failed(converter.convertType(type, types)))
      return failure();
    groups.push_back(llvm::to_vector(flat.take_front(types.size())));
    flat = flat.drop_front(types.size());
  }
  rewriter.replaceOpWithMultiple(op, std::move(groups));
  return success();
}

namespace {
//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Repeats each attribute dictionary for every value its argument becomes.
ArrayAttr flattenAttrs(const TypeConverter &converter, ArrayAttr attrs,
                       TypeRange types) {
  if (!attrs)
    return attrs;
  SmallVector<Attribute> flat;
  for (auto [attr, type] : llvm::zip_equal(attrs, types)) {
    SmallVector<Type> converted;
    (void)converter.convertType(type, converted);
    // Those of a bundle or pair are about its buffers, and may not fit an
    // extent.
    for (Type part : converted)
      flat.push_back(isa<BundleType, DuplicatedType>(type) && part.isIndex()
                         ? DictionaryAttr::get(attrs.getContext())
                         : attr);
  }
  return ArrayAttr::get(attrs.getContext(), flat);
}

struct FlattenFunc : OpConversionPattern<func::FuncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(func::FuncOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion signature(type.getNumInputs());
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertSignatureArgs(type.getInputs(),
                                                        signature)) ||
        failed(getTypeConverter()->convertTypes(type.getResults(), results)) ||
        (!op.isExternal() &&
         failed(rewriter.convertRegionTypes(&op.getBody(), *getTypeConverter(),
                                            &signature))))
      return rewriter.notifyMatchFailure(op, "its types do not convert");
    ArrayAttr argAttrs = flattenAttrs(*getTypeConverter(), op.getArgAttrsAttr(),
                                      type.getInputs());
    ArrayAttr resAttrs = flattenAttrs(*getTypeConverter(), op.getResAttrsAttr(),
                                      type.getResults());
    rewriter.modifyOpInPlace(op, [&] {
      op.setType(FunctionType::get(op.getContext(),
                                   signature.getConvertedTypes(), results));
      if (argAttrs)
        op.setArgAttrsAttr(argAttrs);
      if (resAttrs)
        op.setResAttrsAttr(resAttrs);
    });
    return success();
  }
};

struct FlattenConstant : OpConversionPattern<func::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(func::ConstantOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<func::ConstantOp>(
        op, getTypeConverter()->convertType(op.getType()), op.getValueAttr());
    return success();
  }
};

/// Upstream's pattern loses the attributes.
struct FlattenCall : OpConversionPattern<func::CallOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(func::CallOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const TypeConverter &converter = *getTypeConverter();
    SmallVector<Type> types;
    if (failed(converter.convertTypes(op.getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "its results do not convert");
    auto call = func::CallOp::create(rewriter, op.getLoc(), op.getCallee(),
                                     types, flatten(adaptor.getOperands()));
    call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    call.setNoInline(op.getNoInline());
    if (ArrayAttr attrs =
            flattenAttrs(converter, op.getArgAttrsAttr(), op.getOperandTypes()))
      call.setArgAttrsAttr(attrs);
    if (ArrayAttr attrs =
            flattenAttrs(converter, op.getResAttrsAttr(), op.getResultTypes()))
      call.setResAttrsAttr(attrs);
    return replaceWithGroups(rewriter, converter, op, call.getResults());
  }
};

struct FlattenCallIndirect : OpConversionPattern<func::CallIndirectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(func::CallIndirectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto call = func::CallIndirectOp::create(
        rewriter, op.getLoc(), adaptor.getCallee().front(),
        flatten(adaptor.getCalleeOperands()));
    return replaceWithGroups(rewriter, *getTypeConverter(), op,
                             call.getResults());
  }
};

//===----------------------------------------------------------------------===//
// Branches and select
//===----------------------------------------------------------------------===//

struct FlattenBranch : OpConversionPattern<cf::BranchOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(cf::BranchOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<cf::BranchOp>(
        op, op.getDest(), flatten(adaptor.getDestOperands()));
    return success();
  }
};

struct FlattenCondBranch : OpConversionPattern<cf::CondBranchOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(cf::CondBranchOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<cf::CondBranchOp>(
        op, adaptor.getCondition().front(),
        flatten(adaptor.getTrueDestOperands()),
        flatten(adaptor.getFalseDestOperands()), op.getBranchWeightsAttr(),
        op.getTrueDest(), op.getFalseDest());
    return success();
  }
};

struct FlattenSwitch : OpConversionPattern<cf::SwitchOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(cf::SwitchOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<SmallVector<Value>> operands;
    for (ArrayRef<ValueRange> values : adaptor.getCaseOperands())
      operands.push_back(flatten(values));
    SmallVector<ValueRange> ranges(operands.begin(), operands.end());
    rewriter.replaceOpWithNewOp<cf::SwitchOp>(
        op, adaptor.getFlag().front(), op.getDefaultDestination(),
        flatten(adaptor.getDefaultOperands()), op.getCaseValuesAttr(),
        op.getCaseDestinations(), ranges);
    return success();
  }
};

struct FlattenSelect : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> selected;
    for (auto [ifTrue, ifFalse] :
         llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      selected.push_back(arith::SelectOp::create(rewriter, op.getLoc(),
                                                 adaptor.getCondition().front(),
                                                 ifTrue, ifFalse));
    rewriter.replaceOpWithMultiple(op, {selected});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// An op whose region moves into a new one with flat results.
template <typename OpTy> struct FlattenRegionOp : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;
  LogicalResult
  matchAndRewrite(OpTy op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const TypeConverter &converter = *this->getTypeConverter();
    SmallVector<Type> types;
    if (failed(converter.convertTypes(op->getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "its results do not convert");
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(flatten(adaptor.getOperands()));
    state.addTypes(types);
    state.addAttributes(op->getAttrs());
    state.addRegion();
    Operation *flat = rewriter.create(state);
    rewriter.inlineRegionBefore(op->getRegion(0), flat->getRegion(0),
                                flat->getRegion(0).end());
    if (failed(rewriter.convertRegionTypes(&flat->getRegion(0), converter)))
      return rewriter.notifyMatchFailure(op, "its region does not convert");
    return replaceWithGroups(rewriter, converter, op, flat->getResults());
  }
};

struct FlattenYield : OpConversionPattern<YieldOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(YieldOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<YieldOp>(op, flatten(adaptor.getValues()));
    return success();
  }
};

struct FlattenScfYield : OpConversionPattern<scf::YieldOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(scf::YieldOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<scf::ExecuteRegionOp>(op->getParentOp()))
      return rewriter.notifyMatchFailure(op, "has an upstream pattern");
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op,
                                              flatten(adaptor.getResults()));
    return success();
  }
};
} // namespace

void mlir::pol::populateFlattenControlFlowPatterns(
    RewritePatternSet &patterns, const TypeConverter &converter,
    ConversionTarget &target) {
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  populateReturnOpTypeConversionPattern(patterns, converter);
  // Upstream takes every yield for legal whose parent it has no pattern for.
  target.addDynamicallyLegalOp<scf::YieldOp>(
      [&converter](scf::YieldOp op) { return converter.isLegal(op); });
  patterns
      .add<FlattenBranch, FlattenCall, FlattenCallIndirect, FlattenCondBranch,
           FlattenConstant, FlattenFunc, FlattenRegionOp<CaptureOp>,
           FlattenRegionOp<FrameOp>, FlattenRegionOp<scf::ExecuteRegionOp>,
           FlattenScfYield, FlattenSelect, FlattenSwitch, FlattenYield>(
          converter, patterns.getContext());
}
