//===- InputSpec.cpp - Inputs from the command line -----------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputSpec.h"

#include "Message.h"
#include "Random.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace llvm;
using namespace pol_run;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
struct ArrayType {
  DType dtype;
  SmallVector<int64_t> shape;
};
} // namespace

static Expected<ArrayType> parseType(StringRef text) {
  ArrayType type;
  StringRef rest = text;
  // Not split at each 'x': there is one in "index".
  while (!rest.empty() && (isDigit(rest.front()) || rest.front() == '?' ||
                           rest.front() == '-')) {
    size_t end = rest.find('x');
    StringRef digits = rest.take_front(end);
    if (end == StringRef::npos)
      return makeError("expected an element type after the dimensions, but "
                       "got " +
                       quoted(text));
    if (!all_of(digits, isDigit))
      return makeError("expected a dimension of decimal digits, but got " +
                       quoted(digits));
    if (digits.getAsInteger(10, type.shape.emplace_back()))
      return makeError("expected a dimension below 2^63, but got " +
                       quoted(digits));
    if (type.shape.size() > Array::maxRank)
      return makeError("expected at most " + Twine(Array::maxRank) +
                       " dimensions, but got " + quoted(text));
    rest = rest.drop_front(end + 1);
  }
  std::optional<DType> dtype = parseDType(rest);
  if (!dtype)
    return makeError("expected an element type of f16, bf16, f32, f64, i1, i8, "
                     "i16, i32, i64 or index, but got " +
                     quoted(rest));
  type.dtype = *dtype;
  return type;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static const fltSemantics &getSemantics(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return APFloat::IEEEhalf();
  case DType::BF16:
    return APFloat::BFloat();
  case DType::F32:
    return APFloat::IEEEsingle();
  default:
    return APFloat::IEEEdouble();
  }
}

/// Whether the text is [+-] digits [. digits] [e [+-] digits], with a digit
/// before the exponent. APFloat takes more (hexadecimal, say) and is not
/// written for garbage.
static bool isDecimalFloat(StringRef text) {
  if (!text.consume_front("-"))
    text.consume_front("+");
  StringRef whole = text.take_while(isDigit);
  text = text.drop_front(whole.size());
  StringRef fraction;
  if (text.consume_front(".")) {
    fraction = text.take_while(isDigit);
    text = text.drop_front(fraction.size());
  }
  if (whole.empty() && fraction.empty())
    return false;
  if (text.consume_front_insensitive("e")) {
    if (!text.consume_front("-"))
      text.consume_front("+");
    return !text.empty() && all_of(text, isDigit);
  }
  return text.empty();
}

