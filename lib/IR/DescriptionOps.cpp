//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Descriptions as values, and the descriptions of functions.

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// UndefOp
//===----------------------------------------------------------------------===//

LogicalResult UndefOp::verify() {
  UndefType type = getType();
  auto wanted = static_cast<size_t>(type.getNumDynamicDims());
  if (!getLike()) {
    if (getExtents().size() != wanted)
      return emitOpError("expected an extent for each of ")
             << wanted << " dynamic dimensions, but got "
             << getExtents().size();
    return success();
  }

  auto like = cast<ShapedType>(getLike().getType());
  if (getExtents().empty() && succeeded(verifyCompatibleShape(like, type)) &&
      like.getRank() == type.getRank())
    return success();
  if (getExtents().size() != wanted)
    return emitOpError("expected the shape of ")
           << like << " or an extent for each of " << wanted
           << " dynamic dimensions, but got " << getExtents().size();
  if (like.getElementType() != type.getElementType())
    return emitOpError("expected element type ")
           << like.getElementType() << " where extents are given, but got "
           << type.getElementType();
  return success();
}

OpFoldResult UndefOp::fold(FoldAdaptor) {
  // A description like another, with nothing changed, is that one.
  if (getLike() && takesShapeOfLike() && getLike().getType() == getType())
    return getLike();
  return {};
}

namespace {
/// What `like` does not decide it is not needed for.
struct DropDecidedLike : OpRewritePattern<UndefOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UndefOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getLike())
      return rewriter.notifyMatchFailure(op, "has no like");
    // Extents that become static are still compared with those of like.
    if (op.takesShapeOfLike() &&
        !cast<ShapedType>(op.getLike().getType()).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "takes extents from like");
    if (!op.getType().hasStaticShape() && op.getExtents().empty())
      return rewriter.notifyMatchFailure(op, "needs the extents of like");
    rewriter.replaceOpWithNewOp<UndefOp>(op, op.getType(), op.getExtents());
    return success();
  }
};
} // namespace

void UndefOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<DropDecidedLike>(context);
}

//===----------------------------------------------------------------------===//
// DimOp
//===----------------------------------------------------------------------===//

LogicalResult DimOp::verify() {
  int64_t rank = getSource().getType().getRank();
  auto dimension = static_cast<int64_t>(getDimension());
  if (dimension < 0 || dimension >= rank)
    return emitOpError("expected a dimension below rank ")
           << rank << ", but got " << dimension;
  return success();
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  UndefType type = getSource().getType();
  auto dimension = static_cast<int64_t>(getDimension());
  if (!type.isDynamicDim(dimension))
    return IntegerAttr::get(IndexType::get(getContext()),
                            type.getDimSize(dimension));
  auto undef = getSource().getDefiningOp<UndefOp>();
  if (undef && !undef.getExtents().empty())
    return undef.getExtents()[type.getDynamicDimIndex(dimension)];
  return {};
}

//===----------------------------------------------------------------------===//
// BundleOp, GetOp, MergeOp
//===----------------------------------------------------------------------===//

void BundleOp::build(OpBuilder &builder, OperationState &state,
                     ArrayRef<StringAttr> names, ValueRange elements) {
  SmallVector<Attribute> attributes(names.begin(), names.end());
  auto type = BundleType::get(builder.getContext(), names,
                              llvm::to_vector(elements.getTypes()));
  build(builder, state, type, elements, builder.getArrayAttr(attributes));
}

LogicalResult BundleOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  SmallVector<StringAttr> names;
  if (!adaptor.getNames())
    return emitOptionalError(location, "expected names");
  for (Attribute name : adaptor.getNames()) {
    auto string = dyn_cast<StringAttr>(name);
    if (!string)
      return emitOptionalError(location, "expected names to be strings");
    names.push_back(string);
  }
  auto emitError = [&] {
    return mlir::emitError(location.value_or(UnknownLoc::get(context)));
  };
  SmallVector<Type> entries(adaptor.getElements().getTypes());
  types.push_back(BundleType::getChecked(emitError, context,
                                         ArrayRef<StringAttr>(names),
                                         ArrayRef<Type>(entries)));
  return success(!!types.back());
}

LogicalResult BundleOp::verify() {
  if (getNames().size() != getElements().size())
    return emitOpError("expected as many names as elements, but got ")
           << getNames().size() << " and " << getElements().size();
  return success();
}

LogicalResult GetOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto bundle = dyn_cast<BundleType>(adaptor.getSource().getType());
  if (!bundle)
    return emitOptionalError(location, "expected a bundle, but got ",
                             adaptor.getSource().getType());
  if (!adaptor.getNameAttr())
    return emitOptionalError(location, "expected a name");
  std::optional<unsigned> index = bundle.find(adaptor.getName());
  if (!index)
    return emitOptionalError(location, "expected ", bundle,
                             " to have an entry '", adaptor.getName(), "'");
  types.push_back(bundle.getTypes()[*index]);
  return success();
}

