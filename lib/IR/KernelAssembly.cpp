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
  case KernelClause::Outs:
    return "outs";
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
  if (parser.parseOptionalAttrDict(result.attributes) ||
      failed(result.name.verifyInherentAttrs(result.attributes, [&] {
        return parser.emitError(loc)
               << "'" << result.name.getStringRef() << "' op ";
      })))
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

static void printClause(OpAsmPrinter &printer, Operation *op,
                        const KernelSignature &signature, size_t begin) {
  ArrayRef<KernelOperand> clause = getClause(signature, begin);
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
  SmallVector<StringRef> elided{"operandSegmentSizes"};
  for (auto [name, value] : signature.defaults) {
    auto attribute = op->getAttrOfType<FloatAttr>(name);
    if (attribute && attribute.getValue().bitwiseIsEqual(llvm::APFloat(value)))
      elided.push_back(name);
  }
  printer.printOptionalAttrDict(op->getAttrs(), elided);
  if (op->getNumResults() > 0)
    printer << " -> " << op->getResultTypes();
}