static Expected<double> parseFloat(StringRef text, DType dtype) {
  StringRef magnitude = text;
  double sign = magnitude.consume_front("-") ? -1 : 1;
  if (magnitude == text)
    magnitude.consume_front("+");
  if (magnitude == "inf")
    return sign * std::numeric_limits<double>::infinity();
  if (magnitude == "nan")
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  // A double needs 767 digits at most to be told from its neighbors.
  if (text.size() > 1024 || !isDecimalFloat(text))
    return makeError("expected a number, but got " + quoted(text));
  // Read in the type itself: by way of a double it would round twice.
  APFloat value(getSemantics(dtype));
  Expected<APFloat::opStatus> status =
      value.convertFromString(text, APFloat::rmNearestTiesToEven);
  if (!status)
    return makeError("expected a number, but got " + quoted(text) + ": " +
                     toString(status.takeError()));
  if (!value.isFinite())
    return makeError("expected a number that fits " + getName(dtype) +
                     ", but got " + quoted(text));
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

static Expected<int64_t> parseInteger(StringRef text, DType dtype) {
  if (dtype == DType::I1 && (text == "true" || text == "false"))
    return text == "true";
  StringRef digits = text;
  bool negative = digits.consume_front("-");
  if (digits.empty() || !all_of(digits, isDigit))
    return makeError("expected an integer, but got " + quoted(text));
  // -1 is no boolean, whatever its only bit might mean.
  unsigned bits = dtype == DType::I1 ? 1 : 8 * getElementSize(dtype);
  uint64_t limit = maxUIntN(bits);
  if (negative)
    limit = bits == 1 ? 0 : uint64_t(1) << (bits - 1);
  uint64_t value;
  if (digits.getAsInteger(10, value) || value > limit)
    return makeError("expected an integer that fits " + getName(dtype) +
                     ", but got " + quoted(text));
  return static_cast<int64_t>(negative ? -value : value);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

static Error fillConstant(Array &array, StringRef text) {
  int64_t count = array.getNumElements();
  if (isFloat(array.getDType())) {
    Expected<double> value = parseFloat(text, array.getDType());
    if (!value)
      return value.takeError();
    for (int64_t i = 0; i < count; ++i)
      array.setDouble(i, *value);
    return Error::success();
  }
  Expected<int64_t> value = parseInteger(text, array.getDType());
  if (!value)
    return value.takeError();
  for (int64_t i = 0; i < count; ++i)
    array.setInt(i, *value);
  return Error::success();
}

static Error fillIota(Array &array) {
  int64_t count = array.getNumElements();
  for (int64_t i = 0; i < count; ++i)
    array.setInt(i, i);
  // Rounding is what the user asked for with a narrow type; infinity is not.
  // Only f16 can get there.
  if (count && isFloat(array.getDType()) &&
      std::isinf(array.getDouble(count - 1)))
    return makeError("expected an iota that fits " + getName(array.getDType()) +
                     ", but got " + Twine(count) + " elements");
  return Error::success();
}

static void fillUniform(Array &array, Random random) {
  int64_t count = array.getNumElements();
  DType dtype = array.getDType();
  if (isFloat(dtype)) {
    unsigned precision = APFloat::semanticsPrecision(getSemantics(dtype));
    for (int64_t i = 0; i < count; ++i)
      array.setDouble(i, random.uniform(precision));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = random.next();
    array.setInt(i, dtype == DType::I1 ? bits >> 63 : bits % 10);
  }
}

/// Fill from `kind:argument`.
static Error fillWithArgument(Array &array, StringRef kind,
                              StringRef argument) {
  if (kind == "const")
    return fillConstant(array, argument);
  uint64_t seed;
  if (!all_of(argument, isDigit) || argument.getAsInteger(10, seed))
    return makeError("expected a seed below 2^64 after '" + kind +
                     ":', but got " + quoted(argument));
  if (kind != "normal") {
    fillUniform(array, Random(seed));
    return Error::success();
  }
  if (!isFloat(array.getDType()))
    return makeError("expected a float type for 'normal', but got '" +
                     getName(array.getDType()) + "'");
  Random random(seed);
  for (int64_t i = 0, e = array.getNumElements(); i < e; ++i)
    array.setDouble(i, random.normal());
  return Error::success();
}

static Error fill(Array &array, StringRef text) {
  if (text == "zeros")
    return Error::success();
  if (text == "ones")
    return fillConstant(array, "1");
  if (text == "iota")
    return fillIota(array);
  auto [kind, argument] = text.split(':');
  if (kind == "const" || kind == "random" || kind == "uniform" ||
      kind == "normal") {
    if (kind.size() == text.size())
      return makeError("expected '" + kind + ":' and a " +
                       (kind == "const" ? "number" : "seed") + ", but got " +
                       quoted(text));
    return fillWithArgument(array, kind, argument);
  }
  if (array.getRank() == 0)
    return fillConstant(array, text);
  return makeError("expected zeros, ones, iota, const:NUMBER, random:SEED, "
                   "uniform:SEED or normal:SEED, but got " +
                   quoted(text));
}

Expected<Array> pol_run::loadInput(StringRef spec,
                                   const NpyReadOptions &options) {
  if (spec.ends_with(".npy") || (!spec.empty() && sys::fs::exists(spec)))
    return readNpy(spec, options);
  size_t equals = spec.find('=');
  if (equals == StringRef::npos)
    return makeError("expected a file, or a type and a fill like "
                     "'16x64xf32=random:7', but got " +
                     quoted(spec));
  Expected<ArrayType> type = parseType(spec.take_front(equals));
  if (!type)
    return type.takeError();
  Expected<Array> array = Array::create(type->dtype, type->shape);
  if (!array)
    return array.takeError();
  if (Error error = fill(*array, spec.drop_front(equals + 1)))
    return error;
  return array;
}

//===----------------------------------------------------------------------===//
// Expectations
//===----------------------------------------------------------------------===//

static bool matches(ArrayRef<int64_t> shape, ArrayRef<int64_t> expected) {
  if (shape.size() != expected.size())
    return false;
  for (auto [got, wanted] : zip_equal(shape, expected))
    if (wanted != Expectation::dynamic && got != wanted)
      return false;
  return true;
}

static std::string describe(const Expectation &expectation) {
  if (!expectation.shape)
    return "elements of " + getName(*expectation.dtype).str();
  std::string result;
  for (int64_t dimension : *expectation.shape)
    result +=
        (dimension == Expectation::dynamic ? "?" : itostr(dimension)) + "x";
  if (expectation.dtype)
    return result + getName(*expectation.dtype).str();
  if (result.empty())
    return "a scalar";
  result.pop_back();
  return "the shape " + result;
}

Error pol_run::checkArray(const Array &array, const Expectation &expectation,
                          StringRef argumentName) {
  if ((!expectation.dtype || *expectation.dtype == array.getDType()) &&
      (!expectation.shape || matches(array.getShape(), *expectation.shape)))
    return Error::success();
  return makeError(argumentName + ": expected " + describe(expectation) +
                   ", but got " + array.getTypeString());
}
