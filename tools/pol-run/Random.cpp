//===- Random.cpp - Numbers that are the same everywhere ------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"

#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

using namespace pol_run;

static uint64_t rotateLeft(uint64_t value, unsigned count) {
  return value << count | value >> (64 - count);
}

Random::Random(uint64_t seed) {
  for (uint64_t &word : state) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t mixed = seed;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    word = mixed ^ mixed >> 31;
  }
}

uint64_t Random::next() {
  uint64_t result = rotateLeft(state[1] * 5, 7) * 9;
  uint64_t shifted = state[1] << 17;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = rotateLeft(state[3], 45);
  return result;
}

double Random::uniform(unsigned bits) {
  int64_t numerator =
      static_cast<int64_t>(next() >> (64 - bits)) - (int64_t(1) << (bits - 1));
  return std::ldexp(static_cast<double>(numerator), 1 - static_cast<int>(bits));
}

/// The natural logarithm of count / 2^53, for 0 < count <= 2^53.
static double logOfFraction(uint64_t count) {
  // count = 2^exponent * significand, with 1 <= significand < 2; the
  // conversion is exact, and so is taking its bits apart.
  double significand = static_cast<double>(count);
  uint64_t bits;
  std::memcpy(&bits, &significand, sizeof(bits));
  int exponent = static_cast<int>(bits >> 52) - 1023 - 53;
  bits = (bits & (~uint64_t(0) >> 12)) | uint64_t(1023) << 52;
  std::memcpy(&significand, &bits, sizeof(bits));
  // Centered on 1, so that near count = 2^53 nothing cancels.
  if (significand > 1.4142135623730951) {
    significand *= 0.5;
    ++exponent;
  }
  // ln x = 2 artanh((x - 1) / (x + 1)); the series' argument is below 0.172,
  // which eleven terms take beyond a double's precision.
  double s = (significand - 1) / (significand + 1);
  double square = s * s;
  double series = 1.0 / 21;
  for (int n = 19; n >= 1; n -= 2)
    series = std::fma(series, square, 1.0 / n);
  return std::fma(exponent, 0.6931471805599453, 2 * s * series);
}

/// The cosine and sine of a quarter turn's fraction: of fraction * pi / 2, for
/// 0 <= fraction < 1.
static std::pair<double, double> cosSin(double fraction) {
  double angle = fraction * 1.5707963267948966;
  double square = angle * angle;
  // Taylor's series from the last term that counts to the first.
  double cosine = 1, sine = 1;
  for (int n = 24; n >= 2; n -= 2) {
    cosine = std::fma(cosine, -square / (n * (n - 1)), 1);
    sine = std::fma(sine, -square / (n * (n + 1)), 1);
  }
  return {cosine, angle * sine};
}

double Random::normal() {
  if (std::exchange(hasSpare, false))
    return spare;
  // From 1 to 2^53: zero has no logarithm.
  double radius = std::sqrt(-2 * logOfFraction((next() >> 11) + 1));
  uint64_t turn = next();
  // The top two bits are the quadrant, the next 53 the place in it.
  uint64_t place = turn << 2 >> 11;
  auto [cosine, sine] = cosSin(std::ldexp(static_cast<double>(place), -53));
  if (turn >> 62 & 1)
    std::tie(cosine, sine) = std::pair(-sine, cosine);
  if (turn >> 63) {
    cosine = -cosine;
    sine = -sine;
  }
  hasSpare = true;
  spare = radius * sine;
  return radius * cosine;
}