OpFoldResult GetOp::fold(FoldAdaptor) {
  if (auto bundle = getSource().getDefiningOp<BundleOp>())
    return bundle.getElements()[*bundle.getType().find(getName())];
  return {};
}

LogicalResult MergeOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  SmallVector<StringAttr> names;
  SmallVector<Type> entryTypes;
  for (Value source : adaptor.getSources()) {
    auto bundle = dyn_cast<BundleType>(source.getType());
    if (!bundle)
      return emitOptionalError(location, "expected bundles, but got ",
                               source.getType());
    for (auto [name, type] :
         llvm::zip_equal(bundle.getNames(), bundle.getTypes())) {
      auto *found = llvm::find(names, name);
      if (found == names.end()) {
        names.push_back(name);
        entryTypes.push_back(type);
      } else {
        entryTypes[found - names.begin()] = type;
      }
    }
  }
  types.push_back(BundleType::get(context, names, entryTypes));
  return success();
}

OpFoldResult MergeOp::fold(FoldAdaptor) {
  if (getSources().size() == 1)
    return getSources().front();
  return {};
}

namespace {
/// A merge of bundles whose entries are known is a bundle.
struct MergeKnownBundles : OpRewritePattern<MergeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MergeOp op,
                                PatternRewriter &rewriter) const override {
    BundleType type = op.getType();
    SmallVector<Value> elements(type.size());
    for (Value source : op.getSources()) {
      auto bundle = source.getDefiningOp<BundleOp>();
      if (!bundle)
        return rewriter.notifyMatchFailure(op, "a source is no pol.bundle");
      for (auto [name, element] :
           llvm::zip_equal(bundle.getType().getNames(), bundle.getElements()))
        elements[*type.find(name)] = element;
    }
    rewriter.replaceOpWithNewOp<BundleOp>(op, type.getNames(), elements);
    return success();
  }
};
} // namespace

void MergeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<MergeKnownBundles>(context);
}

//===----------------------------------------------------------------------===//
// DescriptionOp
//===----------------------------------------------------------------------===//

ParseResult DescriptionOp::parse(OpAsmParser &parser, OperationState &result) {
  FlatSymbolRefAttr function;
  FlatSymbolRefAttr forward;
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseKeyword("for") || parser.parseAttribute(function) ||
      (succeeded(parser.parseOptionalKeyword("gradient_of")) &&
       parser.parseAttribute(forward)) ||
      parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.function = function;
  properties.forward = forward;
  return parser.parseRegion(*result.addRegion(), arguments);
}

