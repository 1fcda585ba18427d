//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What kernels describe, and how they are built from it.

#include "KernelShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "pol/IR/CaptureLoads.h"
#include "pol/IR/PolOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::pol;

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
// What is asked with
//===----------------------------------------------------------------------===//

namespace {
/// The inputs that a verb gives, by name.
struct Inputs {
  const KernelSignature &signature;
  KernelInvocation invocation;

  Value get(StringRef name) const {
    unsigned index = signature.getIndex(name);
    return index < signature.getInputs().size() ? invocation.getOperand(index)
                                                : Value();
  }
  /// Whether a gradient has a place already: the shadow of its input.
  bool hasShadow(const KernelOperand &operand) const;
  /// Whether any input that has a gradient is duplicated. Then those that are
  /// not are constants, which have none.
  bool usesShadows() const {
    return llvm::any_of(signature.operands, [&](const KernelOperand &operand) {
      return hasShadow(operand);
    });
  }
  /// What regions capture: the operands behind the inputs.
  SmallVector<Value> getCaptures() const {
    size_t begin = signature.getInputs().size();
    SmallVector<Value> captures;
    for (size_t i = begin; i < invocation.getNumPositions(); ++i)
      captures.push_back(invocation.getOperand(i));
    return captures;
  }
  /// The captures whose gradients are added up in scratch.
  SmallVector<Value> getScattered() const;
  /// Whether the kernel describes this operand.
  bool describes(const KernelOperand &operand) const;
  /// Checks the inputs, and gathers what their shapes say.
  LogicalResult verify(KernelShapes &shapes) const;

private:
  InFlightDiagnostic emitError() const {
    return mlir::emitError(invocation.loc) << signature.name << ": ";
  }
  LogicalResult verifyElement(const KernelOperand &operand, Value value) const;
  LogicalResult verifyAttributes() const;
  LogicalResult verifyRegions() const;
};
} // namespace

bool Inputs::hasShadow(const KernelOperand &operand) const {
  if (operand.clause == KernelClause::CaptureGradients)
    return llvm::any_of(getCaptures(), [](Value capture) {
      return isa<DuplicatedType>(capture.getType());
    });
  Value input = operand.gradientOf.empty() ? Value() : get(operand.gradientOf);
  return input && isa<DuplicatedType>(input.getType());
}

SmallVector<Value> Inputs::getScattered() const {
  SmallVector<Value> scattered;
  for (auto [number, capture] : llvm::enumerate(getCaptures()))
    for (auto [kind, region] : llvm::zip(signature.regions, invocation.regions))
      if (isa<DuplicatedType>(capture.getType()) && kind.isOfScores &&
          isScattered(*region, number))
        scattered.push_back(capture);
  return scattered;
}

bool Inputs::describes(const KernelOperand &operand) const {
  if (operand.isOfSums)
    return !getScattered().empty();
  // The lists are of whole arrays, not of the sequences in them.
  if (operand.isOfMask && (invocation.getAttr("packed") ||
                           !needsTileLists(signature, invocation.regions)))
    return false;
  if (operand.clause == KernelClause::Scratch)
    return operand.usedFor.empty() ||
           signature.anyUser(operand, [&](const KernelOperand &gradient) {
             return hasShadow(gradient) || describes(gradient);
           });
  if (operand.isVariadic())
    return false;
  if (operand.gradientOf.empty())
    return operand.isDestination();
  unsigned input = signature.getIndex(operand.gradientOf);
  return !usesShadows() &&
         (get(operand.gradientOf) || signature.operands[input].isUnread);
}

