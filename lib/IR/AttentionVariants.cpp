//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Named masks and scores of attention.

#include "pol/IR/AttentionVariants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// What they are built from
//===----------------------------------------------------------------------===//

static Value buildIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static Value buildFloat(OpBuilder &builder, Location loc, Type type,
                        double value) {
  return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, value));
}

static Value buildCompare(OpBuilder &builder, Location loc,
                          CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, predicate, a, b);
}

/// key − query, as an index.
static Value buildDistance(OpBuilder &builder, Location loc,
                           const AttentionPosition &at) {
  return arith::SubIOp::create(builder, loc, at.key, at.query);
}

/// Extends or truncates a float.
static Value convertFloat(OpBuilder &builder, Location loc, Value value,
                          Type type) {
  if (value.getType() == type)
    return value;
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  if (from > to)
    return arith::TruncFOp::create(builder, loc, type, value);
  // Between the types of 16 bits there is no cast.
  value = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

/// What a capture has to be.
struct CaptureShape {
  StringRef what;
  bool isFloat;
  int64_t minRank, maxRank;

  bool fits(Type type) const {
    int64_t rank = 0;
    if (auto shaped = dyn_cast<ShapedType>(type)) {
      if (!isa<RankedTensorType, MemRefType>(shaped))
        return false;
      rank = shaped.getRank();
    }
    Type element = getElementTypeOrSelf(type);
    return rank >= minRank && rank <= maxRank &&
           (isFloat ? isa<FloatType>(element) : element.isIntOrIndex());
  }
};

static constexpr CaptureShape kLength = {"a length", false, 0, 1};
static constexpr CaptureShape kIds = {"ids", false, 1, 2};
static constexpr CaptureShape kSlopes = {"slopes", true, 1, 1};
static constexpr CaptureShape kBias = {"a bias", true, 2, 4};
static constexpr CaptureShape kTable = {"a table", true, 1, 2};
static constexpr CaptureShape kPoints = {"points", true, 2, 3};
static constexpr CaptureShape kGamma = {"gamma", true, 0, 1};

/// A capture that is there and fits; else null, after an error.
static Value getCapture(Location loc, const AttentionPosition &at,
                        CaptureRef ref, const CaptureShape &shape) {
  if (ref.number >= at.captures.size()) {
    emitError(loc) << "expected capture " << ref.number << " for " << shape.what
                   << ", but got " << at.captures.size() << " captures";
    return Value();
  }
  Value capture = at.captures[ref.number];
  if (shape.fits(capture.getType()))
    return capture;
  InFlightDiagnostic error = emitError(loc);
  error << "expected capture " << ref.number << " for " << shape.what
        << " to be of " << (shape.isFloat ? "floats" : "integers")
        << ", of rank " << shape.minRank;
  if (shape.minRank != shape.maxRank)
    error << " to " << shape.maxRank;
  error << ", but got " << capture.getType();
  return Value();
}

/// The element of an array at the last of some indices, or a number itself.
static Value buildLoad(OpBuilder &builder, Location loc, Value capture,
                       ArrayRef<Value> indices) {
  auto type = dyn_cast<ShapedType>(capture.getType());
  if (!type)
    return capture;
  indices = indices.take_back(type.getRank());
  if (isa<RankedTensorType>(type))
    return tensor::ExtractOp::create(builder, loc, capture, indices);
  return memref::LoadOp::create(builder, loc, capture, indices);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

MaskFn mlir::pol::getFullMask() {
  return [](OpBuilder &builder, Location loc, const AttentionPosition &) {
    return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true))
        .getResult();
  };
}

MaskFn mlir::pol::getCausalMask() {
  return [](OpBuilder &builder, Location loc, const AttentionPosition &at) {
    return buildCompare(builder, loc, CmpIPredicate::sle, at.key, at.query);
  };
}

MaskFn mlir::pol::getWindowMask(int64_t window) {
  return [window](OpBuilder &builder, Location loc,
                  const AttentionPosition &at) -> Value {
    // Any window may be compared with a distance, and not every one subtracted.
    Value distance = arith::SubIOp::create(builder, loc, at.query, at.key);
    Value isNear = buildCompare(builder, loc, CmpIPredicate::sle, distance,
                                buildIndex(builder, loc, window));
    Value isCausal =
        buildCompare(builder, loc, CmpIPredicate::sle, at.key, at.query);
    return arith::AndIOp::create(builder, loc, isNear, isCausal);
  };
}

MaskFn mlir::pol::getPrefixMask(int64_t length) {
  return
      [length](OpBuilder &builder, Location loc, const AttentionPosition &at) {
        return buildCompare(builder, loc, CmpIPredicate::slt, at.key,
                            buildIndex(builder, loc, length));
      };
}

