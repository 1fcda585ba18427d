//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPolDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectImplementation.h"
#include "pol/IR/Checks.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::test;

#include "TestPolDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "TestPolTypes.cpp.inc"

void TestPolDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "TestPolTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "TestPolOps.cpp.inc"
      >();
}

bool PoolType::canRelease() const { return true; }

//===----------------------------------------------------------------------===//
// What the kernels share
//===----------------------------------------------------------------------===//

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;
using Shapes = SmallVectorImpl<SmallVector<OpFoldResult>>;
using Buffers = SmallVectorImpl<BufferDescription>;

/// Every memref is read and written; tensors are values.
static void getBufferEffects(Operation *op, Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(getPrimalType(operand.get().getType())))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

static BufferDescription describeBuffer(KernelInvocation invocation,
                                        StringRef name, BufferRole role,
                                        ArrayRef<int64_t> shape, Type element) {
  MLIRContext *context = invocation.loc.getContext();
  return {StringAttr::get(context, name), role,
          UndefType::get(context, shape, element)};
}

/// The shaped operand at a position, of that rank.
static FailureOr<ShapedType> getShaped(KernelInvocation invocation,
                                       unsigned position, int64_t rank,
                                       StringRef kernel) {
  Value value = invocation.getOperand(position);
  auto type = value ? dyn_cast<ShapedType>(getPrimalType(value.getType()))
                    : ShapedType();
  if (!type || !type.hasRank() || type.getRank() != rank)
    return mlir::emitError(invocation.loc)
           << "expected operand " << position << " of " << kernel
           << " to be an array of rank " << rank;
  return type;
}

static SmallVector<OpFoldResult>
getShape(OpBuilder &builder, KernelInvocation invocation, Value shaped) {
  SmallVector<OpFoldResult> shape;
  for (int64_t i = 0, e = cast<ShapedType>(shaped.getType()).getRank(); i < e;
       ++i)
    shape.push_back(getExtent(builder, invocation.loc, shaped, i));
  return shape;
}

/// The types of those buffers that are tensors and given.
static SmallVector<Type> getTensorTypes(ValueRange buffers) {
  SmallVector<Type> types;
  for (Value buffer : buffers)
    if (buffer && isa<RankedTensorType>(buffer.getType()))
      types.push_back(buffer.getType());
  return types;
}

//===----------------------------------------------------------------------===//
// TiledOp
//===----------------------------------------------------------------------===//

MutableOperandRange TiledOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, getYMutable().getOperandNumber(),
                             getMaxima() ? 2 : 1);
}

void TiledOp::getEffects(Effects &effects) { getBufferEffects(*this, effects); }

static FailureOr<int64_t> readBlock(KernelInvocation invocation) {
  auto block = dyn_cast_if_present<IntegerAttr>(invocation.getAttr("block"));
  if (!block || block.getInt() < 1)
    return mlir::emitError(invocation.loc)
           << "expected a positive block for test_pol.tiled";
  return block.getInt();
}

LogicalResult TiledOp::inferBuffers(KernelInvocation invocation,
                                    Buffers &buffers) {
  FailureOr<ShapedType> x = getShaped(invocation, 0, 2, "test_pol.tiled");
  if (failed(x))
    return failure();
  FailureOr<int64_t> block = readBlock(invocation);
  if (failed(block))
    return failure();
  int64_t rows = x->getDimSize(0), columns = x->getDimSize(1);
  int64_t blocks = ShapedType::isDynamic(rows) ? ShapedType::kDynamic
                                               : llvm::divideCeil(rows, *block);
  Type element = x->getElementType();
  auto add = [&](StringRef name, BufferRole role, ArrayRef<int64_t> shape,
                 Type element) {
    buffers.push_back(describeBuffer(invocation, name, role, shape, element));
  };
  add("y", BufferRole::Output, {rows, columns}, element);
  add("maxima", BufferRole::Checkpoint, {rows}, element);
  buffers.back().isOptional = true;
  add("tile", BufferRole::Scratch, {*block, columns}, element);
  add("counts", BufferRole::Scratch, {blocks},
      IndexType::get(element.getContext()));
  return success();
}

