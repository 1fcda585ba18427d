//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How kernels are written.

#include "mlir/IR/Builders.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

static StringRef getKeyword(KernelClause clause) {
  switch (clause) {
  case KernelClause::Ins:
    return "ins";
  case KernelClause::Captures:
    return "captures";
  case KernelClause::Outs:
    return "outs";
  case KernelClause::CaptureGradients:
    return "dcaptures";
  case KernelClause::Saved:
  case KernelClause::Checkpoints:
    return "checkpoints";
  case KernelClause::Scratch:
    return "scratch";
  }
  return "";
}

/// The operands from a position on that are written in one clause.
static ArrayRef<KernelOperand> getClause(const KernelSignature &signature,
                                         size_t begin) {
  ArrayRef<KernelOperand> rest = signature.operands.drop_front(begin);
  return rest.take_while([&](const KernelOperand &operand) {
    return operand.clause == rest.front().clause;
  });
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// The values of one clause: one or none for each of its operands.
struct ClauseParser {
  OpAsmParser &parser;
  ArrayRef<KernelOperand> operands;
  SmallVector<std::optional<OpAsmParser::UnresolvedOperand>> values;
  SMLoc loc;
  size_t next = 0;

  ClauseParser(OpAsmParser &parser, ArrayRef<KernelOperand> operands)
      : parser(parser), operands(operands), values(operands.size()),
        loc(parser.getCurrentLocation()) {}

  /// `%a, %b` or, of gradients, `0 = %a, 2 = %b`: all of one group.
  ParseResult parseMany(OperationState &result,
                        SmallVectorImpl<int32_t> &sizes) {
    SmallVector<OpAsmParser::UnresolvedOperand> many;
    SmallVector<int64_t> numbers;
    SmallVector<Type> types;
    bool isNumbered = operands.front().clause == KernelClause::CaptureGradients;
    auto parseOne = [&]() -> ParseResult {
      if (isNumbered &&
          (parser.parseInteger(numbers.emplace_back()) || parser.parseEqual()))
        return failure();
      return parser.parseOperand(many.emplace_back());
    };
    if (parser.parseLParen() || parser.parseCommaSeparatedList(parseOne) ||
        parser.parseColonTypeList(types) || parser.parseRParen())
      return failure();
    if (isNumbered)
      result.addAttribute(kCaptureGradients,
                          parser.getBuilder().getDenseI64ArrayAttr(numbers));
    sizes.push_back(many.size());
    return parser.resolveOperands(many, types, loc, result.operands);
  }

  /// `%value` or `name = %value`
  ParseResult parseValue() {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (succeeded(parser.parseOptionalKeyword(&name))) {
      const auto *named = llvm::find_if(
          operands, [&](const auto &operand) { return operand.name == name; });
      if (named == operands.end()) {
        InFlightDiagnostic error = parser.emitError(at, "expected one of ");
        llvm::interleaveComma(operands, error, [&](const auto &operand) {
          error << operand.name;
        });
        return error << ", but got '" << name << "'";
      }
      next = named - operands.begin();
      if (parser.parseEqual())
        return failure();
    }
    if (next >= operands.size())
      return parser.emitError(at, "expected at most ")
             << operands.size() << " operands";
    if (values[next])
      return parser.emitError(at, "expected ")
             << operands[next].name << " once";
    return parser.parseOperand(values[next++].emplace());
  }

  ParseResult parse(OperationState &result, SmallVectorImpl<int32_t> &sizes) {
    if (operands.front().isVariadic())
      return parseMany(result, sizes);
    SmallVector<Type> types;
    if (parser.parseLParen() ||
        parser.parseCommaSeparatedList([&] { return parseValue(); }) ||
        parser.parseColonTypeList(types) || parser.parseRParen())
      return failure();
    SmallVector<OpAsmParser::UnresolvedOperand> present;
    for (const auto &value : values)
      if (value)
        present.push_back(*value);
    if (finish(sizes))
      return failure();
    return parser.resolveOperands(present, types, loc, result.operands);
  }

  /// Says which operands there are, and that the required ones are.
  ParseResult finish(SmallVectorImpl<int32_t> &sizes) {
    for (auto [operand, value] : llvm::zip_equal(operands, values)) {
      if (!value && !operand.isOptional)
        return parser.emitError(loc, "expected ")
               << operand.name << " in '" << getKeyword(operand.clause)
               << "(...)'";
      sizes.push_back(value ? 1 : 0);
    }
    return success();
  }
};
} // namespace

/// `score(%s, %b, %h, %q, %k, %captures...) { ... }`: arguments have no types,
/// as these follow from the operands; that of one which is less static than its
/// capture is given behind a colon.
static ParseResult parseRegion(OpAsmParser &parser, OperationState &result,
                               const KernelRegion &region, TypeRange captures) {
  Region *body = result.addRegion();
  if (failed(parser.parseOptionalKeyword(region.name)))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::Argument> arguments;
  auto parseArgument = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    return failure(parser.parseArgument(argument) ||
                   (succeeded(parser.parseOptionalColon()) &&
                    parser.parseType(argument.type)));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     parseArgument))
    return failure();
  // What is not right of these is said when the op is verified.
  ShapedType first;
  if (!result.operands.empty())
    first = getOperandArray(result.operands.front().getType(),
                            KernelOperand("", KernelClause::Ins, ""));
  FloatType accumulation = getAccumulationType(
      first ? first.getElementType() : parser.getBuilder().getF32Type());
  SmallVector<Type> types =
      getRegionArgumentTypes(region, accumulation, captures);
  if (arguments.size() != types.size())
    return parser.emitError(loc, "expected ")
           << types.size() << " arguments of " << region.name << ", of which "
           << captures.size() << " are for captures, but got "
           << arguments.size();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = argument.type ? argument.type : type;
  return parser.parseRegion(*body, arguments);
}