MaskFn mlir::pol::getPrefixMask(CaptureRef length) {
  return [length](OpBuilder &builder, Location loc,
                  const AttentionPosition &at) -> Value {
    Value lengths = getCapture(loc, at, length, kLength);
    if (!lengths)
      return Value();
    Value limit = buildLoad(builder, loc, lengths, {at.batch});
    if (!limit.getType().isIndex())
      limit = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                         limit);
    return buildCompare(builder, loc, CmpIPredicate::slt, at.key, limit);
  };
}

MaskFn mlir::pol::getPrefixLMMask(int64_t length) {
  return getOrMask(getPrefixMask(length), getCausalMask());
}

MaskFn mlir::pol::getPrefixLMMask(CaptureRef length) {
  return getOrMask(getPrefixMask(length), getCausalMask());
}

MaskFn mlir::pol::getDocumentMask(CaptureRef queryIds, CaptureRef keyIds) {
  return [queryIds, keyIds](OpBuilder &builder, Location loc,
                            const AttentionPosition &at) -> Value {
    Value queries = getCapture(loc, at, queryIds, kIds);
    Value keys = getCapture(loc, at, keyIds, kIds);
    if (!queries || !keys)
      return Value();
    Value ofQuery = buildLoad(builder, loc, queries, {at.batch, at.query});
    Value ofKey = buildLoad(builder, loc, keys, {at.batch, at.key});
    if (ofQuery.getType() != ofKey.getType()) {
      emitError(loc) << "expected ids of queries and keys to be of one type, "
                        "but got "
                     << ofQuery.getType() << " and " << ofKey.getType();
      return Value();
    }
    return buildCompare(builder, loc, CmpIPredicate::eq, ofQuery, ofKey);
  };
}

/// Two masks, and an op on what they give.
template <typename OpTy> static MaskFn combine(MaskFn a, MaskFn b) {
  return [a, b](OpBuilder &builder, Location loc,
                const AttentionPosition &at) -> Value {
    Value left = a(builder, loc, at);
    Value right = left ? b(builder, loc, at) : Value();
    return right ? OpTy::create(builder, loc, left, right).getResult()
                 : Value();
  };
}

MaskFn mlir::pol::getAndMask(MaskFn a, MaskFn b) {
  return combine<arith::AndIOp>(a, b);
}

MaskFn mlir::pol::getOrMask(MaskFn a, MaskFn b) {
  return combine<arith::OrIOp>(a, b);
}

