//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/IR/PolTypes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pol;

/// Deeper bundles are refused: parsers, printers and conversions recurse.
static constexpr unsigned kMaxBundleDepth = 64;

namespace {
/// Counts the types that are being parsed one inside another, valid or not: a
/// text can nest deeper than the stack.
class NestingScope {
public:
  NestingScope() { ++depth; }
  ~NestingScope() { --depth; }

  /// A duplicated array in the innermost bundle is as deep as any type may be.
  ParseResult check(AsmParser &parser, unsigned limit = kMaxBundleDepth + 2) {
    if (depth <= limit)
      return success();
    return parser.emitError(parser.getCurrentLocation())
           << "expected " << (limit == kMaxBundleDepth ? "bundles" : "types")
           << " to nest at most " << limit << " deep";
  }

private:
  static thread_local unsigned depth;
};
thread_local unsigned NestingScope::depth = 0;
} // namespace

static ParseResult parseMemorySpace(AsmParser &parser, Attribute &memorySpace) {
  NestingScope scope;
  return failure(scope.check(parser) || parser.parseAttribute(memorySpace));
}

static void printMemorySpace(AsmPrinter &printer, Attribute memorySpace) {
  printer << memorySpace;
}

//===----------------------------------------------------------------------===//
// Undef
//===----------------------------------------------------------------------===//

static ParseResult parseUndefShape(AsmParser &parser,
                                   SmallVector<int64_t> &shape,
                                   Type &elementType) {
  NestingScope scope;
  if (scope.check(parser) ||
      parser.parseDimensionList(shape, /*allowDynamic=*/true))
    return failure();
  return parser.parseType(elementType);
}

static void printUndefShape(AsmPrinter &printer, ArrayRef<int64_t> shape,
                            Type elementType) {
  printer.printDimensionList(shape);
  if (!shape.empty())
    printer << 'x';
  printer << elementType;
}

LogicalResult UndefType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> shape, Type elementType) {
  for (int64_t extent : shape)
    if (extent < 0 && !ShapedType::isDynamic(extent))
      return emitError() << "expected extents that are dynamic or not "
                            "negative, but got "
                         << extent;
  if (!elementType.isIntOrIndexOrFloat() && !isa<ComplexType>(elementType))
    return emitError() << "expected an integer, index, float or complex "
                          "element type, but got "
                       << elementType;
  return success();
}

ShapedType UndefType::cloneWith(std::optional<ArrayRef<int64_t>> shape,
                                Type elementType) const {
  return UndefType::get(getContext(), shape.value_or(getShape()), elementType);
}

//===----------------------------------------------------------------------===//
// Bundle
//===----------------------------------------------------------------------===//

static unsigned getBundleDepth(Type type) {
  auto bundle = dyn_cast<BundleType>(type);
  if (!bundle)
    return 0;
  unsigned depth = 0;
  for (Type element : bundle.getTypes())
    depth = std::max(depth, getBundleDepth(element));
  return depth + 1;
}

std::optional<unsigned> BundleType::find(StringRef name) const {
  for (auto [index, entry] : llvm::enumerate(getNames()))
    if (entry.getValue() == name)
      return index;
  return std::nullopt;
}

LogicalResult BundleType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<StringAttr> names,
                                 ArrayRef<Type> types) {
  if (names.size() != types.size())
    return emitError() << "expected as many names as types, but got "
                       << names.size() << " and " << types.size();
  llvm::SmallDenseSet<StringAttr> seen;
  for (auto [name, type] : llvm::zip_equal(names, types)) {
    if (name.getValue().empty())
      return emitError() << "expected bundle entries to have names";
    if (!seen.insert(name).second)
      return emitError() << "expected unique bundle names, but got '"
                         << name.getValue() << "' twice";
    if (!isa<UndefType, BundleType, DuplicatedType, RankedTensorType,
             MemRefType>(type))
      return emitError() << "expected bundle entry '" << name.getValue()
                         << "' to be a description, ranked tensor, memref, "
                            "duplicated value or bundle, but got "
                         << type;
    if (getBundleDepth(type) >= kMaxBundleDepth)
      return emitError() << "expected bundles to nest at most "
                         << kMaxBundleDepth << " deep";
  }
  return success();
}

Type BundleType::parse(AsmParser &parser) {
  NestingScope scope;
  if (scope.check(parser, kMaxBundleDepth))
    return Type();

  SmallVector<StringAttr> names;
  SmallVector<Type> types;
  auto parseEntry = [&]() -> ParseResult {
    std::string name;
    Type type;
    if (parser.parseKeywordOrString(&name) || parser.parseColon() ||
        parser.parseType(type))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    types.push_back(type);
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                     parseEntry) ||
      parser.parseGreater())
    return Type();
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    ArrayRef<StringAttr>(names), ArrayRef<Type>(types));
}

