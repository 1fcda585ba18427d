//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Scales of rows.

#include "RowScale.h"
#include "Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;
using namespace mlir::pol;

// Squares double the exponent, so a row is multiplied by a power of two s
// before its elements are squared, chosen by its largest magnitude. That is
// exact, and with r = 1/√(mean((x·s)²) + eps·s²) the root of the row itself is
// r·s. Rows in the middle of the range have s = 1.
//
// With f32, scaled rows have their maximum between 2^-42 and 2^43 (subnormal
// ones: above 2^-22). Then sums of up to 2^40 squares stay below 2^127, and
// what they lose to underflow, at most 2^-150 each, is under 2^-26 of the sum.
// With f64 it lies between 2^-480 and 2^480, which does for rows of any length.
// Elements of f16 are safe as they are: their squares are multiples of 2^-48
// below 2^32, and f32 holds sums of 2^63 of those.
//
// Scaling up is only for an eps so small that squares that vanish beside 1
// matter beside it; any larger eps might overflow when scaled.

SmallVector<ScaleRule> mlir::pol::getScaleRules(Type elementType, double eps) {
  SmallVector<ScaleRule> rules;
  if (elementType.isF16())
    return rules;
  if (elementType.isF64()) {
    rules.push_back({ScaleRule::Above, 480, -16, -584});
    if (eps < 0x1p-900)
      rules.push_back({ScaleRule::Below, -480, 600, 0});
    return rules;
  }
  rules.push_back({ScaleRule::Above, 43, -8, -77});
  if (eps < 0x1p-100)
    rules.push_back({ScaleRule::Below, -42, 85, 0});
  if (eps < 0x1p-128)
    rules.push_back({ScaleRule::Below, -84, 127, 0});
  return rules;
}

RowScales mlir::pol::buildRowScales(OpBuilder &builder, Location loc,
                                    ArrayRef<ScaleRule> rules, Value maximum) {
  auto type = cast<FloatType>(maximum.getType());
  auto power = [&](int exponent) {
    return getFloatConstant(builder, loc, type, std::ldexp(1.0, exponent));
  };
  Value one = power(0);
  RowScales scales{one, one};
  for (const ScaleRule &rule : rules) {
    Value applies = arith::CmpFOp::create(builder, loc,
                                          rule.side == ScaleRule::Above
                                              ? arith::CmpFPredicate::OGT
                                              : arith::CmpFPredicate::OLT,
                                          maximum, power(rule.threshold));
    scales.element = arith::SelectOp::create(
        builder, loc, applies, power(rule.element), scales.element);
    if (rule.root != 0)
      scales.root = arith::SelectOp::create(builder, loc, applies,
                                            power(rule.root), scales.root);
  }
  return scales;
}