LogicalResult Inputs::verifyElement(const KernelOperand &operand,
                                    Value value) const {
  Type type = value.getType();
  if (operand.clause == KernelClause::Saved && isa<DuplicatedType>(type))
    return emitError() << "expected " << operand.name
                       << " not to be duplicated, but got " << type;
  ShapedType array = getOperandArray(type, operand);
  bool fits = false;
  StringRef wanted = "an array of floats";
  switch (operand.element) {
  case KernelElement::Float:
  case KernelElement::Accumulation:
    fits = array && isa<FloatType>(array.getElementType());
    break;
  case KernelElement::Tile: // No input.
    break;
  case KernelElement::Length:
    wanted = "an array of i32 or i64";
    fits = array && (array.getElementType().isInteger(32) ||
                     array.getElementType().isInteger(64));
    break;
  case KernelElement::Index:
    wanted = "an index";
    fits = type.isIndex();
    break;
  }
  if (!fits)
    return emitError() << "expected " << operand.name << " to be " << wanted
                       << ", but got " << type;
  if (!array)
    return success();
  // The first operand is the first to be verified.
  const KernelOperand &first = signature.operands.front();
  Type decisive =
      getOperandArray(get(first.name).getType(), first).getElementType();
  return verifyWidth(operand, array, getAccumulationType(decisive),
                     [&] { return emitError(); });
}

/// The attributes are of the types that the op has them in.
LogicalResult Inputs::verifyAttributes() const {
  if (!invocation.attributes)
    return success();
  NamedAttrList attributes(invocation.attributes);
  OperationName name(signature.name, invocation.loc.getContext());
  return name.verifyInherentAttrs(attributes, [&] { return emitError(); });
}

LogicalResult Inputs::verifyRegions() const {
  size_t given = invocation.regions.size();
  if (given != 0 && given != signature.regions.size())
    return emitError() << "expected " << signature.regions.size()
                       << " regions, but got " << given;
  SmallVector<Value> captures = getCaptures();
  if (llvm::is_contained(captures, Value()))
    return emitError() << "expected every capture to be present";
  const KernelOperand &first = signature.operands.front();
  Type decisive =
      getOperandArray(get(first.name).getType(), first).getElementType();
  return verifyKernelRegions(signature, getAccumulationType(decisive),
                             ValueRange(captures).getTypes(),
                             invocation.regions, [&] { return emitError(); });
}

