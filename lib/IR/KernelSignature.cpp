//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What follows for an op from its kernel's signature.

#include "KernelShapes.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "pol/IR/PolOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::pol;

FloatType mlir::pol::getAccumulationType(Type elementType) {
  MLIRContext *context = elementType.getContext();
  return elementType.isF64() ? FloatType(Float64Type::get(context))
                             : FloatType(Float32Type::get(context));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ArrayRef<KernelOperand> KernelSignature::getInputs() const {
  return operands.take_while([](const KernelOperand &operand) {
    return operand.clause == KernelClause::Ins ||
           operand.clause == KernelClause::Saved;
  });
}

unsigned KernelSignature::getIndex(StringRef operand) const {
  const auto *found = llvm::find_if(
      operands, [&](const auto &known) { return known.name == operand; });
  return found - operands.begin();
}

const DerivedExtent *KernelSignature::getDerived(char letter) const {
  const DerivedExtent *found = llvm::find_if(
      derived, [&](const auto &known) { return known.letter == letter; });
  return found == derived.end() ? nullptr : found;
}

const KernelSignature &
KernelSignature::getVariant(function_ref<bool(unsigned index)> hasOperand,
                            DictionaryAttr attributes) const {
  if (!variant)
    return *this;
  unsigned index = getIndex(variantWith);
  bool isThere = index < operands.size()
                     ? hasOperand(index)
                     : attributes && attributes.contains(variantWith);
  return isThere ? *variant : *this;
}

bool KernelSignature::hasOptionalOperands() const {
  return llvm::any_of(operands, [](const KernelOperand &operand) {
    return operand.isOptional;
  });
}

bool KernelSignature::anyUser(
    const KernelOperand &scratch,
    function_ref<bool(const KernelOperand &)> predicate) const {
  SmallVector<StringRef> gradients;
  scratch.usedFor.split(gradients, ' ');
  return llvm::any_of(gradients, [&](StringRef name) {
    return predicate(operands[getIndex(name)]);
  });
}

/// How many operands each group has. An op without optional ones has no
/// attribute that says so, and one each.
static SmallVector<int32_t> getSizes(Operation *op) {
  auto sizes = dyn_cast_or_null<DenseI32ArrayAttr>(
      op->getInherentAttr("operandSegmentSizes").value_or(Attribute()));
  if (!sizes)
    return SmallVector<int32_t>(op->getNumOperands(), 1);
  return llvm::to_vector(sizes.asArrayRef());
}

OperandRange mlir::pol::getKernelOperands(Operation *op,
                                          const KernelSignature &,
                                          unsigned index) {
  SmallVector<int32_t> sizes = getSizes(op);
  int64_t begin = 0;
  for (int32_t size : ArrayRef(sizes).take_front(index))
    begin += size;
  int64_t size = index < sizes.size() ? sizes[index] : 0;
  if (begin < 0 || size < 0 || begin + size > op->getNumOperands())
    return op->getOperands().take_front(0);
  return op->getOperands().slice(begin, size);
}

OperandRange mlir::pol::getKernelOperands(Operation *op,
                                          const KernelSignature &signature,
                                          KernelClause clause) {
  const auto *group =
      llvm::find_if(signature.operands, [&](const KernelOperand &operand) {
        return operand.clause == clause;
      });
  return getKernelOperands(op, signature, group - signature.operands.begin());
}

Value mlir::pol::getKernelOperand(Operation *op,
                                  const KernelSignature &signature,
                                  unsigned index) {
  OperandRange values = getKernelOperands(op, signature, index);
  bool isOne = values.size() == 1 && !signature.operands[index].isVariadic();
  return isOne ? values.front() : Value();
}

const KernelSignature &
mlir::pol::getKernelVariant(Operation *op, const KernelSignature &signature) {
  return signature.getVariant(
      [&](unsigned index) {
        return getKernelOperand(op, signature, index) != Value();
      },
      op->getAttrDictionary());
}

bool mlir::pol::givesResult(const KernelOperand &operand, Value value) {
  return operand.isDestination() && isa<RankedTensorType>(value.getType());
}

/// The signature's entry for an operand of an op.
static const KernelOperand *lookupOperand(const KernelSignature &signature,
                                          OpOperand &operand) {
  unsigned begin = 0;
  for (auto [known, size] :
       llvm::zip(signature.operands, getSizes(operand.getOwner()))) {
    begin += size;
    if (operand.getOperandNumber() < begin)
      return &known;
  }
  return nullptr;
}

MutableOperandRange
mlir::pol::getKernelInits(Operation *op, const KernelSignature &signature) {
  unsigned begin = 0;
  unsigned size = 0;
  for (auto [operand, present] : llvm::zip(signature.operands, getSizes(op))) {
    if (operand.isDestination())
      size += present;
    else if (size == 0)
      begin += present;
  }
  unsigned available = op->getNumOperands();
  begin = std::min(begin, available);
  return MutableOperandRange(op, begin, std::min(size, available - begin));
}

void mlir::pol::getKernelEffects(
    Operation *op, const KernelSignature &signature,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  // Tensors are values, so only memrefs count.
  for (OpOperand &operand : op->getOpOperands()) {
    const KernelOperand *known = lookupOperand(signature, operand);
    if (!known || known->isUnread ||
        !isa<MemRefType>(getPrimalType(operand.get().getType())))
      continue;
    bool isScratch = known->clause == KernelClause::Scratch;
    if (isScratch || !known->isDestination())
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (isScratch || known->isDestination())
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

bool mlir::pol::mayKernelWorkInPlace(const KernelSignature &signature,
                                     OpOperand &input, OpOperand &destination) {
  const KernelOperand *from = lookupOperand(signature, input);
  const KernelOperand *to = lookupOperand(signature, destination);
  return from && to && !from->inPlace.empty() && from->inPlace == to->name;
}

bool mlir::pol::isKernelScratch(const KernelSignature &signature,
                                OpOperand &operand) {
  const KernelOperand *known = lookupOperand(signature, operand);
  return known && known->clause == KernelClause::Scratch;
}

bool mlir::pol::isKernelUnread(const KernelSignature &signature,
                               OpOperand &operand) {
  const KernelOperand *known = lookupOperand(signature, operand);
  return known && known->isUnread;
}

bool mlir::pol::takesKernelShadow(const KernelSignature &signature,
                                  OpOperand &operand) {
  const KernelOperand *known = lookupOperand(signature, operand);
  return known && known->isCotangent;
}

CheckpointName mlir::pol::getKernelCheckpoint(const KernelSignature &signature,
                                              OpOperand &operand) {
  const KernelOperand *known = lookupOperand(signature, operand);
  if (known && (known->clause == KernelClause::Saved ||
                known->clause == KernelClause::Checkpoints))
    return {signature.forward, known->name};
  return {};
}

ShapedType mlir::pol::getOperandArray(Type type, const KernelOperand &operand) {
  if (auto duplicated = dyn_cast<DuplicatedType>(type))
    type =
        operand.isCotangent ? duplicated.getShadow() : duplicated.getPrimal();
  return isa<RankedTensorType, MemRefType, UndefType>(type)
             ? cast<ShapedType>(type)
             : ShapedType();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// Checks an op against its signature.
class Verifier {
public:
  Verifier(Operation *op, const KernelSignature &signature)
      : op(op), signature(signature) {}

  LogicalResult verify() {
    return failure(failed(verifyNames()) || failed(verifyPresence()) ||
                   failed(verifyForm()) || failed(verifyAliases()) ||
                   failed(verifyShapes()) || failed(verifyElements()) ||
                   failed(verifyRegions()) ||
                   failed(verifyCaptureGradients()) || failed(verifyResults()));
  }

private:
  LogicalResult verifyNames();
  LogicalResult verifyPresence();
  LogicalResult verifyGradient(const KernelOperand &gradient);
  LogicalResult verifyShadow(const KernelOperand &gradient);
  LogicalResult verifyScratch(const KernelOperand &scratch);
  LogicalResult verifyTileList(const KernelOperand &list);
  LogicalResult verifyCaptureSums(const KernelOperand &sums);
  LogicalResult verifyAliases();
  LogicalResult verifyForm();
  LogicalResult verifyShapes();
  LogicalResult verifyElements();
  LogicalResult verifyRegions();
  LogicalResult verifyCaptureGradients();
  LogicalResult verifyCaptureGradient(int64_t number, Value destination);
  LogicalResult verifyResults();

  FloatType getAccumulation() {
    return getAccumulationType(
        getArray(signature.operands.front()).getElementType());
  }
  Value get(StringRef name) {
    return getKernelOperand(op, signature, signature.getIndex(name));
  }
  OperandRange getAll(const KernelOperand &operand) {
    return getKernelOperands(op, signature, signature.getIndex(operand.name));
  }
  bool hasGradients();
  bool hasDuplicated();
  bool has(const KernelOperand &operand) { return !getAll(operand).empty(); }
  ShapedType getArray(const KernelOperand &operand) {
    Value value = get(operand.name);
    return value ? getOperandArray(value.getType(), operand) : ShapedType();
  }

  Operation *op;
  const KernelSignature &signature;
};
} // namespace

/// A misspelt option would be ignored. Attributes of other dialects have their
/// prefix.
LogicalResult Verifier::verifyNames() {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!attribute.getName().getValue().contains('.'))
      return op->emitOpError("expected an attribute of it, but got '")
             << attribute.getName().getValue() << "'";
  return success();
}

LogicalResult Verifier::verifyPresence() {
  if (getSizes(op).size() != signature.operands.size())
    return op->emitOpError("expected ")
           << signature.operands.size() << " operand groups, but got "
           << getSizes(op).size();
  unsigned checkpoints = 0;
  unsigned given = 0;
  for (const KernelOperand &operand : signature.operands) {
    bool isPresent =
        operand.isVariadic() ? has(operand) : get(operand.name) != Value();
    if (!isPresent && !operand.isOptional)
      return op->emitOpError("expected one operand ") << operand.name;
    if (operand.clause == KernelClause::Checkpoints) {
      ++checkpoints;
      given += isPresent;
    }
    if (failed(verifyGradient(operand)) || failed(verifyScratch(operand)))
      return failure();
  }
  if (given != 0 && given != checkpoints)
    return op->emitOpError("expected all checkpoints or none, ")
           << checkpoints << ", but got " << given;
  return success();
}

/// A gradient is that of an input that is there, and one that is duplicated has
/// one.
LogicalResult Verifier::verifyGradient(const KernelOperand &gradient) {
  if (gradient.gradientOf.empty())
    return success();
  unsigned index = signature.getIndex(gradient.gradientOf);
  bool isNeeded = !signature.operands[index].isUnread;
  if (get(gradient.name) && isNeeded && !get(gradient.gradientOf))
    return op->emitOpError("expected no destination ")
           << gradient.name << " where there is no " << gradient.gradientOf;
  return verifyShadow(gradient);
}

/// Whether the kernel computes gradients of captures.
bool Verifier::hasGradients() {
  return llvm::any_of(signature.operands, [](const KernelOperand &operand) {
    return operand.clause == KernelClause::CaptureGradients;
  });
}

/// Whether any operand that may have a gradient is duplicated.
bool Verifier::hasDuplicated() {
  auto isDuplicated = [](Value value) {
    return isa<DuplicatedType>(value.getType());
  };
  return llvm::any_of(signature.operands, [&](const KernelOperand &operand) {
    if (operand.clause == KernelClause::Captures)
      return hasGradients() && llvm::any_of(getAll(operand), isDuplicated);
    Value from = operand.gradientOf.empty() ? Value() : get(operand.gradientOf);
    return from && isDuplicated(from);
  });
}

/// A duplicated input's gradient goes to its shadow; where one is duplicated,
/// those that are not are constants.
LogicalResult Verifier::verifyShadow(const KernelOperand &gradient) {
  Value input = get(gradient.gradientOf);
  Value destination = get(gradient.name);
  auto duplicated =
      input ? dyn_cast<DuplicatedType>(input.getType()) : DuplicatedType();
  if (duplicated && !destination)
    return op->emitOpError("expected a destination ")
           << gradient.name << ", as " << gradient.gradientOf
           << " is duplicated";
  if (duplicated && destination.getType() != duplicated.getShadow())
    return op->emitOpError("expected ")
           << gradient.name << " to be of the type of the shadow of "
           << gradient.gradientOf << ", " << duplicated.getShadow()
           << ", but got " << destination.getType();
  if (hasDuplicated() && destination && !duplicated)
    return op->emitOpError("expected no destination ")
           << gradient.name << ", as others are duplicated and "
           << gradient.gradientOf << " is not";
  return success();
}

/// Whether a list of tiles is worth its memory is for descriptions to say: what
/// a mask keeps may become plainer as a program is simplified.
LogicalResult Verifier::verifyTileList(const KernelOperand &list) {
  auto isMask = [](const KernelRegion &kind) { return !kind.isOfScores; };
  size_t mask =
      llvm::find_if(signature.regions, isMask) - signature.regions.begin();
  bool hasMask = mask < op->getNumRegions() && !op->getRegion(mask).empty();
  if (has(list) && !hasMask)
    return op->emitOpError("expected no scratch ")
           << list.name << " without a mask";
  if (has(list) && op->hasAttr("packed"))
    return op->emitOpError("expected no scratch ")
           << list.name << " where sequences are packed";
  return success();
}

/// There may be more sums than are needed, once loads are simpler.
LogicalResult Verifier::verifyCaptureSums(const KernelOperand &sums) {
  OperandRange gradients =
      getKernelOperands(op, signature, KernelClause::CaptureGradients);
  if (has(sums) && gradients.empty())
    return op->emitOpError("expected no scratch ")
           << sums.name << " without gradients of captures";
  return success();
}

/// Scratch is where a gradient that needs it is.
LogicalResult Verifier::verifyScratch(const KernelOperand &scratch) {
  if (scratch.isOfMask)
    return verifyTileList(scratch);
  if (scratch.isOfSums)
    return verifyCaptureSums(scratch);
  if (scratch.isOfTarget || scratch.usedFor.empty())
    return success();
  bool isNeeded = signature.anyUser(
      scratch, [&](const KernelOperand &gradient) { return has(gradient); });
  if (isNeeded == has(scratch))
    return success();
  SmallVector<StringRef> gradients;
  scratch.usedFor.split(gradients, ' ');
  return op->emitOpError("expected ")
         << (isNeeded ? "" : "no ") << "scratch " << scratch.name
         << (isNeeded ? " where " : " without ")
         << llvm::join(gradients, isNeeded ? " or " : " and ")
         << (isNeeded ? " is computed" : "");
}

/// All arrays are tensors or all are memrefs.
LogicalResult Verifier::verifyForm() {
  bool hasTensor = false;
  bool hasMemRef = false;
  for (const KernelOperand &operand : signature.operands)
    for (Value value : getAll(operand))
      if (ShapedType type = getOperandArray(value.getType(), operand)) {
        hasTensor |= isa<RankedTensorType>(type);
        hasMemRef |= isa<MemRefType>(type);
      }
  if (hasTensor && hasMemRef)
    return op->emitOpError("expected all operands to be tensors or all to be "
                           "memrefs");
  return success();
}

/// What is written is no other operand's memory, unless the kernel can work in
/// place. Of memrefs only what is one value is seen; tensors are copied.
LogicalResult Verifier::verifyAliases() {
  for (OpOperand &written : op->getOpOperands()) {
    const KernelOperand *to = lookupOperand(signature, written);
    auto memref = dyn_cast<MemRefType>(written.get().getType());
    // Nothing has no place.
    if (!memref || llvm::is_contained(memref.getShape(), 0) || !to ||
        to->isInput())
      continue;
    for (OpOperand &other : op->getOpOperands()) {
      const KernelOperand *from = lookupOperand(signature, other);
      if (&other == &written || other.get() != written.get() || !from ||
          from->isUnread || from->inPlace == to->name)
        continue;
      return op->emitOpError("expected ")
             << to->name << " not to be the memory of " << from->name;
    }
  }
  return success();
}

LogicalResult Verifier::verifyShapes() {
  KernelShapes shapes(signature, signature.derived.empty()
                                     ? DictionaryAttr()
                                     : op->getAttrDictionary());
  auto emitError = [&] { return op->emitOpError(); };
  for (const KernelOperand &operand : signature.operands)
    if (ShapedType type = getArray(operand);
        type && failed(shapes.add(operand, type, emitError)))
      return failure();
  return shapes.verify(emitError);
}

LogicalResult mlir::pol::verifyWidth(const KernelOperand &operand,
                                     ShapedType type, FloatType accumulation,
                                     EmitErrorFn emitError) {
  Type element = type.getElementType();
  if (operand.element == KernelElement::Float &&
      element.getIntOrFloatBitWidth() > accumulation.getWidth())
    return emitError() << "expected " << operand.name << " to be no wider than "
                       << accumulation << ", but got " << element;
  if (operand.element == KernelElement::Accumulation && element != accumulation)
    return emitError() << "expected " << operand.name
                       << " to have element type " << accumulation
                       << ", but got " << element;
  return success();
}

LogicalResult Verifier::verifyElements() {
  FloatType accumulation = getAccumulation();
  for (const KernelOperand &operand : signature.operands) {
    ShapedType type = getArray(operand);
    if (!type)
      continue;
    if (failed(verifyWidth(operand, type, accumulation,
                           [&] { return op->emitOpError(); })))
      return failure();
  }
  return success();
}

LogicalResult Verifier::verifyRegions() {
  if (signature.regions.empty())
    return success();
  OperandRange captures =
      getKernelOperands(op, signature, KernelClause::Captures);
  return verifyKernelRegions(signature, getAccumulation(), captures.getTypes(),
                             op->getRegions(),
                             [&] { return op->emitOpError(); });
}

/// A gradient is of the shape of its capture, which is an array of floats, and
/// goes to the shadow of one that is duplicated.
LogicalResult Verifier::verifyCaptureGradient(int64_t number,
                                              Value destination) {
  Type capture =
      getKernelOperands(op, signature, KernelClause::Captures)[number]
          .getType();
  if (auto duplicated = dyn_cast<DuplicatedType>(capture)) {
    if (destination.getType() == duplicated.getShadow())
      return success();
    return op->emitOpError("expected the gradient of capture ")
           << number << " to be of the type of its shadow, "
           << duplicated.getShadow() << ", but got " << destination.getType();
  }
  auto from = dyn_cast<ShapedType>(capture);
  auto to = dyn_cast<ShapedType>(destination.getType());
  if (!from || !isa<FloatType>(from.getElementType()))
    return op->emitOpError("expected a gradient of an array of floats, but "
                           "capture ")
           << number << " is " << capture;
  if (!to || failed(verifyCompatibleShape(from, to)))
    return op->emitOpError("expected the gradient of capture ")
           << number << " to be of its shape, " << capture << ", but got "
           << destination.getType();
  return success();
}

LogicalResult Verifier::verifyCaptureGradients() {
  OperandRange gradients =
      getKernelOperands(op, signature, KernelClause::CaptureGradients);
  OperandRange captures =
      getKernelOperands(op, signature, KernelClause::Captures);
  auto attribute = dyn_cast_or_null<DenseI64ArrayAttr>(
      op->getInherentAttr(kCaptureGradients).value_or(Attribute()));
  ArrayRef<int64_t> numbers =
      attribute ? attribute.asArrayRef() : ArrayRef<int64_t>();
  if (numbers.size() != gradients.size())
    return op->emitOpError("expected ")
           << kCaptureGradients << " to number " << gradients.size()
           << " captures, but got " << numbers.size();
  for (auto [index, number] : llvm::enumerate(numbers)) {
    if (number < 0 || number >= static_cast<int64_t>(captures.size()))
      return op->emitOpError("expected a gradient of one of ")
             << captures.size() << " captures, but got " << number;
    if (index > 0 && number <= numbers[index - 1])
      return op->emitOpError("expected gradients in the order of captures, "
                             "but got ")
             << number << " after " << numbers[index - 1];
    if (failed(verifyCaptureGradient(number, gradients[index])))
      return failure();
  }
  // Where any operand is duplicated, those that are not are constants.
  if (!hasGradients())
    return success();
  bool usesShadows = hasDuplicated();
  for (auto [number, type] : llvm::enumerate(captures.getTypes())) {
    bool isGiven = llvm::is_contained(numbers, static_cast<int64_t>(number));
    bool isDuplicated = isa<DuplicatedType>(type);
    if (isDuplicated && !isGiven)
      return op->emitOpError("expected a gradient of capture ")
             << number << ", as it is duplicated";
    if (usesShadows && !isDuplicated && isGiven)
      return op->emitOpError("expected no gradient of capture ")
             << number << ", as others are duplicated and it is not";
  }
  return success();
}

/// The results are the tensors among the destinations.
LogicalResult Verifier::verifyResults() {
  SmallVector<Type> wanted;
  for (const KernelOperand &operand : signature.operands)
    for (Value value : getAll(operand))
      if (givesResult(operand, value))
        wanted.push_back(value.getType());
  if (op->getResultTypes() == TypeRange(wanted))
    return success();
  InFlightDiagnostic error =
      op->emitOpError("expected results of its destinations' types (");
  error << wanted << "), but got (" << op->getResultTypes() << ")";
  return error;
}

LogicalResult mlir::pol::verifyKernel(Operation *op,
                                      const KernelSignature &signature) {
  return Verifier(op, getKernelVariant(op, signature)).verify();
}