void BundleType::print(AsmPrinter &printer) const {
  printer << "<{";
  llvm::interleaveComma(llvm::zip_equal(getNames(), getTypes()), printer,
                        [&](auto entry) {
                          auto [name, type] = entry;
                          printer.printKeywordOrString(name.getValue());
                          printer << ": " << type;
                        });
  printer << "}>";
}

//===----------------------------------------------------------------------===//
// Duplicated
//===----------------------------------------------------------------------===//

static ParseResult parseDuplicatedParts(AsmParser &parser, Type &primal,
                                        Type &shadow) {
  NestingScope scope;
  if (scope.check(parser) || parser.parseType(primal))
    return failure();
  shadow = primal;
  if (failed(parser.parseOptionalComma()))
    return success();
  return parser.parseType(shadow);
}

static void printDuplicatedParts(AsmPrinter &printer, Type primal,
                                 Type shadow) {
  printer << primal;
  if (shadow != primal)
    printer << ", " << shadow;
}

/// What a shadow that is not a description has to be.
static StringRef getBufferKind(Type type) {
  if (isa<RankedTensorType>(type))
    return "ranked tensor";
  return isa<MemRefType>(type) ? "memref" : "";
}

LogicalResult
DuplicatedType::verify(function_ref<InFlightDiagnostic()> emitError,
                       Type primal, Type shadow) {
  auto isFloats = [](Type type) {
    return isa<FloatType>(cast<ShapedType>(type).getElementType());
  };
  if (!isa<UndefType, RankedTensorType, MemRefType>(primal) ||
      !isFloats(primal))
    return emitError() << "expected a primal that is a ranked tensor, memref "
                          "or description of floats, but got "
                       << primal;
  StringRef kind = getBufferKind(primal);
  if (!isa<UndefType>(shadow) &&
      (kind.empty() || getBufferKind(shadow) != kind)) {
    InFlightDiagnostic error = emitError() << "expected the shadow of ";
    error << primal << " to be a ";
    if (!kind.empty())
      error << kind << " or a ";
    error << "description, but got " << shadow;
    return error;
  }
  if (!isFloats(shadow))
    return emitError() << "expected a shadow of floats, but got " << shadow;
  auto primalShape = cast<ShapedType>(primal);
  auto shadowShape = cast<ShapedType>(shadow);
  if (failed(verifyCompatibleShape(primalShape.getShape(),
                                   shadowShape.getShape())))
    return emitError() << "expected a shadow of the shape of " << primal
                       << ", but got " << shadow;
  // Of equal width there is no wider: f16 and bf16 each hold what the other
  // does not.
  Type primalElement = primalShape.getElementType();
  Type shadowElement = shadowShape.getElementType();
  if (primalElement != shadowElement &&
      primalElement.getIntOrFloatBitWidth() >=
          shadowElement.getIntOrFloatBitWidth())
    return emitError() << "expected a shadow of " << primalElement
                       << " or wider elements, but got " << shadow;
  return success();
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

LogicalResult
mlir::pol::verifyMemorySpace(function_ref<InFlightDiagnostic()> emitError,
                             Attribute memorySpace) {
  // What MemRefType accepts, refused here with a message of ours.
  // The integer 0 is their default space, which is no attribute; an encoding
  // that depends on the shape is none.
  if (!memorySpace)
    return success();
  auto integer = dyn_cast<IntegerAttr>(memorySpace);
  if (integer ? !integer.getValue().isZero()
              : isa<StringAttr, DictionaryAttr>(memorySpace))
    return success();
  if (!isa<BuiltinDialect>(&memorySpace.getDialect()) &&
      !isa<VerifiableTensorEncoding>(memorySpace))
    return success();
  return emitError()
         << "expected a memory space that memrefs can have, but got "
         << memorySpace;
}

bool mlir::pol::isBufferType(Type type) {
  if (auto bundle = dyn_cast<BundleType>(type))
    return llvm::all_of(bundle.getTypes(), isBufferType);
  if (auto duplicated = dyn_cast<DuplicatedType>(type))
    return isBufferType(duplicated.getPrimal()) &&
           isBufferType(duplicated.getShadow());
  return isa<RankedTensorType, MemRefType>(type);
}

bool mlir::pol::isDescriptionType(Type type) {
  if (auto bundle = dyn_cast<BundleType>(type))
    return llvm::all_of(bundle.getTypes(), isDescriptionType);
  // The shadow of a description is one.
  return isa<UndefType>(getPrimalType(type));
}

Type mlir::pol::getPrimalType(Type type) {
  auto duplicated = dyn_cast<DuplicatedType>(type);
  return duplicated ? duplicated.getPrimal() : type;
}

Type mlir::pol::getMaterializedType(Type description, SpaceTypeInterface space,
                                    bool asMemRefs) {
  if (auto bundle = dyn_cast<BundleType>(description)) {
    SmallVector<Type> types;
    for (Type type : bundle.getTypes())
      types.push_back(getMaterializedType(type, space, asMemRefs));
    return BundleType::get(description.getContext(), bundle.getNames(), types);
  }
  if (auto duplicated = dyn_cast<DuplicatedType>(description)) {
    Type primal = getMaterializedType(duplicated.getPrimal(), space, asMemRefs);
    Type shadow = getMaterializedType(duplicated.getShadow(), space,
                                      isa<MemRefType>(primal));
    return DuplicatedType::get(description.getContext(), primal, shadow);
  }
  auto undef = dyn_cast<UndefType>(description);
  if (!undef)
    return description;
  if (asMemRefs)
    return MemRefType::get(undef.getShape(), undef.getElementType(),
                           MemRefLayoutAttrInterface(), space.getMemorySpace());
  return RankedTensorType::get(undef.getShape(), undef.getElementType(),
                               space.getMemorySpace());
}

Type mlir::pol::getDescribedType(Type buffer) {
  if (auto bundle = dyn_cast<BundleType>(buffer)) {
    SmallVector<Type> types;
    for (Type type : bundle.getTypes())
      types.push_back(getDescribedType(type));
    return BundleType::get(buffer.getContext(), bundle.getNames(), types);
  }
  if (auto duplicated = dyn_cast<DuplicatedType>(buffer))
    return DuplicatedType::get(buffer.getContext(),
                               getDescribedType(duplicated.getPrimal()),
                               getDescribedType(duplicated.getShadow()));
  auto shaped = cast<ShapedType>(buffer);
  return UndefType::get(buffer.getContext(), shaped.getShape(),
                        shaped.getElementType());
}

/// Compares two types entry for entry of bundles, primals and shadows each with
/// their like, and their leaves as told.
static bool matchLeaves(Type a, Type b,
                        function_ref<bool(Type, Type)> matchLeaf) {
  auto bundleA = dyn_cast<BundleType>(a);
  auto bundleB = dyn_cast<BundleType>(b);
  if (bundleA && bundleB)
    return bundleA.getNames() == bundleB.getNames() &&
           llvm::all_of(llvm::zip_equal(bundleA.getTypes(), bundleB.getTypes()),
                        [&](auto pair) {
                          auto [typeA, typeB] = pair;
                          return matchLeaves(typeA, typeB, matchLeaf);
                        });
  auto duplicatedA = dyn_cast<DuplicatedType>(a);
  auto duplicatedB = dyn_cast<DuplicatedType>(b);
  if (duplicatedA && duplicatedB)
    return matchLeaf(duplicatedA.getPrimal(), duplicatedB.getPrimal()) &&
           matchLeaf(duplicatedA.getShadow(), duplicatedB.getShadow());
  return !bundleA && !bundleB && !duplicatedA && !duplicatedB &&
         matchLeaf(a, b);
}

static bool haveCompatibleShapes(Type a, Type b) {
  auto shapedA = cast<ShapedType>(a), shapedB = cast<ShapedType>(b);
  return shapedA.getElementType() == shapedB.getElementType() &&
         succeeded(verifyCompatibleShape(shapedA, shapedB));
}

bool mlir::pol::describes(Type description, Type buffer) {
  return matchLeaves(description, buffer, [](Type description, Type buffer) {
    return isa<UndefType>(description) &&
           isa<RankedTensorType, MemRefType>(buffer) &&
           haveCompatibleShapes(description, buffer);
  });
}

bool mlir::pol::areCompatibleDescriptions(Type a, Type b) {
  return matchLeaves(a, b, [](Type a, Type b) {
    return a == b || (isa<UndefType>(a) && isa<UndefType>(b) &&
                      haveCompatibleShapes(a, b));
  });
}

int64_t mlir::pol::getElementBytes(Type elementType) {
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return 2 * getElementBytes(complex.getElementType());
  if (elementType.isIndex())
    return 8;
  // Memory holds powers of two: i1 takes a byte, i24 takes four.
  uint64_t bits = elementType.getIntOrFloatBitWidth();
  return llvm::PowerOf2Ceil(llvm::divideCeil(std::max<uint64_t>(bits, 1), 8));
}

FailureOr<std::optional<int64_t>> mlir::pol::getStaticBytes(ShapedType type) {
  int64_t bytes = getElementBytes(type.getElementType());
  // A zero extent makes the size zero however large the others are, but what
  // has an extent that only a run knows is not a buffer of static size.
  if (llvm::is_contained(type.getShape(), 0))
    return type.hasStaticShape() ? std::optional<int64_t>(0) : std::nullopt;
  for (int64_t extent : type.getShape())
    if (!ShapedType::isDynamic(extent) &&
        llvm::MulOverflow(bytes, extent, bytes))
      return failure();
  if (!type.hasStaticShape())
    return std::optional<int64_t>();
  return std::optional<int64_t>(bytes);
}

#define GET_TYPEDEF_CLASSES
#include "pol/IR/PolTypes.cpp.inc"

void PolDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "pol/IR/PolTypes.cpp.inc"
      >();
}