LogicalResult Inputs::verify(KernelShapes &shapes) const {
  ArrayRef<KernelOperand> inputs = signature.getInputs();
  if (invocation.getNumPositions() > inputs.size() && signature.regions.empty())
    return emitError() << "expected at most " << inputs.size()
                       << " operands, but got " << invocation.getNumPositions();
  for (auto [index, operand] : llvm::enumerate(inputs)) {
    Value value = invocation.getOperand(index);
    if (!value && operand.isOptional)
      continue;
    if (!value)
      return emitError() << "expected operand " << index << ", " << operand.name
                         << ", but got none";
    if (failed(verifyElement(operand, value)))
      return failure();
    if (ShapedType array = getOperandArray(value.getType(), operand);
        array &&
        failed(shapes.add(operand, array, [&] { return emitError(); })))
      return failure();
  }
  return failure(failed(shapes.verify([&] { return emitError(); })) ||
                 failed(verifyAttributes()) || failed(verifyRegions()));
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

static BufferRole getRole(KernelClause clause) {
  switch (clause) {
  case KernelClause::Checkpoints:
    return BufferRole::Checkpoint;
  case KernelClause::Scratch:
    return BufferRole::Scratch;
  default:
    return BufferRole::Output;
  }
}

/// The variant that an invocation is of.
static const KernelSignature &getVariantOf(const KernelSignature &signature,
                                           const KernelInvocation &invocation) {
  return signature.getVariant(
      [&](unsigned index) { return invocation.getOperand(index) != Value(); },
      invocation.attributes);
}

LogicalResult
mlir::pol::inferKernelBuffers(const KernelSignature &given,
                              KernelInvocation invocation,
                              SmallVectorImpl<BufferDescription> &buffers) {
  const KernelSignature &signature = getVariantOf(given, invocation);
  Inputs inputs{signature, invocation};
  KernelShapes shapes(signature, invocation.attributes);
  if (failed(inputs.verify(shapes)))
    return failure();
  MLIRContext *context = invocation.loc.getContext();
  auto getElement = [&](const KernelOperand &operand) {
    // What stands for an input that is not there is like the first one.
    Value like = inputs.get(operand.like);
    StringRef name = like ? operand.like : signature.operands.front().name;
    const KernelOperand &from = signature.operands[signature.getIndex(name)];
    return getOperandArray(inputs.get(name).getType(), from).getElementType();
  };
  for (const KernelOperand &operand : signature.operands) {
    if (!inputs.describes(operand))
      continue;
    Type element = getElement(operand);
    if (operand.element == KernelElement::Accumulation)
      element = getAccumulationType(element);
    if (operand.element == KernelElement::Tile)
      element = IntegerType::get(context, 32);
    buffers.push_back(
        {StringAttr::get(context, operand.name), getRole(operand.clause),
         UndefType::get(context, shapes.getShape(operand), element),
         operand.isOptional});
  }
  return success();
}

namespace {
/// The extents that letters stand for, of the first input that has each.
class Extents {
public:
  Extents(const Inputs &inputs, OpBuilder &builder)
      : inputs(inputs), builder(builder), loc(inputs.invocation.loc) {}

  /// Those of the letters of a shape.
  SmallVector<OpFoldResult> get(StringRef shape);
  OpFoldResult getNumSums();

private:
  OpFoldResult getLetter(char letter);
  void appendLeading(SmallVectorImpl<OpFoldResult> &extents);
  /// The array of an input; of a duplicated one, the primal has its shape.
  Value getArray(const KernelOperand &operand) {
    Value value = inputs.get(operand.name);
    return value && isa<DuplicatedType>(value.getType())
               ? PrimalOp::create(builder, loc, value).getResult()
               : value;
  }

  const Inputs &inputs;
  OpBuilder &builder;
  Location loc;
};
} // namespace

void Extents::appendLeading(SmallVectorImpl<OpFoldResult> &extents) {
  for (const KernelOperand &operand : inputs.signature.getInputs()) {
    if (!operand.shape.starts_with("*"))
      continue;
    Value array = getArray(operand);
    int64_t rank = cast<ShapedType>(array.getType()).getRank();
    int64_t letters = operand.shape.size() - 1;
    for (int64_t i = 0; i < rank - letters; ++i)
      extents.push_back(getExtent(builder, loc, array, i));
    return;
  }
}

/// How many numbers there are for the gradients of captures.
OpFoldResult Extents::getNumSums() {
  Value count = arith::ConstantIndexOp::create(builder, loc, 0);
  for (Value capture : inputs.getScattered())
    count = builder.createOrFold<arith::AddIOp>(
        loc, count,
        buildNumSums(builder, loc, PrimalOp::create(builder, loc, capture)));
  return getAsOpFoldResult(count);
}

OpFoldResult Extents::getLetter(char letter) {
  if (const DerivedExtent *derived = inputs.signature.getDerived(letter))
    return derived->build(builder, loc, get(derived->from),
                          inputs.invocation.attributes);
  for (const KernelOperand &operand : inputs.signature.getInputs()) {
    size_t at = operand.shape.find(letter);
    Value array = getArray(operand);
    if (at == StringRef::npos || !array)
      continue;
    int64_t fromEnd = operand.shape.size() - at;
    int64_t rank = cast<ShapedType>(array.getType()).getRank();
    return getExtent(builder, loc, array, rank - fromEnd);
  }
  llvm_unreachable("expected every extent to be that of an input");
}

SmallVector<OpFoldResult> Extents::get(StringRef shape) {
  SmallVector<OpFoldResult> extents;
  for (char letter : shape)
    if (letter == '*')
      appendLeading(extents);
    else
      extents.push_back(getLetter(letter));
  return extents;
}

LogicalResult mlir::pol::reifyKernelBuffers(
    const KernelSignature &given, OpBuilder &builder,
    KernelInvocation invocation,
    SmallVectorImpl<SmallVector<OpFoldResult>> &shapes) {
  const KernelSignature &signature = getVariantOf(given, invocation);
  Inputs inputs{signature, invocation};
  Extents extents(inputs, builder);
  for (const KernelOperand &operand : signature.operands)
    if (inputs.describes(operand))
      shapes.push_back(operand.isOfSums
                           ? SmallVector<OpFoldResult>{extents.getNumSums()}
                           : extents.get(operand.shape));
  return success();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Copies a region. A constant that was moved out of it comes back.
static void copyRegion(OpBuilder &outside, Region &from, Region &to) {
  IRMapping mapping;
  from.cloneInto(&to, mapping);
  if (to.empty())
    return;
  OpBuilder builder(outside.getContext());
  builder.setInsertionPointToStart(&to.front());
  for (Operation &op : to.front())
    for (OpOperand &operand : op.getOpOperands()) {
      Operation *def = operand.get().getDefiningOp();
      if (!def || def->getParentRegion() == &to ||
          !def->hasTrait<OpTrait::ConstantLike>())
        continue;
      operand.set(builder.clone(*def)->getResult(0));
    }
}

/// Adds captures, or the shadows of those that are duplicated.
static int32_t addCaptures(const Inputs &inputs, const KernelOperand &operand,
                           OpBuilder &builder, OperationState &state) {
  bool isGradient = operand.clause == KernelClause::CaptureGradients;
  SmallVector<int64_t> numbers;
  for (auto [number, capture] : llvm::enumerate(inputs.getCaptures())) {
    bool isDuplicated = isa<DuplicatedType>(capture.getType());
    if (isGradient && !isDuplicated)
      continue;
    numbers.push_back(number);
    if (!isGradient) {
      state.addOperands(capture);
      continue;
    }
    Value shadow = ShadowOp::create(builder, state.location, capture);
    state.addOperands(shadow);
    if (givesResult(operand, shadow))
      state.addTypes(shadow.getType());
  }
  if (isGradient && !numbers.empty())
    state.addAttribute(kCaptureGradients,
                       builder.getDenseI64ArrayAttr(numbers));
  return numbers.size();
}

FailureOr<Operation *>
mlir::pol::buildKernelOp(const KernelSignature &signature, OpBuilder &builder,
                         KernelInvocation invocation, ValueRange buffers) {
  Inputs inputs{signature, invocation};
  OperationState state(invocation.loc, signature.name);
  SmallVector<int32_t> sizes;
  size_t nextBuffer = 0;
  for (const KernelOperand &operand : signature.operands) {
    if (operand.isVariadic()) {
      sizes.push_back(addCaptures(inputs, operand, builder, state));
      continue;
    }
    Value value = inputs.get(operand.name);
    if (inputs.describes(operand))
      value = buffers[nextBuffer++];
    else if (inputs.hasShadow(operand))
      value = ShadowOp::create(builder, invocation.loc,
                               inputs.get(operand.gradientOf));
    if (value && isa<UndefType>(value.getType()))
      return mlir::emitError(invocation.loc)
             << signature.name << ": expected the shadow of "
             << operand.gradientOf << " to be allocated, but got "
             << value.getType();
    sizes.push_back(value ? 1 : 0);
    if (!value)
      continue;
    state.addOperands(value);
    if (givesResult(operand, value))
      state.addTypes(value.getType());
  }
  if (invocation.attributes)
    state.addAttributes(invocation.attributes.getValue());
  if (signature.hasOptionalOperands())
    state.addAttribute("operandSegmentSizes",
                       builder.getDenseI32ArrayAttr(sizes));
  for (size_t i = 0; i < signature.regions.size(); ++i) {
    Region *region = state.addRegion();
    if (i < invocation.regions.size())
      copyRegion(builder, *invocation.regions[i], *region);
  }
  return builder.create(state);
}