LogicalResult TiledOp::reifyBufferShapes(OpBuilder &builder,
                                         KernelInvocation invocation,
                                         Shapes &shapes) {
  FailureOr<int64_t> block = readBlock(invocation);
  if (failed(block))
    return failure();
  Location loc = invocation.loc;
  SmallVector<OpFoldResult> x =
      getShape(builder, invocation, invocation.getOperand(0));
  OpFoldResult blocks;
  if (std::optional<int64_t> rows = getConstantIntValue(x[0]))
    blocks = builder.getIndexAttr(llvm::divideCeil(*rows, *block));
  else
    blocks =
        arith::CeilDivUIOp::create(
            builder, loc, getValueOrCreateConstantIndexOp(builder, loc, x[0]),
            arith::ConstantIndexOp::create(builder, loc, *block))
            .getResult();
  shapes.push_back(x);
  shapes.push_back({x[0]});
  shapes.push_back({builder.getIndexAttr(*block), x[1]});
  shapes.push_back({blocks});
  return success();
}

FailureOr<Operation *> TiledOp::buildKernel(OpBuilder &builder,
                                            KernelInvocation invocation,
                                            ValueRange buffers) {
  auto block = dyn_cast_if_present<IntegerAttr>(invocation.getAttr("block"));
  return TiledOp::create(builder, invocation.loc,
                         getTensorTypes(buffers.take_front(2)),
                         invocation.getOperand(0), buffers[0], buffers[1],
                         buffers[2], buffers[3], block)
      .getOperation();
}

void TiledOp::buildChecks(OpBuilder &builder) {
  Location loc = getLoc();
  StringRef kernel = getOperationName();
  int64_t block = getBlock();
  OpFoldResult rows = getKnownExtent(builder, loc, getX(), 0);
  OpFoldResult columns = getKnownExtent(builder, loc, getX(), 1);
  buildShapeCheck(builder, loc, getY(), {rows, columns}, "y", kernel);
  if (Value maxima = getMaxima()) {
    buildShapeCheck(builder, loc, maxima, rows, "maxima", kernel);
    buildCheck(builder, loc, columns, CheckPredicate::multiple_of, rows,
               "extent 1 of x", kernel);
  }
  buildExtentCheck(builder, loc, getTile(), 0, builder.getIndexAttr(block),
                   CheckPredicate::ge, "tile", kernel);
  buildExtentCheck(builder, loc, getTile(), 1, columns, CheckPredicate::eq,
                   "tile", kernel);
  Value blocks = arith::CeilDivUIOp::create(
      builder, loc, getValueOrCreateConstantIndexOp(builder, loc, rows),
      arith::ConstantIndexOp::create(builder, loc, block));
  buildExtentCheck(builder, loc, getCounts(), 0, blocks, CheckPredicate::ge,
                   "counts", kernel);
}

//===----------------------------------------------------------------------===//
// FoldRowsOp
//===----------------------------------------------------------------------===//

MutableOperandRange FoldRowsOp::getDpsInitsMutable() { return getYMutable(); }

void FoldRowsOp::getEffects(Effects &effects) {
  getBufferEffects(*this, effects);
}

LogicalResult FoldRowsOp::inferBuffers(KernelInvocation invocation,
                                       Buffers &buffers) {
  FailureOr<ShapedType> x = getShaped(invocation, 0, 1, "test_pol.fold_rows");
  if (failed(x))
    return failure();
  if (invocation.regions.size() != 1 || !invocation.regions[0]->hasOneBlock())
    return mlir::emitError(invocation.loc)
           << "expected one region with one block for test_pol.fold_rows";
  Block &block = invocation.regions[0]->front();
  int64_t lanes = block.getNumArguments();
  int64_t ops = llvm::range_size(block.getOperations());
  int64_t extent = x->getDimSize(0);
  Type element = x->getElementType();
  buffers.push_back(
      describeBuffer(invocation, "y", BufferRole::Output, {extent}, element));
  buffers.push_back(describeBuffer(invocation, "lanes", BufferRole::Scratch,
                                   {lanes, extent}, element));
  buffers.push_back(describeBuffer(invocation, "trace", BufferRole::Scratch,
                                   {std::max<int64_t>(ops - 1, 0)}, element));
  return success();
}

LogicalResult FoldRowsOp::reifyBufferShapes(OpBuilder &builder,
                                            KernelInvocation invocation,
                                            Shapes &shapes) {
  SmallVector<BufferDescription> buffers;
  if (failed(inferBuffers(invocation, buffers)))
    return failure();
  OpFoldResult extent =
      getExtent(builder, invocation.loc, invocation.getOperand(0), 0);
  auto fixed = [&](unsigned buffer) -> OpFoldResult {
    return builder.getIndexAttr(
        cast<ShapedType>(buffers[buffer].type).getDimSize(0));
  };
  shapes.push_back({extent});
  shapes.push_back({fixed(1), extent});
  shapes.push_back({fixed(2)});
  return success();
}

