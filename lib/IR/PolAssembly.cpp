//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PolAssembly.h"

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// Named operands
//===----------------------------------------------------------------------===//

ParseResult mlir::pol::parseNamedOperands(OpAsmParser &parser,
                                          UnresolvedOperands &values,
                                          Types &types, ArrayAttr &names) {
  SmallVector<Attribute> parsed;
  auto parseEntry = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
        parser.parseOperand(values.emplace_back()) ||
        parser.parseColonType(types.emplace_back()))
      return failure();
    parsed.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseEntry))
    return failure();
  names = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

void mlir::pol::printNamedOperands(OpAsmPrinter &printer, Operation *,
                                   OperandRange values, TypeRange types,
                                   ArrayAttr names) {
  printer << "{";
  llvm::interleaveComma(
      llvm::zip(values, types, names), printer, [&](auto entry) {
        auto [value, type, name] = entry;
        printer.printKeywordOrString(cast<StringAttr>(name).getValue());
        printer << " = " << value << " : " << type;
      });
  printer << "}";
}

//===----------------------------------------------------------------------===//
// Described buffers
//===----------------------------------------------------------------------===//

static constexpr std::pair<BufferRole, StringLiteral> kRoles[] = {
    {BufferRole::Output, "outputs"},
    {BufferRole::Checkpoint, "checkpoints"},
    {BufferRole::Scratch, "scratch"}};

ParseResult mlir::pol::parseDescribedBuffers(OpAsmParser &parser,
                                             UnresolvedOperands &buffers,
                                             Types &types, ArrayAttr &names,
                                             ArrayAttr &roles,
                                             DenseI64ArrayAttr &arguments) {
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> parsedNames, parsedRoles;
  SmallVector<int64_t> parsedArguments;
  for (auto [role, keyword] : kRoles) {
    if (failed(parser.parseOptionalKeyword(keyword)))
      continue;
    auto parseEntry = [&, role = role]() -> ParseResult {
      std::string name;
      if (parser.parseKeywordOrString(&name) || parser.parseLParen() ||
          parser.parseInteger(parsedArguments.emplace_back()) ||
          parser.parseRParen() || parser.parseEqual() ||
          parser.parseOperand(buffers.emplace_back()) ||
          parser.parseColonType(types.emplace_back()))
        return failure();
      parsedNames.push_back(builder.getStringAttr(name));
      parsedRoles.push_back(BufferRoleAttr::get(builder.getContext(), role));
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                       parseEntry))
      return failure();
  }
  names = builder.getArrayAttr(parsedNames);
  roles = builder.getArrayAttr(parsedRoles);
  arguments = builder.getDenseI64ArrayAttr(parsedArguments);
  return success();
}

void mlir::pol::printDescribedBuffers(OpAsmPrinter &printer, Operation *,
                                      OperandRange buffers, TypeRange types,
                                      ArrayAttr names, ArrayAttr roles,
                                      DenseI64ArrayAttr arguments) {
  bool firstGroup = true;
  for (auto [role, keyword] : kRoles) {
    bool firstEntry = true;
    for (auto [buffer, type, name, entryRole, argument] :
         llvm::zip(buffers, types, names, roles, arguments.asArrayRef())) {
      if (cast<BufferRoleAttr>(entryRole).getValue() != role)
        continue;
      if (firstEntry)
        printer << (firstGroup ? "" : " ") << keyword << " {";
      else
        printer << ", ";
      firstGroup = firstEntry = false;
      printer.printKeywordOrString(cast<StringAttr>(name).getValue());
      printer << "(" << argument << ") = " << buffer << " : " << type;
    }
    if (!firstEntry)
      printer << "}";
  }
}

//===----------------------------------------------------------------------===//
// What a kernel is asked with
//===----------------------------------------------------------------------===//

/// Verifiers ask the op for its buffers, and cannot load a dialect.
static KernelOpNameAttr loadKernelOpName(StringAttr name) {
  MLIRContext *context = name.getContext();
  context->getOrLoadDialect(name.getValue().split('.').first);
  return KernelOpNameAttr::get(context, name);
}

Attribute KernelOpNameAttr::parse(AsmParser &parser, Type) {
  std::string name;
  if (parser.parseLess() || parser.parseString(&name) || parser.parseGreater())
    return Attribute();
  return loadKernelOpName(parser.getBuilder().getStringAttr(name));
}

void KernelOpNameAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName() << ">";
}

ParseResult mlir::pol::parseKernelInvocation(
    OpAsmParser &parser, Attribute &name, UnresolvedOperands &inputs,
    DenseBoolArrayAttr &present, DictionaryAttr &options,
    SmallVectorImpl<std::unique_ptr<Region>> &regions) {
  std::string op;
  FlatSymbolRefAttr function;
  if (succeeded(parser.parseOptionalString(&op)))
    name = loadKernelOpName(parser.getBuilder().getStringAttr(op));
  else if (parser.parseAttribute(function))
    return failure();
  else
    name = function;

  SmallVector<bool> flags;
  auto parseInput = [&]() -> ParseResult {
    flags.push_back(failed(parser.parseOptionalKeyword("none")));
    return flags.back() ? parser.parseOperand(inputs.emplace_back())
                        : ParseResult(success());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInput))
    return failure();
  if (llvm::is_contained(flags, false))
    present = parser.getBuilder().getDenseBoolArrayAttr(flags);

  OptionalParseResult parsed = parser.parseOptionalAttribute(options);
  if (parsed.has_value() && failed(*parsed))
    return failure();
  if (failed(parser.parseOptionalKeyword("regions")))
    return success();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    regions.push_back(std::make_unique<Region>());
    return parser.parseRegion(*regions.back());
  });
}

void mlir::pol::printKernelInvocation(OpAsmPrinter &printer, Operation *,
                                      Attribute name, OperandRange inputs,
                                      DenseBoolArrayAttr present,
                                      DictionaryAttr options,
                                      MutableArrayRef<Region> regions) {
  printer << getKernelName(name) << "(";
  if (!present) {
    printer << inputs;
  } else {
    auto next = inputs.begin();
    llvm::interleaveComma(present.asArrayRef(), printer, [&](bool isPresent) {
      if (isPresent && next != inputs.end())
        printer << *next++;
      else
        printer << "none";
    });
  }
  printer << ")";
  if (options)
    printer << " " << options;
  if (regions.empty())
    return;
  printer << " regions(";
  llvm::interleaveComma(regions, printer,
                        [&](Region &region) { printer.printRegion(region); });
  printer << ")";
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

ParseResult mlir::pol::parseCheckPredicate(OpAsmParser &parser,
                                           CheckPredicateAttr &predicate) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return parser.emitError(loc, "expected eq, le, ge or multiple_of");
  std::optional<CheckPredicate> value = symbolizeCheckPredicate(keyword);
  if (!value)
    return parser.emitError(loc, "expected eq, le, ge or multiple_of, but got ")
           << keyword;
  predicate = CheckPredicateAttr::get(parser.getContext(), *value);
  return success();
}

void mlir::pol::printCheckPredicate(OpAsmPrinter &printer, Operation *,
                                    CheckPredicateAttr predicate) {
  printer << stringifyCheckPredicate(predicate.getValue());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ParseResult mlir::pol::parseUndefTypes(OpAsmParser &parser,
                                       OptionalOperand like, Type &likeType,
                                       Type &result) {
  if (!like)
    return parser.parseType(result);
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(likeType))
    return failure();
  if (succeeded(parser.parseOptionalArrow()))
    return parser.parseType(result);
  auto shaped = dyn_cast<ShapedType>(likeType);
  if (!shaped || !shaped.hasRank())
    return parser.emitError(loc, "expected a ranked tensor, memref or "
                                 "description, but got ")
           << likeType;
  result = UndefType::getChecked([&] { return parser.emitError(loc); },
                                 parser.getContext(), shaped.getShape(),
                                 shaped.getElementType());
  return success(!!result);
}

void mlir::pol::printUndefTypes(OpAsmPrinter &printer, Operation *, Value like,
                                Type likeType, Type result) {
  if (!like) {
    printer << result;
    return;
  }
  printer << likeType;
  auto shaped = cast<ShapedType>(likeType);
  auto undef = cast<UndefType>(result);
  if (shaped.getElementType() != undef.getElementType() ||
      shaped.getShape() != undef.getShape())
    printer << " -> " << result;
}

