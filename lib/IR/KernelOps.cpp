//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Kernels: what they check, describe and do to memory.

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

FloatType mlir::pol::getAccumulationType(Type elementType) {
  MLIRContext *context = elementType.getContext();
  return elementType.isF64() ? FloatType(Float64Type::get(context))
                             : FloatType(Float32Type::get(context));
}

OpFoldResult mlir::pol::getExtent(OpBuilder &builder, Location loc,
                                  Value shaped, int64_t dimension) {
  auto type = cast<ShapedType>(shaped.getType());
  if (!type.isDynamicDim(dimension))
    return builder.getIndexAttr(type.getDimSize(dimension));
  if (isa<UndefType>(type))
    return DimOp::create(builder, loc, shaped, dimension).getResult();
  if (isa<RankedTensorType>(type))
    return tensor::DimOp::create(builder, loc, shaped, dimension).getResult();
  return memref::DimOp::create(builder, loc, shaped, dimension).getResult();
}

//===----------------------------------------------------------------------===//
// What kernels share
//===----------------------------------------------------------------------===//

/// Reads what it does not overwrite, writes its destinations. Tensors are
/// values, so only memrefs count.
static void
getKernelEffects(DestinationStyleOpInterface op,
                 SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

/// All operands are tensors or all are memrefs; results are the tensor
/// destinations.
static LogicalResult verifyForm(DestinationStyleOpInterface op) {
  if (!op.hasPureTensorSemantics() && !op.hasPureBufferSemantics())
    return op->emitOpError("expected all operands to be tensors or all to be "
                           "memrefs");
  SmallVector<Type> wanted;
  for (Value init : op.getDpsInits())
    if (isa<RankedTensorType>(init.getType()))
      wanted.push_back(init.getType());
  if (op->getResultTypes() == TypeRange(wanted))
    return success();
  InFlightDiagnostic error =
      op->emitOpError("expected results of its destinations' types (");
  error << wanted << "), but got (" << op->getResultTypes() << ")";
  return error;
}

/// One operand against the shape it must have.
static LogicalResult verifyShape(Operation *op, StringRef name, Value value,
                                 ArrayRef<int64_t> shape) {
  auto type = cast<ShapedType>(value.getType());
  if (succeeded(verifyCompatibleShape(type.getShape(), shape)))
    return success();
  InFlightDiagnostic error = op->emitOpError("expected ");
  error << name << " to have shape ";
  if (shape.empty())
    error << "()";
  llvm::interleave(
      shape,
      [&](int64_t extent) {
        if (ShapedType::isDynamic(extent))
          error << "?";
        else
          error << extent;
      },
      [&] { error << "x"; });
  error << ", but got " << type;
  return error;
}

/// An operand no wider than what the kernel accumulates in.
static LogicalResult verifyWidth(Operation *op, StringRef name, Value value,
                                 FloatType accumulation) {
  Type element = cast<ShapedType>(value.getType()).getElementType();
  if (element.getIntOrFloatBitWidth() <= accumulation.getWidth())
    return success();
  return op->emitOpError("expected ")
         << name << " to be no wider than " << accumulation << ", but got "
         << element;
}

//===----------------------------------------------------------------------===//
// RmsNormOp
//===----------------------------------------------------------------------===//

MutableOperandRange RmsNormOp::getDpsInitsMutable() {
  // y and rstd are adjacent; rstd may be absent.
  return MutableOperandRange(*this, getYMutable().getOperandNumber(),
                             getRstd() ? 2 : 1);
}

void RmsNormOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  getKernelEffects(cast<DestinationStyleOpInterface>(getOperation()), effects);
}

LogicalResult RmsNormOp::verify() {
  auto x = cast<ShapedType>(getX().getType());
  if (x.getRank() < 1)
    return emitOpError("expected x to have a rank of at least 1, but got ")
           << x;
  if (failed(verifyForm(cast<DestinationStyleOpInterface>(getOperation()))))
    return failure();

  FloatType accumulation = getAccumulationType(x.getElementType());
  ArrayRef<int64_t> rows = x.getShape().drop_back();
  if (failed(verifyShape(*this, "y", getY(), x.getShape())) ||
      failed(verifyWidth(*this, "y", getY(), accumulation)))
    return failure();
  if (Value weight = getWeight())
    if (failed(verifyShape(*this, "weight", weight, x.getShape().back())) ||
        failed(verifyWidth(*this, "weight", weight, accumulation)))
      return failure();
  if (Value rstd = getRstd()) {
    if (failed(verifyShape(*this, "rstd", rstd, rows)))
      return failure();
    Type element = cast<ShapedType>(rstd.getType()).getElementType();
    if (element != accumulation)
      return emitOpError("expected rstd to have element type ")
             << accumulation << ", but got " << element;
  }

  // Negated, so that NaN is refused too.
  if (!(getEps().convertToDouble() >= 0) || getEps().isInfinity())
    return emitOpError("expected eps to be finite and not negative, but got ")
           << getEpsAttr();
  if (!getOffset().isFinite())
    return emitOpError("expected offset to be finite, but got ")
           << getOffsetAttr();
  if (!getWeight() && !getOffset().isZero())
    return emitOpError("expected no offset where there is no weight, but got ")
           << getOffsetAttr();
  return success();
}

