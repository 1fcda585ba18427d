//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How the extents of a kernel's operands relate.

#include "KernelShapes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::pol;

static bool isLeading(const KernelOperand &operand) {
  return operand.shape.starts_with("*");
}

/// The letters of the dimensions behind the leading ones.
static StringRef getLetters(const KernelOperand &operand) {
  return isLeading(operand) ? operand.shape.drop_front() : operand.shape;
}

/// The extent a letter stands for, where that is known.
int64_t KernelShapes::getExtent(char letter, int64_t Extent::*value) const {
  const DerivedExtent *derived = signature.getDerived(letter);
  if (!derived)
    return get(letter).*value;
  SmallVector<int64_t> from;
  for (char other : derived->from)
    if (other == '*')
      for (const Extent &extent : leading)
        from.push_back(extent.*value);
    else
      from.push_back(getExtent(other, value));
  return derived->infer(from, attributes);
}

bool KernelShapes::bind(Extent &extent, int64_t value) {
  if (!extent.isBound)
    extent.first = value;
  extent.isBound = true;
  if (ShapedType::isDynamic(value))
    return true;
  if (ShapedType::isDynamic(extent.known))
    extent.known = value;
  return extent.known == value;
}

bool KernelShapes::bindDimension(char letter, int64_t value) {
  if (signature.getDerived(letter)) {
    int64_t derived = getExtent(letter, &Extent::known);
    return ShapedType::isDynamic(value) || ShapedType::isDynamic(derived) ||
           derived == value;
  }
  if (!bind(get(letter), value))
    return false;
  if (!llvm::isLower(letter) || ShapedType::isDynamic(value) || value == 1)
    return true;
  int64_t whole = get(llvm::toUpper(letter)).known;
  return ShapedType::isDynamic(whole) || whole == value;
}

LogicalResult KernelShapes::add(const KernelOperand &operand, ShapedType type,
                                EmitErrorFn emitError) {
  StringRef letters = getLetters(operand);
  int64_t rank = type.getRank();
  auto numLetters = static_cast<int64_t>(letters.size());
  bool isFirst = isLeading(operand) && !hasLeading;
  if (isFirst) {
    if (rank < numLetters)
      return emitError() << "expected " << operand.name
                         << " to have a rank of at least " << numLetters
                         << ", but got " << type;
    hasLeading = true;
    leading.resize(rank - numLetters);
  }
  int64_t wanted = numLetters;
  if (isLeading(operand))
    wanted += static_cast<int64_t>(leading.size());
  // What is expected is what was known before this operand.
  std::string expected;
  llvm::raw_string_ostream stream(expected);
  print(stream, operand);
  bool fits = rank == wanted;
  for (int64_t i = 0; fits && i < rank; ++i) {
    int64_t letter = i - (rank - numLetters);
    fits = letter < 0 ? bind(leading[i], type.getDimSize(i))
                      : bindDimension(letters[letter], type.getDimSize(i));
  }
  if (fits)
    return success();
  return emitError() << "expected " << operand.name << " to have shape "
                     << expected << ", but got " << type;
}

void KernelShapes::print(raw_ostream &os, const KernelOperand &operand) const {
  auto toText = [](int64_t extent) {
    return ShapedType::isDynamic(extent) ? std::string("?")
                                         : std::to_string(extent);
  };
  SmallVector<std::string> dimensions;
  if (isLeading(operand))
    for (const Extent &extent : leading)
      dimensions.push_back(toText(extent.known));
  for (char letter : getLetters(operand)) {
    if (llvm::isLower(letter) && !get(letter).isBound) {
      int64_t whole = get(llvm::toUpper(letter)).known;
      dimensions.push_back(whole == 1 ? "1" : "(1 or " + toText(whole) + ")");
      continue;
    }
    dimensions.push_back(toText(getExtent(letter, &Extent::known)));
  }
  if (dimensions.empty())
    os << "()";
  llvm::interleave(dimensions, os, "x");
}

/// The whole of what an operand may have once may be known of a later one.
LogicalResult KernelShapes::verifyBroadcast(EmitErrorFn emitError) const {
  for (const KernelOperand &operand : signature.operands)
    for (auto [index, letter] : llvm::enumerate(operand.shape)) {
      if (!llvm::isLower(letter))
        continue;
      int64_t part = get(letter).known;
      int64_t whole = get(llvm::toUpper(letter)).known;
      if (part != 1 && part != whole && !ShapedType::isDynamic(part) &&
          !ShapedType::isDynamic(whole))
        return emitError() << "expected extent " << index << " of "
                           << operand.name << " to be 1 or " << whole
                           << ", but got " << part;
    }
  return success();
}

LogicalResult KernelShapes::verify(EmitErrorFn emitError) const {
  if (failed(verifyBroadcast(emitError)))
    return failure();
  if (!signature.dividend)
    return success();
  int64_t dividend = get(signature.dividend).known;
  int64_t divisor = get(signature.divisor).known;
  if (ShapedType::isDynamic(dividend) || ShapedType::isDynamic(divisor))
    return success();
  if (divisor == 0 ? dividend == 0 : dividend % divisor == 0)
    return success();
  return emitError() << "expected the number of heads of k to divide that of "
                        "q, "
                     << dividend << ", but got " << divisor;
}

SmallVector<int64_t>
KernelShapes::getShape(const KernelOperand &operand) const {
  SmallVector<int64_t> shape;
  if (isLeading(operand))
    for (const Extent &extent : leading)
      shape.push_back(extent.first);
  for (char letter : getLetters(operand))
    shape.push_back(getExtent(letter, &Extent::first));
  return shape;
}