ParseResult mlir::pol::parseDuplicatedTypes(OpAsmParser &parser,
                                            Type &primalType,
                                            OptionalOperand shadow,
                                            Type &shadowType, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  auto emitError = [&] { return parser.emitError(loc); };
  if (parser.parseType(primalType))
    return failure();
  if (shadow) {
    if (parser.parseComma() || parser.parseType(shadowType))
      return failure();
    result = DuplicatedType::getChecked(emitError, parser.getContext(),
                                        primalType, shadowType);
    return success(!!result);
  }
  if (succeeded(parser.parseOptionalArrow()))
    return parser.parseType(result);
  // Checked as a type before its shadow can be described.
  if (!DuplicatedType::getChecked(emitError, parser.getContext(), primalType,
                                  primalType))
    return failure();
  result = DuplicatedType::get(parser.getContext(), primalType,
                               getDescribedType(primalType));
  return success();
}

void mlir::pol::printDuplicatedTypes(OpAsmPrinter &printer, Operation *,
                                     Type primalType, Value shadow,
                                     Type shadowType, Type result) {
  printer << primalType;
  if (shadow)
    printer << ", " << shadowType;
  else if (cast<DuplicatedType>(result).getShadow() !=
           getDescribedType(primalType))
    printer << " -> " << result;
}

static ParseResult parseParenthesizedTypes(OpAsmParser &parser, Types &types) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    return parser.parseType(types.emplace_back());
  });
}

static void printParenthesizedTypes(OpAsmPrinter &printer, TypeRange types) {
  printer << "(" << types << ")";
}

ParseResult mlir::pol::parseDescribingTypes(OpAsmParser &parser, Types &inputs,
                                            OptionalOperand space,
                                            Type &spaceType, Type &result) {
  if (parseParenthesizedTypes(parser, inputs))
    return failure();
  if (space && (parser.parseComma() || parser.parseType(spaceType)))
    return failure();
  return failure(parser.parseArrow() || parser.parseType(result));
}

void mlir::pol::printDescribingTypes(OpAsmPrinter &printer, Operation *,
                                     TypeRange inputs, Value space,
                                     Type spaceType, Type result) {
  printParenthesizedTypes(printer, inputs);
  if (space)
    printer << ", " << spaceType;
  printer << " -> " << result;
}

static ParseResult parseOptionalResults(OpAsmParser &parser, Types &results) {
  if (failed(parser.parseOptionalArrow()))
    return success();
  return parser.parseTypeList(results);
}

static void printOptionalResults(OpAsmPrinter &printer, TypeRange results) {
  if (!results.empty())
    printer << " -> " << results;
}

ParseResult mlir::pol::parseCallTypes(OpAsmParser &parser, Types &inputs,
                                      OptionalOperand outputs,
                                      OptionalOperand checkpoints,
                                      OptionalOperand scratch,
                                      Type &outputsType, Type &checkpointsType,
                                      Type &scratchType, Types &results) {
  if (parseParenthesizedTypes(parser, inputs))
    return failure();
  for (auto [operand, type] : {std::pair(&outputs, &outputsType),
                               std::pair(&checkpoints, &checkpointsType),
                               std::pair(&scratch, &scratchType)})
    if (*operand && (parser.parseComma() || parser.parseType(*type)))
      return failure();
  return parseOptionalResults(parser, results);
}

void mlir::pol::printCallTypes(OpAsmPrinter &printer, Operation *,
                               TypeRange inputs, Value outputs,
                               Value checkpoints, Value scratch, Type, Type,
                               Type, TypeRange results) {
  printParenthesizedTypes(printer, inputs);
  for (Value bundle : {outputs, checkpoints, scratch})
    if (bundle)
      printer << ", " << bundle.getType();
  printOptionalResults(printer, results);
}

ParseResult mlir::pol::parseApplyTypes(OpAsmParser &parser, Types &inputs,
                                       Type &space, Types &results) {
  if (parseParenthesizedTypes(parser, inputs) || parser.parseComma() ||
      parser.parseType(space))
    return failure();
  return parseOptionalResults(parser, results);
}

void mlir::pol::printApplyTypes(OpAsmPrinter &printer, Operation *,
                                TypeRange inputs, Type space,
                                TypeRange results) {
  printParenthesizedTypes(printer, inputs);
  printer << ", " << space;
  printOptionalResults(printer, results);
}