LogicalResult
RmsNormOp::inferBuffers(KernelInvocation invocation,
                        SmallVectorImpl<BufferDescription> &buffers) {
  unsigned positions = invocation.getNumPositions();
  Value xValue = invocation.getOperand(0);
  if (positions < 1 || positions > 2 || !xValue)
    return mlir::emitError(invocation.loc)
           << "expected operands x and, optionally, weight for pol.rms_norm, "
              "but got "
           << positions;
  // A vector is shaped too, and no array.
  auto x = isa<RankedTensorType, MemRefType, UndefType>(xValue.getType())
               ? cast<ShapedType>(xValue.getType())
               : ShapedType();
  if (!x || x.getRank() < 1 || !isa<FloatType>(x.getElementType()))
    return mlir::emitError(invocation.loc)
           << "expected x of pol.rms_norm to be an array of floats of rank at "
              "least 1, but got "
           << xValue.getType();
  if (Value weight = invocation.getOperand(1)) {
    auto type = dyn_cast<ShapedType>(weight.getType());
    if (!type || !type.hasRank() || !isa<FloatType>(type.getElementType()) ||
        failed(verifyCompatibleShape(type.getShape(), x.getShape().back())))
      return mlir::emitError(invocation.loc)
             << "expected weight of pol.rms_norm to be an array of floats as "
                "long as the rows of "
             << x << ", but got " << weight.getType();
  }
  for (StringRef name : {"eps", "offset"})
    if (Attribute value = invocation.getAttr(name)) {
      auto number = dyn_cast<FloatAttr>(value);
      if (!number || !number.getType().isF64())
        return mlir::emitError(invocation.loc)
               << "expected '" << name
               << "' of pol.rms_norm to be f64, but got " << value;
    }
  MLIRContext *context = invocation.loc.getContext();
  buffers.push_back(
      {StringAttr::get(context, "y"), BufferRole::Output,
       UndefType::get(context, x.getShape(), x.getElementType())});
  buffers.push_back({StringAttr::get(context, "rstd"), BufferRole::Checkpoint,
                     UndefType::get(context, x.getShape().drop_back(),
                                    getAccumulationType(x.getElementType()))});
  return success();
}

LogicalResult RmsNormOp::reifyBufferShapes(
    OpBuilder &builder, KernelInvocation invocation,
    SmallVectorImpl<SmallVector<OpFoldResult>> &shapes) {
  Value x = invocation.getOperand(0);
  SmallVector<OpFoldResult> shape;
  for (int64_t i = 0, e = cast<ShapedType>(x.getType()).getRank(); i < e; ++i)
    shape.push_back(getExtent(builder, invocation.loc, x, i));
  shapes.push_back(shape);
  shape.pop_back();
  shapes.push_back(shape);
  return success();
}

FailureOr<Operation *> RmsNormOp::buildKernel(OpBuilder &builder,
                                              KernelInvocation invocation,
                                              ValueRange buffers) {
  SmallVector<Type> results;
  for (Value buffer : buffers)
    if (buffer && isa<RankedTensorType>(buffer.getType()))
      results.push_back(buffer.getType());
  // That they are f64 is checked by inferBuffers.
  auto float64 = [&](StringRef name, double otherwise) {
    auto value = dyn_cast_or_null<FloatAttr>(invocation.getAttr(name));
    return value ? value : builder.getF64FloatAttr(otherwise);
  };
  return RmsNormOp::create(builder, invocation.loc, results,
                           invocation.getOperand(0), invocation.getOperand(1),
                           buffers[0], buffers[1], float64("eps", 1.0e-5),
                           float64("offset", 0.0))
      .getOperation();
}
