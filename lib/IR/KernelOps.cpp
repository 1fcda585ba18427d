//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The kernels: their signatures, and what their attributes may be.

#include "pol/IR/AttentionTiling.h"
#include "pol/IR/CaptureLoads.h"
#include "pol/IR/Checks.h"
#include "pol/IR/PolOps.h"
#include "pol/IR/RegionActivity.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::kernel;

/// The value of an attribute in the type that the kernel computes in: it may be
/// infinite or 0 there only.
static APFloat getRounded(Operation *op, FloatAttr value) {
  const KernelOperand first("", KernelClause::Ins, "");
  ShapedType array = getOperandArray(op->getOperand(0).getType(), first);
  APFloat rounded = value.getValue();
  bool losesInfo;
  rounded.convert(
      getAccumulationType(array.getElementType()).getFloatSemantics(),
      APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded;
}

/// Checks an attribute, if it is there, in the type that the kernel computes
/// in.
static LogicalResult verifyOption(Operation *op, StringRef name,
                                  StringRef wanted, FloatAttr value,
                                  function_ref<bool(const APFloat &)> isRight) {
  if (!value)
    return success();
  APFloat rounded = getRounded(op, value);
  if (rounded.isFinite() && isRight(rounded))
    return success();
  InFlightDiagnostic error = op->emitOpError("expected ");
  error << name << " to be " << wanted;
  if (value.getValue().isFinite() && isRight(value.getValue()))
    error << " in "
          << (&rounded.getSemantics() == &APFloat::IEEEdouble() ? "f64"
                                                                : "f32");
  return error << ", but got " << value;
}

static LogicalResult verifyEps(Operation *op, FloatAttr eps) {
  // One that vanishes is as good as 0.
  return verifyOption(
      op, "eps", "finite and not negative", eps, [&](const APFloat &) {
        return !eps.getValue().isNegative() || eps.getValue().isZero();
      });
}

static LogicalResult verifyOffset(Operation *op, FloatAttr offset,
                                  bool hasWeight) {
  if (failed(verifyOption(op, "offset", "finite", offset,
                          [](const APFloat &) { return true; })))
    return failure();
  if (!hasWeight && !offset.getValue().isZero())
    return op->emitOpError("expected no offset where there is no weight, but "
                           "got ")
           << offset;
  return success();
}

//===----------------------------------------------------------------------===//
// RmsNormOp, RmsNormGradOp
//===----------------------------------------------------------------------===//

const KernelSignature &RmsNormOp::getSignature() {
  static constexpr KernelOperand operands[] = {
      in("x", "*M").sharedWith("y"),
      in("weight", "M").optional(),
      out("y", "*M", "x"),
      checkpoint("rstd", "*"),
  };
  static const std::pair<StringRef, double> defaults[] = {{"eps", 1.0e-5},
                                                          {"offset", 0.0}};
  static const KernelSignature signature{"pol.rms_norm", "pol.rms_norm",
                                         operands, defaults};
  return signature;
}

LogicalResult RmsNormOp::verifyOptions() {
  return failure(
      failed(verifyEps(*this, getEpsAttr())) ||
      failed(verifyOffset(*this, getOffsetAttr(), getWeight() != nullptr)));
}

const KernelSignature &RmsNormGradOp::getSignature() {
  static constexpr KernelOperand operands[] = {
      in("x", "*M").sharedWith("dx"),
      in("dy", "*M").cotangent().sharedWith("dx"),
      in("weight", "M").optional(),
      saved("rstd", "*"),
      gradient("dx", "*M", "x", "x"),
      gradient("dweight", "M", "weight", "weight"),
      scratch("dweight_partials", "PM", "dweight"),
  };
  static const std::pair<StringRef, double> defaults[] = {{"offset", 0.0}};
  static const KernelSignature signature{
      "pol.rms_norm_grad", "pol.rms_norm", operands, defaults, 0, 0,
      kRowBlocks};
  return signature;
}

LogicalResult RmsNormGradOp::verifyOptions() {
  return verifyOffset(*this, getOffsetAttr(), getWeight() != nullptr);
}

//===----------------------------------------------------------------------===//
// LayerNormOp, LayerNormGradOp
//===----------------------------------------------------------------------===//

const KernelSignature &LayerNormOp::getSignature() {
  static constexpr KernelOperand operands[] = {
      in("x", "*M").sharedWith("y"), in("weight", "M").optional(),
      in("bias", "M").optional(),    out("y", "*M", "x"),
      checkpoint("mean", "*"),       checkpoint("rstd", "*"),
  };
  static const std::pair<StringRef, double> defaults[] = {{"eps", 1.0e-5}};
  static const KernelSignature signature{"pol.layer_norm", "pol.layer_norm",
                                         operands, defaults};
  return signature;
}

LogicalResult LayerNormOp::verifyOptions() {
  return verifyEps(*this, getEpsAttr());
}

const KernelSignature &LayerNormGradOp::getSignature() {
  static constexpr KernelOperand operands[] = {
      in("x", "*M").sharedWith("dx"),
      in("dy", "*M").cotangent().sharedWith("dx"),
      in("weight", "M").optional(),
      in("bias", "M").unread(),
      saved("mean", "*"),
      saved("rstd", "*"),
      gradient("dx", "*M", "x", "x"),
      gradient("dweight", "M", "weight", "weight"),
      gradient("dbias", "M", "bias", "weight"),
      scratch("dweight_partials", "PM", "dweight"),
      scratch("dbias_partials", "PM", "dbias"),
  };
  static const KernelSignature signature{
      "pol.layer_norm_grad", "pol.layer_norm", operands, {}, 0, 0, kRowBlocks};
  return signature;
}

LogicalResult LayerNormGradOp::verifyOptions() { return success(); }

//===----------------------------------------------------------------------===//
// SoftmaxOp, SoftmaxGradOp
//===----------------------------------------------------------------------===//

const KernelSignature &SoftmaxOp::getSignature() {
  static constexpr KernelOperand operands[] = {
      in("x", "*M").sharedWith("y"),
      out("y", "*M", "x"),
  };
  static const KernelSignature signature{
      "pol.softmax", "pol.softmax", operands, {}};
  return signature;
}

LogicalResult SoftmaxOp::verifyOptions() { return success(); }

const KernelSignature &SoftmaxGradOp::getSignature() {
  static constexpr KernelOperand operands[] = {
      in("y", "*M").sharedWith("dx"),
      in("dy", "*M").cotangent().sharedWith("dx"),
      in("x", "*M").unread(),
      gradient("dx", "*M", "x", "y"),
  };
  static const KernelSignature signature{
      "pol.softmax_grad", "pol.softmax", operands, {}};
  return signature;
}

LogicalResult SoftmaxGradOp::verifyOptions() { return success(); }

//===----------------------------------------------------------------------===//
// AttentionOp, AttentionGradOp
//===----------------------------------------------------------------------===//

/// Checks what changes scores.
template <typename OpTy> static LogicalResult verifyScores(OpTy op) {
  return failure(
      failed(verifyOption(op, "scale", "finite", op.getScaleAttr(),
                          [](const APFloat &) { return true; })) ||
      failed(verifyOption(op, "softcap", "finite and positive",
                          op.getSoftcapAttr(), [](const APFloat &cap) {
                            return !cap.isNegative() && !cap.isZero();
                          })));
}

/// Checks the window of keys that a query keeps.
template <typename OpTy> static LogicalResult verifyWindow(OpTy op) {
  IntegerAttr window = op.getWindowAttr();
  if (window && window.getInt() < 0)
    return op.emitOpError("expected window not to be negative, but got ")
           << window.getInt();
  if (window && !op.getCausal())
    return op.emitOpError("expected window only where causal is given");
  return success();
}

/// Checks the attributes that forward and backward share.
template <typename OpTy> static LogicalResult verifyAttention(OpTy op) {
  if (failed(verifyScores(op)))
    return failure();
  if (op.getPacked() && op.getBias())
    return op.emitOpError("expected no bias where sequences are packed");
  ShapedType q = getOperandArray(op.getQ().getType(),
                                 KernelOperand("", KernelClause::Ins, ""));
  if (op.getPacked() && !q.isDynamicDim(0) && q.getDimSize(0) != 1)
    return op.emitOpError("expected one batch where sequences are packed, but "
                          "got ")
           << q.getDimSize(0);
  bool hasPosition = op.getInputPos() != nullptr;
  bool wantsPosition = op.getCausal() == CausalAlignment::InputPos;
  bool hasRegion = !op.getScore().empty() || !op.getMask().empty();
  bool mayHavePosition = wantsPosition || (hasRegion && !op.getCausal());
  if (hasPosition ? !mayHavePosition : wantsPosition)
    return op.emitOpError(wantsPosition ? "expected an operand input_pos with "
                                          "causal = #pol.causal<input_pos>"
                                        : "expected no operand input_pos "
                                          "without causal = "
                                          "#pol.causal<input_pos>");
  return verifyWindow(op);
}

/// The same where sequences are packed: lengths are then where each sequence
/// begins, and where the last one ends.
template <size_t size>
static std::vector<KernelOperand>
packSequences(const KernelOperand (&operands)[size]) {
  std::vector<KernelOperand> packed(std::begin(operands), std::end(operands));
  for (KernelOperand &operand : packed)
    if (operand.element == KernelElement::Length) {
      operand.shape = "F";
      operand.isOptional = false;
    }
  return packed;
}

/// Sequences begin one after the other, in one batch.
static void buildSequenceChecks(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  StringRef kernel = op->getName().getStringRef();
  buildExtentCheck(builder, loc, op->getOperand(0), 0, builder.getIndexAttr(1),
                   CheckPredicate::eq, "q", kernel);
  auto build = [&](Value offsets, StringRef name) {
    Value steps = buildLeastStep(builder, loc, offsets);
    if (steps)
      buildCheck(builder, loc, steps, CheckPredicate::ge,
                 builder.getIndexAttr(0), ("the least step of " + name).str(),
                 kernel);
  };
  auto buildAll = [&](auto attention) {
    build(attention.getQLengths(), "q_lengths");
    build(attention.getKLengths(), "k_lengths");
  };
  if (auto forward = dyn_cast<AttentionOp>(op))
    buildAll(forward);
  else
    buildAll(cast<AttentionGradOp>(op));
}

static constexpr KernelRegion kRegions[] = {{"score", true}, {"mask", false}};

/// What each op's scratch has extents of.
static ArrayRef<DerivedExtent> getForwardExtents() {
  static const DerivedExtent extents[] = {kTileLists[0], kTileLists[1],
                                          kWorkspace[0], kWorkspace[1]};
  return extents;
}

const KernelSignature &AttentionOp::getSignature() {
  static constexpr KernelOperand operands[] = {
      in("q", "BHSD"),
      in("k", "BKTD"),
      in("v", "BKTE"),
      in("bias", "bhST").optional(),
      in("input_pos", "").of(KernelElement::Index).optional(),
      lengths("q_lengths", 'S'),
      lengths("k_lengths", 'T'),
      captures(),
      out("o", "BHSE", "q"),
      checkpoint("max", "BHS"),
      checkpoint("sum", "BHS"),
      tileList("tiles", "BHQR", ""),
      workspace(""),
  };
  static const std::vector<KernelOperand> packed = packSequences(operands);
  static const KernelSignature ofPacked{"pol.attention",
                                        "pol.attention",
                                        packed,
                                        {},
                                        'H',
                                        'K',
                                        getForwardExtents(),
                                        kRegions,
                                        buildSequenceChecks};
  static const KernelSignature signature{
      "pol.attention",     "pol.attention", operands, {},       'H',      'K',
      getForwardExtents(), kRegions,        nullptr,  "packed", &ofPacked};
  return signature;
}

LogicalResult AttentionOp::verifyOptions() { return verifyAttention(*this); }

static ArrayRef<DerivedExtent> getBackwardExtents() {
  static const DerivedExtent extents[] = {kTileLists[0],     kTileLists[1],
                                          kTileLists[2],     kTileLists[3],
                                          kGradWorkspace[0], kGradWorkspace[1]};
  return extents;
}

const KernelSignature &AttentionGradOp::getSignature() {
  static constexpr KernelOperand operands[] = {
      in("q", "BHSD"),
      in("k", "BKTD"),
      in("v", "BKTE"),
      in("o", "BHSE"),
      in("dout", "BHSE").cotangent(),
      in("bias", "bhST").optional(),
      in("input_pos", "").of(KernelElement::Index).optional(),
      lengths("q_lengths", 'S'),
      lengths("k_lengths", 'T'),
      saved("max", "BHS"),
      saved("sum", "BHS"),
      captures(),
      gradient("dq", "BHSD", "q", "q"),
      gradient("dk", "BKTD", "k", "k"),
      gradient("dv", "BKTE", "v", "v"),
      gradient("dbias", "bhST", "bias", "bias"),
      captureGradients(),
      scratch("delta", "BHS", "dq dk dbias dcaptures"),
      captureSums(),
      tileList("tiles", "BHQR", "dq dbias dcaptures"),
      tileList("key_tiles", "BHUV", "dk dv"),
      workspace("dq dk dv"),
  };
  static const std::vector<KernelOperand> packed = packSequences(operands);
  static const KernelSignature ofPacked{"pol.attention_grad",
                                        "pol.attention",
                                        packed,
                                        {},
                                        'H',
                                        'K',
                                        getBackwardExtents(),
                                        kRegions,
                                        buildSequenceChecks};
  static const KernelSignature signature{
      "pol.attention_grad", "pol.attention", operands, {},       'H',      'K',
      getBackwardExtents(), kRegions,        nullptr,  "packed", &ofPacked};
  return signature;
}

/// Every op between what has a gradient and the score has a derivative.
LogicalResult AttentionGradOp::verifyOptions() {
  if (failed(verifyAttention(*this)))
    return failure();
  if (getScore().empty())
    return success();
  SmallVector<unsigned> arguments;
  for (int64_t number : getCaptureGradients().value_or(ArrayRef<int64_t>()))
    arguments.push_back(number + kFirstScoreCapture);
  Operation *undifferentiable =
      findUndifferentiable(getScore(), getDq() || getDk(), arguments);
  if (!undifferentiable)
    return success();
  return undifferentiable->emitOpError("expected an op with a derivative "
                                       "between a score and what its gradient "
                                       "is for");
}

//===----------------------------------------------------------------------===//
// DecodeAttentionOp
//===----------------------------------------------------------------------===//

LogicalResult DecodeAttentionOp::verifyOptions() {
  if (failed(verifyScores(*this)))
    return failure();
  if (getCausal() && getCausal() != CausalAlignment::BottomRight)
    return emitOpError("expected causal to be #pol.causal<bottom_right>, but "
                       "got ")
           << getCausalAttr();
  if (IntegerAttr splits = getSplitsAttr(); splits && splits.getInt() < 1)
    return emitOpError("expected splits to be positive, but got ")
           << splits.getInt();
  return verifyWindow(*this);
}
