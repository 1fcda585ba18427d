//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The regions of kernels: scalar code, and the arrays that it captures.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pol/Analysis/MaskAnalysis.h"
#include "pol/IR/CaptureLoads.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

SmallVector<Type> mlir::pol::getRegionArgumentTypes(const KernelRegion &region,
                                                    FloatType accumulation,
                                                    TypeRange captures) {
  SmallVector<Type> types;
  if (region.isOfScores)
    types.push_back(accumulation);
  types.append(kNumScoreAxes, IndexType::get(accumulation.getContext()));
  for (Type capture : captures)
    types.push_back(getPrimalType(capture));
  return types;
}

namespace {
/// Checks one region.
class RegionVerifier {
public:
  RegionVerifier(const KernelRegion &kind, Region &region,
                 EmitErrorFn emitError)
      : kind(kind), region(region), emitError(emitError) {}

  LogicalResult verify(FloatType accumulation, TypeRange captures) {
    return failure(
        failed(verifyArguments(accumulation, captures)) ||
        failed(verifyYield(accumulation)) ||
        llvm::any_of(region.front().without_terminator(),
                     [&](Operation &op) { return failed(verifyOp(op)); }));
  }

private:
  LogicalResult verifyArguments(FloatType accumulation, TypeRange captures);
  LogicalResult verifyYield(FloatType accumulation);
  LogicalResult verifyOp(Operation &op);
  /// Why an op may not be here; empty if it may.
  std::string getObjection(Operation &op);

  const KernelRegion &kind;
  Region &region;
  EmitErrorFn emitError;
};
} // namespace

/// Whether an argument can stand for a capture: it may be known to be of less
/// static extents than outside, where casts are folded.
static bool fits(Type argument, Type wanted) {
  if (argument == wanted)
    return true;
  auto from = dyn_cast<ShapedType>(wanted);
  auto to = dyn_cast<ShapedType>(argument);
  if (!from || !to || isa<TensorType>(from) != isa<TensorType>(to) ||
      from.getElementType() != to.getElementType() || !from.hasRank() ||
      !to.hasRank() || from.getRank() != to.getRank())
    return false;
  return llvm::all_of(
      llvm::zip_equal(to.getShape(), from.getShape()), [](auto extents) {
        auto [inside, outside] = extents;
        return ShapedType::isDynamic(inside) || inside == outside;
      });
}

LogicalResult RegionVerifier::verifyArguments(FloatType accumulation,
                                              TypeRange captures) {
  if (!region.hasOneBlock())
    return emitError() << "expected " << kind.name << " to be one block";
  SmallVector<Type> wanted =
      getRegionArgumentTypes(kind, accumulation, captures);
  TypeRange got = region.getArgumentTypes();
  if (llvm::equal(got, wanted, fits))
    return success();
  InFlightDiagnostic error = emitError();
  error << "expected the arguments of " << kind.name << " to be (" << wanted
        << "), but got (" << got << ")";
  return error;
}

LogicalResult RegionVerifier::verifyYield(FloatType accumulation) {
  Block &block = region.front();
  auto yield = block.empty() ? YieldOp()
                             : dyn_cast<YieldOp>(block.getOperations().back());
  if (!yield)
    return emitError() << "expected " << kind.name << " to end with pol.yield";
  Type wanted = accumulation;
  if (!kind.isOfScores)
    wanted = IntegerType::get(accumulation.getContext(), 1);
  if (yield->getNumOperands() == 1 && yield->getOperand(0).getType() == wanted)
    return success();
  return yield.emitOpError("expected ")
         << kind.name << " to yield one " << wanted << ", but got ("
         << yield->getOperandTypes() << ")";
}

std::string RegionVerifier::getObjection(Operation &op) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (isa<tensor::ExtractOp, tensor::DimOp, memref::LoadOp, memref::DimOp>(
          op)) {
    auto argument = dyn_cast<BlockArgument>(op.getOperand(0));
    bool isCapture = argument && argument.getOwner() == &region.front();
    return isCapture ? "" : "it reads an array that is no capture";
  }
  if (!isa_and_nonnull<arith::ArithDialect, index::IndexDialect,
                       math::MathDialect>(op.getDialect()))
    return "it is not of the dialects arith, math and index";
  if (op.getNumRegions() > 0 || !isMemoryEffectFree(&op))
    return "it has regions or effects";
  if (!llvm::all_of(op.getOperandTypes(), isScalar) ||
      !llvm::all_of(op.getResultTypes(), isScalar))
    return "it is not on scalars";
  return "";
}

LogicalResult RegionVerifier::verifyOp(Operation &op) {
  std::string objection = getObjection(op);
  if (!objection.empty())
    return op.emitOpError("expected scalar code without effects in ")
           << kind.name << ", but " << objection;
  // Isolation is checked only after its op.
  for (Value operand : op.getOperands())
    if (operand.getParentRegion() != &region)
      return op.emitOpError("expected ")
             << kind.name << " to use what it captures, but got a value from "
             << "outside";
  return success();
}

bool mlir::pol::needsTileLists(const KernelSignature &signature,
                               RegionRange regions) {
  for (auto [kind, region] : llvm::zip(signature.regions, regions))
    if (!kind.isOfScores && !region->empty())
      return !MaskAnalysis(&region->front()).isInterval();
  return false;
}

Value mlir::pol::buildNumSums(OpBuilder &builder, Location loc, Value capture) {
  Value count = arith::ConstantIndexOp::create(builder, loc, 2);
  for (int64_t i = 0; i < cast<ShapedType>(capture.getType()).getRank(); ++i)
    count = builder.createOrFold<arith::MulIOp>(
        loc, count,
        getValueOrCreateConstantIndexOp(builder, loc,
                                        getExtent(builder, loc, capture, i)));
  return count;
}

/// A capture is an array or a scalar.
static bool isCapture(Type type) {
  type = getPrimalType(type);
  if (auto array = dyn_cast<ShapedType>(type)) {
    if (!isa<RankedTensorType, MemRefType>(array))
      return false;
    type = array.getElementType();
  }
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         type.isIndex() || type.isSignlessInteger();
}

LogicalResult mlir::pol::verifyKernelRegions(const KernelSignature &signature,
                                             FloatType accumulation,
                                             TypeRange captures,
                                             RegionRange regions,
                                             EmitErrorFn emitError) {
  for (auto [number, type] : llvm::enumerate(captures))
    if (!isCapture(type))
      return emitError() << "expected capture " << number
                         << " to be an array or a scalar, of floats or "
                            "integers, but got "
                         << type;
  bool isUsed = false;
  for (auto [kind, region] : llvm::zip(signature.regions, regions)) {
    if (region->empty())
      continue;
    isUsed = true;
    RegionVerifier verifier(kind, *region, emitError);
    if (failed(verifier.verify(accumulation, captures)))
      return failure();
  }
  if (!isUsed && !captures.empty())
    return emitError() << "expected captures only where there is a region to "
                          "read them";
  return success();
}