void DescriptionOp::print(OpAsmPrinter &printer) {
  printer << " for " << getFunctionAttr();
  if (getForwardAttr())
    printer << " gradient_of " << getForwardAttr() << " ";
  printer << "(";
  llvm::interleaveComma(
      getBody().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"function", "forward"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

DescribeOp DescriptionOp::getDescribe() {
  Block &block = getBody().front();
  return block.empty() ? DescribeOp() : dyn_cast<DescribeOp>(block.back());
}

void DescriptionOp::getBuffers(SmallVectorImpl<BufferDescription> &buffers) {
  DescribeOp describe = getDescribe();
  for (auto [name, role, buffer] : llvm::zip_equal(
           describe.getNames(), describe.getRoles(), describe.getBuffers()))
    buffers.push_back({cast<StringAttr>(name),
                       cast<BufferRoleAttr>(role).getValue(),
                       buffer.getType()});
}

/// Elements of arrays may not be read: a tensor or memref may only be asked for
/// its shape.
static bool looksOnlyAtShape(Operation *op) {
  return isa<tensor::DimOp, tensor::RankOp, memref::DimOp, memref::RankOp,
             UndefOp, BundleOp, GetOp, MergeOp, DuplicatedOp, PrimalOp,
             ShadowOp, OutputsOp, CheckpointsOp, ScratchOp>(op);
}

LogicalResult DescriptionOp::verifyRegions() {
  if (!getDescribe())
    return emitOpError("expected its body to end with pol.describe");
  WalkResult result = getBody().walk([&](Operation *op) {
    if (isa<DescribeOp>(op) && op->getParentOp() == getOperation())
      return WalkResult::advance();
    if (!isMemoryEffectFree(op)) {
      emitOpError("expected a body without memory effects")
              .attachNote(op->getLoc())
          << "'" << op->getName() << "' may have some";
      return WalkResult::interrupt();
    }
    if (!looksOnlyAtShape(op) &&
        llvm::any_of(op->getOperandTypes(), [](Type type) {
          return isa<TensorType, BaseMemRefType>(getPrimalType(type));
        })) {
      emitOpError("expected a body that looks only at shapes")
              .attachNote(op->getLoc())
          << "'" << op->getName() << "' may read elements";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Checks what is described against the function's arguments.
static LogicalResult verifyAgainstFunction(DescriptionOp op,
                                           func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  DescribeOp describe = op.getDescribe();
  llvm::SmallBitVector described(type.getNumInputs());
  for (auto [name, argument, buffer] :
       llvm::zip_equal(describe.getNames(), describe.getArguments(),
                       describe.getBuffers())) {
    StringRef text = cast<StringAttr>(name).getValue();
    if (argument < 0 || argument >= type.getNumInputs())
      return describe.emitOpError("expected '")
             << text << "' to be one of " << type.getNumInputs()
             << " arguments of " << op.getFunctionAttr() << ", but got "
             << argument;
    if (described.test(argument))
      return describe.emitOpError("expected argument ")
             << argument << " to be described once";
    described.set(argument);
    Type argumentType = type.getInput(argument);
    if (!describes(buffer.getType(), argumentType))
      return describe.emitOpError("expected '")
             << text << "' to describe argument " << argument << " of type "
             << argumentType << ", but got " << buffer.getType();
  }

  SmallVector<Type> inputs;
  for (auto [index, input] : llvm::enumerate(type.getInputs()))
    if (!described.test(index))
      inputs.push_back(input);
  if (op.getBody().getArgumentTypes() != TypeRange(inputs)) {
    InFlightDiagnostic error = op.emitOpError("expected the arguments of ");
    error << op.getFunctionAttr() << " that are not described, (" << inputs
          << "), but got (" << op.getBody().getArgumentTypes() << ")";
    return error;
  }
  return success();
}

/// The checkpoints of a backward function are those of its forward one.
static LogicalResult verifyAgainstForward(DescriptionOp op,
                                          SymbolTableCollection &symbols) {
  FlatSymbolRefAttr name = op.getForwardAttr();
  if (!name)
    return success();
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, name);
  DescriptionOp forward = function ? lookupDescription(function) : nullptr;
  if (!forward)
    return op.emitOpError("expected ")
           << name << " to be a function with a pol.description";
  auto getCheckpoints = [](DescriptionOp description) {
    Kernel kernel;
    if (!description.getBody().empty() && description.getDescribe())
      description.getBuffers(kernel.buffers);
    return kernel.getBundleType(description.getContext(),
                                BufferRole::Checkpoint);
  };
  BundleType wanted = getCheckpoints(forward);
  BundleType got = getCheckpoints(op);
  if (wanted.getNames() == got.getNames() &&
      areCompatibleDescriptions(wanted, got))
    return success();
  return op.emitOpError("expected the checkpoints of ")
         << name << ", " << wanted << ", but got " << got;
}

LogicalResult DescriptionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getFunctionAttr());
  if (!function)
    return emitOpError("expected ") << getFunctionAttr() << " to be a function";
  if (DescriptionOp first = lookupDescription(function); first != *this) {
    InFlightDiagnostic error = emitOpError("expected one description of ");
    error << getFunctionAttr();
    error.attachNote(first.getLoc()) << "another one is here";
    return error;
  }
  return failure(failed(verifyAgainstFunction(*this, function)) ||
                 failed(verifyAgainstForward(*this, symbols)));
}

LogicalResult DescribeOp::verify() {
  size_t count = getBuffers().size();
  if (getNames().size() != count || getRoles().size() != count ||
      getArguments().size() != count)
    return emitOpError("expected a name, role and argument for each of ")
           << count << " buffers, but got " << getNames().size() << ", "
           << getRoles().size() << " and " << getArguments().size();
  llvm::SmallDenseSet<Attribute> seen;
  auto last = BufferRole::Output;
  for (auto [name, roleAttr, buffer] :
       llvm::zip_equal(getNames(), getRoles(), getBuffers())) {
    StringRef text = cast<StringAttr>(name).getValue();
    if (text.empty())
      return emitOpError("expected every buffer to have a name");
    if (!seen.insert(name).second)
      return emitOpError("expected unique names, but got '")
             << text << "' twice";
    BufferRole role = cast<BufferRoleAttr>(roleAttr).getValue();
    if (role < last || role > BufferRole::Scratch)
      return emitOpError("expected outputs, then checkpoints, then scratch");
    last = role;
    if (!isDescriptionType(buffer.getType()))
      return emitOpError("expected '")
             << text << "' to be a description, but got " << buffer.getType();
  }
  return success();
}
