//===- Summary.cpp - An array on one line ---------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Summary.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace pol_run;

namespace {
/// Counts and extremes, from which the scale of the sums follows.
struct Extremes {
  int64_t finite = 0, nans = 0, infinities = 0;
  /// Indices, so that an i64 is printed to the last digit.
  int64_t min = -1, max = -1;
};
} // namespace

static bool isLess(const Array &array, int64_t left, int64_t right) {
  if (isFloat(array.getDType()))
    return array.getDouble(left) < array.getDouble(right);
  return array.getInt(left) < array.getInt(right);
}

static Extremes findExtremes(const Array &array) {
  Extremes result;
  for (int64_t i = 0, e = array.getNumElements(); i < e; ++i) {
    double value = array.getDouble(i);
    if (std::isnan(value)) {
      ++result.nans;
      continue;
    }
    if (std::isinf(value)) {
      ++result.infinities;
      continue;
    }
    ++result.finite;
    if (result.min < 0 || isLess(array, i, result.min))
      result.min = i;
    if (result.max < 0 || isLess(array, result.max, i))
      result.max = i;
  }
  return result;
}

/// Not all C libraries spell NaN and infinity alike.
static void printNumber(raw_ostream &stream, double value) {
  if (std::isnan(value))
    stream << "nan";
  else if (std::isinf(value))
    stream << (value < 0 ? "-inf" : "inf");
  else
    stream << format("%.6g", value);
}

static void printElement(raw_ostream &stream, const Array &array,
                         int64_t index) {
  if (isFloat(array.getDType()))
    printNumber(stream, array.getDouble(index));
  else
    stream << array.getInt(index);
}

static void printStatistics(raw_ostream &stream, const Array &array,
                            const Extremes &extremes) {
  stream << "  min ";
  printElement(stream, array, extremes.min);
  stream << "  max ";
  printElement(stream, array, extremes.max);

  // Sums of values scaled to at most 1 overflow for no array.
  double scale = std::max(std::abs(array.getDouble(extremes.min)),
                          std::abs(array.getDouble(extremes.max)));
  double sum = 0, squares = 0;
  for (int64_t i = 0, e = array.getNumElements(); i < e && scale > 0; ++i) {
    double value = array.getDouble(i);
    if (!std::isfinite(value))
      continue;
    sum += value / scale;
    squares += value / scale * (value / scale);
  }
  double count = static_cast<double>(extremes.finite);
  stream << "  mean ";
  printNumber(stream, sum / count * scale);
  stream << "  rms ";
  printNumber(stream, std::sqrt(squares / count) * scale);
}

void pol_run::printSummary(raw_ostream &stream, const Array &array,
                           int64_t maxElements) {
  stream << array.getTypeString();
  Extremes extremes = findExtremes(array);
  if (extremes.finite)
    printStatistics(stream, array, extremes);
  if (extremes.nans)
    stream << "  nan " << extremes.nans;
  if (extremes.infinities)
    stream << "  inf " << extremes.infinities;

  int64_t count = array.getNumElements();
  int64_t shown = std::clamp<int64_t>(maxElements, 0, count);
  stream << "  [";
  for (int64_t i = 0; i < shown; ++i) {
    if (i)
      stream << ", ";
    printElement(stream, array, i);
  }
  if (shown < count)
    stream << (shown ? ", ..." : "...");
  stream << "]";
}