/// The types of the operands in the group of captures.
static SmallVector<Type> getCaptureTypes(const OperationState &result,
                                         const KernelSignature &signature,
                                         ArrayRef<int32_t> sizes) {
  SmallVector<Type> types;
  unsigned begin = 0;
  for (auto [operand, size] : llvm::zip(signature.operands, sizes)) {
    if (operand.clause == KernelClause::Captures)
      for (Value value : ArrayRef<Value>(result.operands).slice(begin, size))
        types.push_back(value.getType());
    begin += size;
  }
  return types;
}

ParseResult mlir::pol::parseKernel(OpAsmParser &parser, OperationState &result,
                                   const KernelSignature &signature) {
  SmallVector<int32_t> sizes;
  while (sizes.size() < signature.operands.size()) {
    ArrayRef<KernelOperand> clause = getClause(signature, sizes.size());
    ClauseParser values(parser, clause);
    if (succeeded(
            parser.parseOptionalKeyword(getKeyword(clause.front().clause)))
            ? values.parse(result, sizes)
            : values.finish(sizes))
      return failure();
  }
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(
          &keyword,
          {"ins", "captures", "checkpoints", "outs", "dcaptures", "scratch"})))
    return parser.emitError(loc, "expected no '") << keyword << "(...)' here";
  SmallVector<Type> captures = getCaptureTypes(result, signature, sizes);
  for (const KernelRegion &region : signature.regions)
    if (parseRegion(parser, result, region, captures))
      return failure();
  for (const KernelRegion &region : signature.regions)
    if (succeeded(parser.parseOptionalKeyword(region.name)))
      return parser.emitError(parser.getCurrentLocation(), "expected no '")
             << region.name << "(...)' here";
  if (parser.parseOptionalAttrDict(result.attributes) ||
      failed(result.name.verifyInherentAttrs(
          result.attributes, [&] { return parser.emitError(loc); })))
    return failure();
  if (signature.hasOptionalOperands())
    result.addAttribute("operandSegmentSizes",
                        parser.getBuilder().getDenseI32ArrayAttr(sizes));
  return parser.parseOptionalArrow() ? success()
                                     : parser.parseTypeList(result.types);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Any number of values, each behind its number where there are numbers.
static void printMany(OpAsmPrinter &printer, Operation *op,
                      const KernelSignature &signature, size_t index) {
  OperandRange values = getKernelOperands(op, signature, index);
  if (values.empty())
    return;
  const KernelOperand &operand = signature.operands[index];
  printer << " " << getKeyword(operand.clause) << "(";
  DenseI64ArrayAttr numbers;
  if (operand.clause == KernelClause::CaptureGradients)
    numbers = op->getAttrOfType<DenseI64ArrayAttr>(kCaptureGradients);
  llvm::interleaveComma(llvm::enumerate(values), printer, [&](auto value) {
    if (numbers && value.index() < static_cast<size_t>(numbers.size()))
      printer << numbers[value.index()] << " = ";
    printer << value.value();
  });
  printer << " : " << values.getTypes() << ")";
}

static void printRegion(OpAsmPrinter &printer, Region &body, StringRef name,
                        TypeRange captures) {
  if (body.empty())
    return;
  printer << " " << name << "(";
  size_t first = body.getNumArguments() - captures.size();
  llvm::interleaveComma(
      body.getArguments(), printer, [&](BlockArgument argument) {
        size_t number = argument.getArgNumber();
        bool isImplied =
            number < first || number - first >= captures.size() ||
            getPrimalType(captures[number - first]) == argument.getType();
        printer.printRegionArgument(argument, {}, /*omitType=*/isImplied);
      });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

static void printClause(OpAsmPrinter &printer, Operation *op,
                        const KernelSignature &signature, size_t begin) {
  ArrayRef<KernelOperand> clause = getClause(signature, begin);
  if (clause.front().isVariadic())
    return printMany(printer, op, signature, begin);
  SmallVector<Value> values;
  bool isGap = false;
  for (auto [index, operand] : llvm::enumerate(clause)) {
    Value value = getKernelOperand(op, signature, begin + index);
    if (!value) {
      isGap = true;
      continue;
    }
    printer << (values.empty() ? " " + getKeyword(operand.clause).str() + "("
                               : std::string(", "));
    if (isGap)
      printer << operand.name << " = ";
    isGap = false; // The next one follows it again.
    printer << value;
    values.push_back(value);
  }
  if (!values.empty())
    printer << " : " << TypeRange(ValueRange(values)) << ")";
}

void mlir::pol::printKernel(OpAsmPrinter &printer, Operation *op,
                            const KernelSignature &signature) {
  for (size_t begin = 0; begin < signature.operands.size();
       begin += getClause(signature, begin).size())
    printClause(printer, op, signature, begin);
  for (auto [region, body] : llvm::zip(signature.regions, op->getRegions()))
    printRegion(
        printer, body, region.name,
        getKernelOperands(op, signature, KernelClause::Captures).getTypes());
  SmallVector<StringRef> elided{"operandSegmentSizes", kCaptureGradients};
  for (auto [name, value] : signature.defaults) {
    auto attribute = op->getAttrOfType<FloatAttr>(name);
    if (attribute && attribute.getValue().bitwiseIsEqual(llvm::APFloat(value)))
      elided.push_back(name);
  }
  printer.printOptionalAttrDict(op->getAttrs(), elided);
  if (op->getNumResults() > 0)
    printer << " -> " << op->getResultTypes();
}