FailureOr<Operation *> FoldRowsOp::buildKernel(OpBuilder &builder,
                                               KernelInvocation invocation,
                                               ValueRange buffers) {
  auto op = FoldRowsOp::create(
      builder, invocation.loc, getTensorTypes(buffers.take_front(1)),
      invocation.getOperand(0), buffers[0], buffers[1], buffers[2]);
  IRMapping mapping;
  invocation.regions[0]->cloneInto(&op.getBody(), mapping);
  return op.getOperation();
}

//===----------------------------------------------------------------------===//
// ScaleOp
//===----------------------------------------------------------------------===//

MutableOperandRange ScaleOp::getDpsInitsMutable() { return getYMutable(); }

void ScaleOp::getEffects(Effects &effects) { getBufferEffects(*this, effects); }

LogicalResult ScaleOp::inferBuffers(KernelInvocation invocation,
                                    Buffers &buffers) {
  StringRef names[] = {"y", "bias_copy", "gain_copy"};
  for (auto [position, name] : llvm::enumerate(names)) {
    if (position > 0 && !invocation.getOperand(position))
      continue;
    FailureOr<ShapedType> type =
        getShaped(invocation, position, 1, "test_pol.scale");
    if (failed(type))
      return failure();
    buffers.push_back(
        describeBuffer(invocation, name,
                       position == 0 ? BufferRole::Output : BufferRole::Scratch,
                       type->getShape(), type->getElementType()));
  }
  return success();
}

LogicalResult ScaleOp::reifyBufferShapes(OpBuilder &builder,
                                         KernelInvocation invocation,
                                         Shapes &shapes) {
  for (unsigned position = 0; position < 3; ++position)
    if (Value operand = invocation.getOperand(position))
      shapes.push_back(getShape(builder, invocation, operand));
  return success();
}

FailureOr<Operation *> ScaleOp::buildKernel(OpBuilder &builder,
                                            KernelInvocation invocation,
                                            ValueRange buffers) {
  Value bias = invocation.getOperand(1), gain = invocation.getOperand(2);
  return ScaleOp::create(
             builder, invocation.loc, getTensorTypes(buffers.take_front(1)),
             invocation.getOperand(0), bias, gain, buffers[0],
             bias ? buffers[1] : Value(), gain ? buffers.back() : Value())
      .getOperation();
}

//===----------------------------------------------------------------------===//
// BrokenOp
//===----------------------------------------------------------------------===//

MutableOperandRange BrokenOp::getDpsInitsMutable() {
  return getBuffersMutable();
}

void BrokenOp::getEffects(Effects &effects) {
  getBufferEffects(*this, effects);
}

static StringRef readHow(KernelInvocation invocation) {
  auto how = dyn_cast_if_present<StringAttr>(invocation.getAttr("how"));
  return how ? how.getValue() : StringRef();
}

LogicalResult BrokenOp::inferBuffers(KernelInvocation invocation,
                                     Buffers &buffers) {
  StringRef how = readHow(invocation);
  if (how == "infer")
    return mlir::emitError(invocation.loc)
           << "test_pol.broken describes nothing";
  FailureOr<ShapedType> x = getShaped(invocation, 0, 1, "test_pol.broken");
  if (failed(x))
    return failure();
  auto add = [&](StringRef name, BufferRole role) {
    buffers.push_back(describeBuffer(invocation, name, role, x->getShape(),
                                     x->getElementType()));
  };
  if (how == "order")
    add("t", BufferRole::Scratch);
  if (how == "hidden")
    add("h", BufferRole::Hidden);
  add("y", BufferRole::Output);
  if (how == "name")
    add("y", BufferRole::Output);
  if (how == "buffer")
    buffers.back().type =
        RankedTensorType::get(x->getShape(), x->getElementType());
  return success();
}

LogicalResult BrokenOp::reifyBufferShapes(OpBuilder &builder,
                                          KernelInvocation invocation,
                                          Shapes &shapes) {
  StringRef how = readHow(invocation);
  if (how == "shapes")
    return mlir::emitError(invocation.loc) << "test_pol.broken has no shapes";
  if (how == "count")
    return success();
  size_t count = how == "order" || how == "hidden" || how == "name" ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    shapes.push_back(getShape(builder, invocation, invocation.getOperand(0)));
    if (how == "rank")
      shapes.back().clear();
  }
  return success();
}