MaskFn mlir::pol::getNotMask(MaskFn mask) {
  return combine<arith::XOrIOp>(mask, getFullMask());
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

ScoreFn mlir::pol::getPlainScore() {
  return [](OpBuilder &, Location, Value score, const AttentionPosition &) {
    return score;
  };
}

ScoreFn mlir::pol::getSoftcapScore(double cap) {
  return [cap](OpBuilder &builder, Location loc, Value score,
               const AttentionPosition &) -> Value {
    Value limit = buildFloat(builder, loc, score.getType(), cap);
    Value part = arith::DivFOp::create(builder, loc, score, limit);
    Value bent = math::TanhOp::create(builder, loc, part);
    return arith::MulFOp::create(builder, loc, bent, limit);
  };
}

ScoreFn mlir::pol::getALiBiScore(CaptureRef slopes) {
  return [slopes](OpBuilder &builder, Location loc, Value score,
                  const AttentionPosition &at) -> Value {
    Value all = getCapture(loc, at, slopes, kSlopes);
    if (!all)
      return Value();
    Type type = score.getType();
    Value slope = convertFloat(builder, loc,
                               buildLoad(builder, loc, all, {at.head}), type);
    Value distance = arith::IndexCastOp::create(
        builder, loc, builder.getI64Type(), buildDistance(builder, loc, at));
    distance = arith::SIToFPOp::create(builder, loc, type, distance);
    Value bias = arith::MulFOp::create(builder, loc, slope, distance);
    return arith::AddFOp::create(builder, loc, score, bias);
  };
}

ScoreFn mlir::pol::getBiasScore(CaptureRef bias) {
  return [bias](OpBuilder &builder, Location loc, Value score,
                const AttentionPosition &at) -> Value {
    Value all = getCapture(loc, at, bias, kBias);
    if (!all)
      return Value();
    Value added =
        buildLoad(builder, loc, all, {at.batch, at.head, at.query, at.key});
    added = convertFloat(builder, loc, added, score.getType());
    return arith::AddFOp::create(builder, loc, score, added);
  };
}

ScoreFn mlir::pol::getRelativeScore(CaptureRef table, int64_t reach) {
  return [table, reach](OpBuilder &builder, Location loc, Value score,
                        const AttentionPosition &at) -> Value {
    Value all = getCapture(loc, at, table, kTable);
    if (!all)
      return Value();
    // Clamped before it is shifted, so that nothing overflows.
    Value entry = buildDistance(builder, loc, at);
    entry = arith::MaxSIOp::create(builder, loc, entry,
                                   buildIndex(builder, loc, -reach));
    entry = arith::MinSIOp::create(builder, loc, entry,
                                   buildIndex(builder, loc, reach));
    entry = arith::AddIOp::create(builder, loc, entry,
                                  buildIndex(builder, loc, reach));
    Value added = buildLoad(builder, loc, all, {at.head, entry});
    added = convertFloat(builder, loc, added, score.getType());
    return arith::AddFOp::create(builder, loc, score, added);
  };
}

/// |x − y|² of the points of a query and a key.
static Value buildSquaredDistance(OpBuilder &builder, Location loc,
                                  const AttentionPosition &at, Value x, Value y,
                                  Type type) {
  int64_t size = cast<ShapedType>(x.getType()).getShape().back();
  Value sum;
  for (int64_t i = 0; i < size; ++i) {
    Value coordinate = buildIndex(builder, loc, i);
    Value ofQuery =
        buildLoad(builder, loc, x, {at.batch, at.query, coordinate});
    Value ofKey = buildLoad(builder, loc, y, {at.batch, at.key, coordinate});
    Value difference = arith::SubFOp::create(
        builder, loc, convertFloat(builder, loc, ofQuery, type),
        convertFloat(builder, loc, ofKey, type));
    Value square = arith::MulFOp::create(builder, loc, difference, difference);
    sum = sum ? arith::AddFOp::create(builder, loc, sum, square).getResult()
              : square;
  }
  return sum ? sum : buildFloat(builder, loc, type, 0.0);
}

/// Whether points of queries and keys have as many coordinates, a static number
/// of them that is small.
static bool haveSmallSize(Location loc, Value x, Value y) {
  constexpr int64_t maxSize = 64;
  int64_t ofQueries = cast<ShapedType>(x.getType()).getShape().back();
  int64_t ofKeys = cast<ShapedType>(y.getType()).getShape().back();
  if (ofQueries == ofKeys && ofQueries >= 0 && ofQueries <= maxSize)
    return true;
  emitError(loc) << "expected points of one static size up to " << maxSize
                 << ", but got " << x.getType() << " and " << y.getType();
  return false;
}

ScoreFn mlir::pol::getRBFScore(CaptureRef queryPoints, CaptureRef keyPoints,
                               CaptureRef gamma) {
  return [=](OpBuilder &builder, Location loc, Value score,
             const AttentionPosition &at) -> Value {
    Value x = getCapture(loc, at, queryPoints, kPoints);
    Value y = getCapture(loc, at, keyPoints, kPoints);
    Value factors = getCapture(loc, at, gamma, kGamma);
    if (!x || !y || !factors || !haveSmallSize(loc, x, y))
      return Value();
    Type type = score.getType();
    Value squared = buildSquaredDistance(builder, loc, at, x, y, type);
    Value factor = convertFloat(
        builder, loc, buildLoad(builder, loc, factors, {at.head}), type);
    Value penalty = arith::MulFOp::create(builder, loc, factor, squared);
    return arith::SubFOp::create(builder, loc, score, penalty);
  };
}

ScoreFn mlir::pol::getComposedScore(ScoreFn first, ScoreFn second) {
  return [first, second](OpBuilder &builder, Location loc, Value score,
                         const AttentionPosition &at) -> Value {
    Value inner = first(builder, loc, score, at);
    return inner ? second(builder, loc, inner, at) : Value();
  };
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Adds the block of a variant, with arguments of these types before the four
/// indices and the captures. Returns it and where it is evaluated.
static AttentionPosition addBlock(OpBuilder &builder, Region &region,
                                  Location loc, TypeRange leading,
                                  TypeRange captures) {
  SmallVector<Type> types(leading);
  types.append(4, builder.getIndexType());
  llvm::append_range(types, captures);
  Block *block = builder.createBlock(&region, region.end(), types,
                                     SmallVector<Location>(types.size(), loc));
  ValueRange arguments = ValueRange(block->getArguments());
  ValueRange indices = arguments.drop_front(leading.size());
  return {indices[0], indices[1], indices[2], indices[3],
          indices.drop_front(4)};
}

LogicalResult mlir::pol::buildMaskRegion(Region &region, Location loc,
                                         TypeRange captures,
                                         const MaskFn &mask) {
  OpBuilder builder(region.getContext());
  AttentionPosition at = addBlock(builder, region, loc, {}, captures);
  Value kept = mask(builder, loc, at);
  if (!kept)
    return failure();
  YieldOp::create(builder, loc, kept);
  return success();
}

LogicalResult mlir::pol::buildScoreRegion(Region &region, Location loc,
                                          Type scoreType, TypeRange captures,
                                          const ScoreFn &score) {
  OpBuilder builder(region.getContext());
  AttentionPosition at = addBlock(builder, region, loc, scoreType, captures);
  Value changed = score(builder, loc, region.front().getArgument(0), at);
  if (!changed)
    return failure();
  YieldOp::create(builder, loc, changed);
  return success();
}
