//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Attention's short forms of masks and scores as regions, so that what expands
// attention knows regions alone.

#include "pol/Conversion/AttentionForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "pol/Conversion/Passes.h"
#include "pol/IR/PolOps.h"

namespace mlir::pol {
#define GEN_PASS_DEF_EXPANDATTENTIONFORMS
#include "pol/Conversion/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// What positions and lengths are taken to before anything is added to them: no
/// array is as long.
static constexpr int64_t kFarthest = int64_t(1) << 60;
/// Windows up to here keep what they did once a position is taken to that.
static constexpr int64_t kWidest = kFarthest / 2;

namespace {
/// Rewrites one op. Everything a region needs from outside becomes a capture,
/// which both regions get.
template <typename OpTy> class FormExpansion {
public:
  FormExpansion(RewriterBase &rewriter, OpTy op)
      : rewriter(rewriter), op(op), loc(op.getLoc()),
        captures(op.getCaptures()) {}

  void run();

private:
  static constexpr bool isGradient = std::is_same_v<OpTy, AttentionGradOp>;
  /// The arguments before the captures.
  enum ScoreArgument { Score, ScoreBatch, ScoreHead, ScoreQuery, ScoreKey };
  enum MaskArgument { Batch, Head, QueryAt, KeyAt };

  bool hasScoreForm() { return op.getSoftcapAttr() || op.getBias(); }
  /// Of packed sequences, lengths are no mask but where each one is.
  bool hasLengths() {
    return !op.getPacked() && (op.getQLengths() || op.getKLengths());
  }
  bool hasMaskForm() { return op.getCausal() || hasLengths(); }
  /// A capture's number.
  unsigned capture(Value value) {
    captures.push_back(value);
    return captures.size() - 1;
  }
  Value index(OpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value clamp(OpBuilder &builder, Value value, int64_t least, int64_t most) {
    value = arith::MaxSIOp::create(builder, loc, value, index(builder, least));
    return arith::MinSIOp::create(builder, loc, value, index(builder, most));
  }
  Value compare(OpBuilder &builder, arith::CmpIPredicate predicate, Value a,
                Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }

  void findPosition();
  void findAlignment();
  void findCaptures();
  Value getAligned(OpBuilder &builder, Block &block);
  Value getSpan(OpBuilder &builder, Block &block, unsigned offsets);
  void completeArguments(Region &region, bool isOfScores);
  Value getRow(OpBuilder &builder, Block &block, Value query,
               unsigned numArguments);
  Value getLength(OpBuilder &builder, Value lengths, Value batch);
  void extendMask(Region &region);
  void extendScore(Region &region);
  Value getBias(OpBuilder &builder, Block &block);
  Value getBiasIndex(OpBuilder &builder, Value bias, int64_t dimension,
                     Value index);
  void replace();

  RewriterBase &rewriter;
  OpTy op;
  Location loc;
  SmallVector<Value> captures;
  /// What is added to the rows of queries; null for 0.
  Value position;
  /// Numbers of captures; of `firstKey`, the first one in the window of row 0.
  std::optional<unsigned> rowShift, firstKey, alignment, queryOffsets,
      keyOffsets, queryLengths, keyLengths, bias;
  std::optional<int64_t> knownAlignment;
};
} // namespace

template <typename OpTy> void FormExpansion<OpTy>::findPosition() {
  position = op.getInputPos();
  if (position)
    position = clamp(rewriter, position, -kFarthest, kFarthest);
}

/// What the alignment adds to the position of a query: T − S.
template <typename OpTy> void FormExpansion<OpTy>::findAlignment() {
  if (op.getCausal() != CausalAlignment::BottomRight)
    return;
  if (op.getPacked()) {
    queryOffsets = capture(op.getQLengths());
    keyOffsets = capture(op.getKLengths());
    return;
  }
  int64_t queries = cast<MemRefType>(op.getQ().getType()).getDimSize(2);
  int64_t keys = cast<MemRefType>(op.getK().getType()).getDimSize(2);
  if (!ShapedType::isDynamic(queries) && !ShapedType::isDynamic(keys)) {
    knownAlignment = keys - queries;
    return;
  }
  Value difference = arith::SubIOp::create(
      rewriter, loc, memref::DimOp::create(rewriter, loc, op.getK(), 2),
      memref::DimOp::create(rewriter, loc, op.getQ(), 2));
  alignment = capture(difference);
}

template <typename OpTy> void FormExpansion<OpTy>::findCaptures() {
  findAlignment();
  // A window as wide hides keys of queries as far alone.
  bool isWide = op.getWindowAttr() && op.getWindowAttr().getInt() > kWidest;
  if (isWide && op.getInputPos()) {
    Value least = arith::MaxSIOp::create(rewriter, loc, op.getInputPos(),
                                         index(rewriter, 0));
    Value first = arith::SubIOp::create(
        rewriter, loc, least, index(rewriter, op.getWindowAttr().getInt()));
    firstKey = capture(clamp(rewriter, first, -kFarthest, kFarthest));
  }
  bool isMasked = hasLengths();
  bool usesRows = (isMasked && op.getQLengths()) || op.getBias() || firstKey;
  if (position && usesRows)
    rowShift = capture(position);
  if (isMasked && op.getQLengths())
    queryLengths = capture(op.getQLengths());
  if (isMasked && op.getKLengths())
    keyLengths = capture(op.getKLengths());
  if (op.getBias())
    bias = capture(op.getBias());
}

/// Gives a region the arguments of captures that are new, or, if it is empty,
/// all of them.
template <typename OpTy>
void FormExpansion<OpTy>::completeArguments(Region &region, bool isOfScores) {
  FloatType accumulation = getAccumulationType(
      cast<MemRefType>(op.getQ().getType()).getElementType());
  KernelRegion kind{isOfScores ? "score" : "mask", isOfScores};
  SmallVector<Type> types = getRegionArgumentTypes(
      kind, accumulation, ValueRange(captures).getTypes());
  Block &block = region.empty() ? region.emplaceBlock() : region.front();
  for (Type type : ArrayRef(types).drop_front(block.getNumArguments()))
    block.addArgument(type, loc);
}

/// A query's row in its array.
template <typename OpTy>
Value FormExpansion<OpTy>::getRow(OpBuilder &builder, Block &block, Value query,
                                  unsigned numArguments) {
  if (!rowShift)
    return query;
  // That it is not far is to be seen here, too.
  Value shift = clamp(builder, block.getArgument(numArguments + *rowShift),
                      -kFarthest, kFarthest);
  return arith::SubIOp::create(builder, loc, query, shift);
}

/// How long a packed sequence is.
template <typename OpTy>
Value FormExpansion<OpTy>::getSpan(OpBuilder &builder, Block &block,
                                   unsigned offsets) {
  Value array = block.getArgument(KeyAt + 1 + offsets);
  Value batch = block.getArgument(Batch);
  Value next = arith::AddIOp::create(builder, loc, batch, index(builder, 1));
  return arith::SubIOp::create(builder, loc, getLength(builder, array, next),
                               getLength(builder, array, batch));
}

/// The last key that causality lets a query see.
template <typename OpTy>
Value FormExpansion<OpTy>::getAligned(OpBuilder &builder, Block &block) {
  constexpr unsigned numArguments = KeyAt + 1;
  Value query = block.getArgument(QueryAt);
  Value shift;
  if (queryOffsets)
    shift = clamp(builder,
                  arith::SubIOp::create(builder, loc,
                                        getSpan(builder, block, *keyOffsets),
                                        getSpan(builder, block, *queryOffsets)),
                  -kFarthest, kFarthest);
  else if (alignment)
    shift = clamp(builder, block.getArgument(numArguments + *alignment),
                  -kFarthest, kFarthest);
  else if (knownAlignment.value_or(0) != 0)
    shift = index(builder, *knownAlignment);
  if (!shift)
    return query;
  return arith::AddIOp::create(builder, loc, query, shift);
}

template <typename OpTy>
Value FormExpansion<OpTy>::getLength(OpBuilder &builder, Value lengths,
                                     Value batch) {
  Value length = arith::IndexCastOp::create(
      builder, loc, builder.getIndexType(),
      memref::LoadOp::create(builder, loc, lengths, batch));
  return clamp(builder, length, 0, kFarthest);
}

/// A key is kept where the region keeps it and the short forms do.
template <typename OpTy> void FormExpansion<OpTy>::extendMask(Region &region) {
  bool isNew = region.empty();
  completeArguments(region, /*isOfScores=*/false);
  Block &block = region.front();
  Value kept;
  if (!isNew) {
    kept = block.getTerminator()->getOperand(0);
    rewriter.eraseOp(block.getTerminator());
  }
  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  auto keepWhere = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    Value condition = compare(builder, predicate, a, b);
    kept =
        kept ? arith::AndIOp::create(builder, loc, kept, condition) : condition;
  };
  Value query = block.getArgument(QueryAt);
  Value key = block.getArgument(KeyAt);
  Value last = op.getCausal() ? getAligned(builder, block) : Value();
  if (last)
    keepWhere(arith::CmpIPredicate::sle, key, last);
  constexpr unsigned numArguments = KeyAt + 1;
  if (op.getWindowAttr() && op.getWindowAttr().getInt() <= kWidest) {
    Value window = index(builder, op.getWindowAttr().getInt());
    Value first = arith::SubIOp::create(builder, loc, last, window);
    keepWhere(arith::CmpIPredicate::sge, key, first);
  } else if (firstKey) {
    Value row = getRow(builder, block, query, numArguments);
    Value ofRow0 = clamp(builder, block.getArgument(numArguments + *firstKey),
                         -kFarthest, kFarthest);
    keepWhere(arith::CmpIPredicate::sge, key,
              arith::AddIOp::create(builder, loc, row, ofRow0));
  }
  auto getLengthOf = [&](unsigned lengths) {
    return getLength(builder, block.getArgument(numArguments + lengths),
                     block.getArgument(Batch));
  };
  if (keyLengths)
    keepWhere(arith::CmpIPredicate::slt, key, getLengthOf(*keyLengths));
  if (queryLengths)
    keepWhere(arith::CmpIPredicate::slt,
              getRow(builder, block, query, numArguments),
              getLengthOf(*queryLengths));
  YieldOp::create(builder, loc, kept);
}

/// An index into a dimension of the bias, which may have but one entry.
template <typename OpTy>
Value FormExpansion<OpTy>::getBiasIndex(OpBuilder &builder, Value bias,
                                        int64_t dimension, Value position) {
  int64_t extent = cast<MemRefType>(bias.getType()).getDimSize(dimension);
  if (extent == 1)
    return index(builder, 0);
  if (!ShapedType::isDynamic(extent))
    return position;
  Value last = arith::SubIOp::create(
      builder, loc, memref::DimOp::create(builder, loc, bias, dimension),
      index(builder, 1));
  return arith::MinSIOp::create(builder, loc, position, last);
}

template <typename OpTy>
Value FormExpansion<OpTy>::getBias(OpBuilder &builder, Block &block) {
  constexpr unsigned numArguments = ScoreKey + 1;
  Value array = block.getArgument(numArguments + *bias);
  Value at[] = {
      getBiasIndex(builder, array, 0, block.getArgument(ScoreBatch)),
      getBiasIndex(builder, array, 1, block.getArgument(ScoreHead)),
      getRow(builder, block, block.getArgument(ScoreQuery), numArguments),
      block.getArgument(ScoreKey)};
  Value value = memref::LoadOp::create(builder, loc, array, at);
  Type wanted = block.getArgument(Score).getType();
  if (value.getType() == wanted)
    return value;
  return arith::ExtFOp::create(builder, loc, wanted, value);
}

/// The cap comes before what the region does to the score, the bias after it.
template <typename OpTy> void FormExpansion<OpTy>::extendScore(Region &region) {
  bool isNew = region.empty();
  completeArguments(region, /*isOfScores=*/true);
  Block &block = region.front();
  Value score = block.getArgument(Score);
  Value capped = score;
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  if (FloatAttr softcap = op.getSoftcapAttr()) {
    auto type = cast<FloatType>(score.getType());
    Value cap = arith::ConstantOp::create(
        builder, loc, FloatAttr::get(type, softcap.getValueAsDouble()));
    auto ratio = arith::DivFOp::create(builder, loc, score, cap);
    Value tanh = math::TanhOp::create(builder, loc, ratio);
    capped = arith::MulFOp::create(builder, loc, cap, tanh);
    rewriter.replaceAllUsesExcept(score, capped, ratio);
  }
  Value result = capped;
  if (!isNew) {
    result = block.getTerminator()->getOperand(0);
    rewriter.eraseOp(block.getTerminator());
  }
  builder.setInsertionPointToEnd(&block);
  if (bias)
    result =
        arith::AddFOp::create(builder, loc, result, getBias(builder, block));
  YieldOp::create(builder, loc, result);
}

/// The same op with what it has become.
template <typename OpTy> void FormExpansion<OpTy>::replace() {
  const KernelSignature &signature = OpTy::getSignature();
  OperationState state(loc, OpTy::getOperationName());
  SmallVector<int32_t> sizes;
  SmallVector<Value> captureGradients;
  SmallVector<int64_t> numbers;
  if constexpr (isGradient) {
    llvm::append_range(captureGradients, op.getDcaptures());
    if (auto known = op.getCaptureGradients())
      llvm::append_range(numbers, *known);
    if (op.getDbias()) {
      captureGradients.push_back(op.getDbias());
      numbers.push_back(*bias);
    }
  }
  for (auto [number, operand] : llvm::enumerate(signature.operands)) {
    SmallVector<Value> values(getKernelOperands(op, signature, number));
    if (operand.clause == KernelClause::Captures)
      values = captures;
    else if (operand.clause == KernelClause::CaptureGradients)
      values = captureGradients;
    else if (operand.name == "input_pos" && position)
      values = {position};
    else if (operand.name == "bias" || operand.name == "dbias" ||
             (operand.element == KernelElement::Length && !op.getPacked()))
      values.clear();
    state.addOperands(values);
    sizes.push_back(values.size());
  }
  for (NamedAttribute attribute : op->getAttrs())
    if (!llvm::is_contained({"causal", "window", "softcap"},
                            attribute.getName().getValue()))
      state.attributes.append(attribute);
  state.attributes.set("operandSegmentSizes",
                       rewriter.getDenseI32ArrayAttr(sizes));
  if (!numbers.empty())
    state.attributes.set(kCaptureGradients,
                         rewriter.getDenseI64ArrayAttr(numbers));
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  rewriter.create(state);
  rewriter.eraseOp(op);
}

template <typename OpTy> void FormExpansion<OpTy>::run() {
  if (!hasMaskForm() && !hasScoreForm() && !op.getInputPos())
    return;
  rewriter.setInsertionPoint(op);
  findPosition();
  findCaptures();
  if (hasMaskForm())
    extendMask(op.getMask());
  else if (!op.getMask().empty())
    completeArguments(op.getMask(), /*isOfScores=*/false);
  if (hasScoreForm())
    extendScore(op.getScore());
  else if (!op.getScore().empty())
    completeArguments(op.getScore(), /*isOfScores=*/true);
  replace();
}

void mlir::pol::expandAttentionForms(Operation *root) {
  IRRewriter rewriter(root->getContext());
  root->walk([&](DestinationStyleOpInterface op) {
    if (!op.hasPureBufferSemantics())
      return;
    if (auto forward = dyn_cast<AttentionOp>(op.getOperation()))
      FormExpansion(rewriter, forward).run();
    else if (auto gradient = dyn_cast<AttentionGradOp>(op.getOperation()))
      FormExpansion(rewriter, gradient).run();
  });
}

namespace {
struct ExpandAttentionForms
    : pol::impl::ExpandAttentionFormsBase<ExpandAttentionForms> {
  void runOnOperation() override { expandAttentionForms(getOperation()); }
};
} // namespace