FailureOr<Operation *> BrokenOp::buildKernel(OpBuilder &builder,
                                             KernelInvocation invocation,
                                             ValueRange buffers) {
  StringRef how = readHow(invocation);
  if (how == "build")
    return mlir::emitError(invocation.loc) << "test_pol.broken builds nothing";
  SmallVector<Value> given;
  for (Value buffer : buffers)
    if (buffer)
      given.push_back(buffer);
  SmallVector<Type> results = getTensorTypes(given);
  if (how == "results")
    results.pop_back();
  return BrokenOp::create(
             builder, invocation.loc, results, invocation.getOperand(0), given,
             how.empty() ? StringAttr() : builder.getStringAttr(how))
      .getOperation();
}

//===----------------------------------------------------------------------===//
// NestedOp
//===----------------------------------------------------------------------===//

MutableOperandRange NestedOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, 0, 0);
}

void NestedOp::getEffects(Effects &effects) {
  getBufferEffects(*this, effects);
}

LogicalResult NestedOp::inferBuffers(KernelInvocation invocation,
                                     Buffers &buffers) {
  FailureOr<ShapedType> x = getShaped(invocation, 0, 1, "test_pol.nested");
  if (failed(x))
    return failure();
  Builder builder(invocation.loc.getContext());
  Type half =
      UndefType::get(builder.getContext(), x->getShape(), x->getElementType());
  buffers.push_back({builder.getStringAttr("pair"), BufferRole::Output,
                     BundleType::get(builder.getContext(),
                                     {builder.getStringAttr("low"),
                                      builder.getStringAttr("high")},
                                     {half, half})});
  return success();
}

LogicalResult NestedOp::reifyBufferShapes(OpBuilder &builder,
                                          KernelInvocation invocation,
                                          Shapes &shapes) {
  shapes.push_back(getShape(builder, invocation, invocation.getOperand(0)));
  return success();
}

FailureOr<Operation *> NestedOp::buildKernel(OpBuilder &builder,
                                             KernelInvocation invocation,
                                             ValueRange buffers) {
  return NestedOp::create(builder, invocation.loc, TypeRange(),
                          invocation.getOperand(0), buffers[0])
      .getOperation();
}

//===----------------------------------------------------------------------===//
// PullbackOp
//===----------------------------------------------------------------------===//

MutableOperandRange PullbackOp::getDpsInitsMutable() { return getDxMutable(); }

void PullbackOp::getEffects(Effects &effects) {
  getBufferEffects(*this, effects);
}

bool PullbackOp::takesShadow(OpOperand &operand) {
  return &operand == &getYMutable();
}

LogicalResult PullbackOp::inferBuffers(KernelInvocation invocation,
                                       Buffers &buffers) {
  FailureOr<ShapedType> x = getShaped(invocation, 0, 1, "test_pol.pullback");
  if (failed(x))
    return failure();
  buffers.push_back(describeBuffer(invocation, "dx", BufferRole::Output,
                                   x->getShape(), x->getElementType()));
  return success();
}

LogicalResult PullbackOp::reifyBufferShapes(OpBuilder &builder,
                                            KernelInvocation invocation,
                                            Shapes &shapes) {
  Value x = PrimalOp::create(builder, invocation.loc, invocation.getOperand(0));
  shapes.push_back(getShape(builder, invocation, x));
  return success();
}

FailureOr<Operation *> PullbackOp::buildKernel(OpBuilder &builder,
                                               KernelInvocation invocation,
                                               ValueRange buffers) {
  return PullbackOp::create(builder, invocation.loc, getTensorTypes(buffers),
                            invocation.getOperand(0), invocation.getOperand(1),
                            invocation.getOperand(2), buffers[0], Value(),
                            IntegerAttr())
      .getOperation();
}

//===----------------------------------------------------------------------===//
// CubeOp
//===----------------------------------------------------------------------===//

SmallVector<Value> CubeOp::buildDerivative(OpBuilder &builder,
                                           const OpEvaluation &at) {
  Location loc = getLoc();
  Value x = at.operands[0];
  Value three = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(x.getType(), 3.0));
  Value square = arith::MulFOp::create(builder, loc, x, x);
  Value slope = arith::MulFOp::create(builder, loc, square, three);
  return {arith::MulFOp::create(builder, loc, at.cotangents[0], slope)};
}

#define GET_OP_CLASSES
#include "TestPolOps.cpp.inc"
