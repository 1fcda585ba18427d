//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/SizeExpr.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::pol;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static int64_t saturate(unsigned __int128 bytes) {
  return bytes > static_cast<uint64_t>(SizeExpr::overflow)
             ? SizeExpr::overflow
             : static_cast<int64_t>(bytes);
}

/// Signed division; none of its operands can trap.
static int64_t divide(SizeOp op, int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (b == -1)
    return op == SizeOp::RemS ? 0 : static_cast<int64_t>(-uint64_t(a));
  int64_t quotient = a / b, rest = a % b;
  switch (op) {
  case SizeOp::RemS:
    return rest;
  case SizeOp::CeilDivS:
    return quotient + (rest != 0 && (rest < 0) == (b < 0));
  case SizeOp::FloorDivS:
    return quotient - (rest != 0 && (rest < 0) != (b < 0));
  default:
    return quotient;
  }
}

int64_t mlir::pol::evaluate(SizeOp op, ArrayRef<int64_t> operands) {
  int64_t a = operands[0];
  int64_t b = operands.size() > 1 ? operands[1] : 0;
  uint64_t ua = a, ub = b;
  switch (op) {
  case SizeOp::Constant:
  case SizeOp::Parameter:
    return a;
  case SizeOp::Add:
    return ua + ub;
  case SizeOp::Sub:
    return ua - ub;
  case SizeOp::Mul:
    return ua * ub;
  case SizeOp::DivS:
  case SizeOp::CeilDivS:
  case SizeOp::FloorDivS:
  case SizeOp::RemS:
    return divide(op, a, b);
  case SizeOp::DivU:
    return b == 0 ? 0 : ua / ub;
  case SizeOp::CeilDivU:
    return b == 0 ? 0 : ua / ub + (ua % ub != 0);
  case SizeOp::RemU:
    return b == 0 ? 0 : ua % ub;
  case SizeOp::MinS:
    return std::min(a, b);
  case SizeOp::MaxS:
    return std::max(a, b);
  case SizeOp::MinU:
    return std::min(ua, ub);
  case SizeOp::MaxU:
    return std::max(ua, ub);
  case SizeOp::And:
    return a & b;
  case SizeOp::Or:
    return a | b;
  case SizeOp::Xor:
    return a ^ b;
  case SizeOp::Equal:
    return a == b;
  case SizeOp::NotEqual:
    return a != b;
  case SizeOp::LessS:
    return a < b;
  case SizeOp::LessEqualS:
    return a <= b;
  case SizeOp::LessU:
    return ua < ub;
  case SizeOp::LessEqualU:
    return ua <= ub;
  case SizeOp::Select:
    return a ? b : operands[2];
  case SizeOp::AddBytes:
    return saturate(static_cast<unsigned __int128>(ua) + ub);
  case SizeOp::MulBytes:
    return saturate(static_cast<unsigned __int128>(ua) * ub);
  case SizeOp::AlignBytes:
    return saturate(
        (static_cast<unsigned __int128>(ua) + SizeExpr::alignment - 1) &
        ~static_cast<unsigned __int128>(SizeExpr::alignment - 1));
  }
  return 0;
}

int64_t SizeEvaluator::operator()(Size expr) {
  // Only what is not known yet is looked at.
  llvm::SmallVector<Size> work = {expr};
  while (!work.empty()) {
    Size part = work.back();
    size_t before = work.size();
    if (!values.contains(part))
      for (Size operand : part->operands)
        if (!values.contains(operand))
          work.push_back(operand);
    if (work.size() > before)
      continue;
    work.pop_back();
    if (values.contains(part))
      continue;
    int64_t value = part->value;
    if (part->op == SizeOp::Parameter) {
      value = parameters[part->value];
    } else if (!part->isConstant()) {
      llvm::SmallVector<int64_t> operands;
      for (Size operand : part->operands)
        operands.push_back(values.at(operand));
      value = evaluate(part->op, operands);
    }
    values[part] = value;
  }
  return values.at(expr);
}

std::vector<Size> mlir::pol::inOrder(ArrayRef<Size> exprs,
                                     llvm::function_ref<bool(Size)> isDone) {
  llvm::DenseSet<Size> seen;
  std::vector<Size> order;
  llvm::SmallVector<Size> work(exprs);
  while (!work.empty()) {
    Size expr = work.pop_back_val();
    if (isDone(expr) || !seen.insert(expr).second)
      continue;
    order.push_back(expr);
    work.append(expr->operands.begin(), expr->operands.end());
  }
  llvm::sort(order, [](Size a, Size b) { return a->id < b->id; });
  return order;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Size SizeContext::intern(SizeOp op, int64_t value, ArrayRef<Size> operands) {
  // The map keeps two keys for itself.
  uint64_t hash =
      static_cast<uint64_t>(llvm::hash_combine(
          op, value,
          llvm::hash_combine_range(operands.begin(), operands.end()))) >>
      1;
  llvm::SmallVector<Size, 1> &alike = known[hash];
  for (Size expr : alike)
    if (expr->op == op && expr->value == value &&
        ArrayRef<Size>(expr->operands) == operands)
      return expr;
  SizeExpr &expr = exprs.emplace_back();
  expr.op = op;
  expr.value = value;
  expr.operands.assign(operands.begin(), operands.end());
  expr.id = exprs.size();
  alike.push_back(&expr);
  return &expr;
}

Size SizeContext::constant(int64_t value) {
  return intern(SizeOp::Constant, value, {});
}

Size SizeContext::parameter(int64_t number) {
  return intern(SizeOp::Parameter, number, {});
}

static bool isCommutative(SizeOp op) {
  switch (op) {
  case SizeOp::Add:
  case SizeOp::Mul:
  case SizeOp::MinS:
  case SizeOp::MaxS:
  case SizeOp::MinU:
  case SizeOp::MaxU:
  case SizeOp::And:
  case SizeOp::Or:
  case SizeOp::Xor:
  case SizeOp::Equal:
  case SizeOp::NotEqual:
  case SizeOp::AddBytes:
  case SizeOp::MulBytes:
    return true;
  default:
    return false;
  }
}

/// Whether an op gives 0 or 1.
static bool isComparison(SizeOp op) {
  return op >= SizeOp::Equal && op <= SizeOp::LessEqualU;
}

/// What an op with a constant or with equal operands is; null if it is itself.
/// Commutative ones have their constant last.
Size SizeContext::simplify(SizeOp op, ArrayRef<Size> operands) {
  Size a = operands[0];
  Size b = operands.size() > 1 ? operands[1] : nullptr;
  switch (op) {
  case SizeOp::Add:
  case SizeOp::Sub:
  case SizeOp::AddBytes:
    return b->isConstant(0) ? a : nullptr;
  case SizeOp::Mul:
  case SizeOp::MulBytes:
    return b->isConstant(1) ? a : b->isConstant(0) ? b : nullptr;
  case SizeOp::DivS:
  case SizeOp::DivU:
  case SizeOp::CeilDivS:
  case SizeOp::CeilDivU:
  case SizeOp::FloorDivS:
    return b->isConstant(1) ? a : nullptr;
  case SizeOp::And:
    if (b->isConstant(1) && isComparison(a->op))
      return a;
    return a == b ? a : nullptr;
  case SizeOp::Or:
    return a == b || b->isConstant(0) ? a : nullptr;
  case SizeOp::MinS:
  case SizeOp::MaxS:
  case SizeOp::MinU:
    return a == b ? a : nullptr;
  case SizeOp::MaxU:
    if (b->isConstant(SizeExpr::overflow))
      return b;
    return a == b || b->isConstant(0) ? a : nullptr;
  case SizeOp::Equal:
  case SizeOp::LessEqualS:
  case SizeOp::LessEqualU:
    return a == b ? constant(1) : nullptr;
  case SizeOp::NotEqual:
  case SizeOp::LessS:
  case SizeOp::LessU:
    return a == b ? constant(0) : nullptr;
  case SizeOp::Select:
    if (a->isConstant())
      return a->value ? b : operands[2];
    return b == operands[2] ? b : nullptr;
  case SizeOp::AlignBytes:
    return a->op == SizeOp::AlignBytes ? a : nullptr;
  default:
    return nullptr;
  }
}

Size SizeContext::get(SizeOp op, ArrayRef<Size> operands) {
  if (llvm::all_of(operands, [](Size expr) { return expr->isConstant(); })) {
    llvm::SmallVector<int64_t> values;
    for (Size operand : operands)
      values.push_back(operand->value);
    return constant(evaluate(op, values));
  }
  llvm::SmallVector<Size, 3> ordered(operands);
  if (isCommutative(op) &&
      std::make_pair(ordered[0]->isConstant(), ordered[0]->id) >
          std::make_pair(ordered[1]->isConstant(), ordered[1]->id))
    std::swap(ordered[0], ordered[1]);
  if (Size simple = simplify(op, ordered))
    return simple;
  return intern(op, 0, ordered);
}

Size SizeContext::arrayBytes(ArrayRef<Size> extents, int64_t elementBytes) {
  Size bytes = constant(elementBytes);
  Size signs = constant(0);
  for (Size extent : extents) {
    bytes = mulBytes(extent, bytes);
    if (!extent->isConstant() || extent->value < 0)
      signs = get(SizeOp::Or, {signs, extent});
  }
  return select(get(SizeOp::LessS, {signs, constant(0)}),
                constant(SizeExpr::overflow), bytes);
}

Size SizeContext::substitute(Size expr, ArrayRef<Size> parameters) {
  llvm::DenseMap<Size, Size> replaced;
  for (Size part : inOrder(expr)) {
    Size result = part;
    if (part->op == SizeOp::Parameter) {
      result = parameters[part->value];
    } else if (!part->isConstant()) {
      llvm::SmallVector<Size, 3> operands;
      for (Size operand : part->operands)
        operands.push_back(replaced.lookup(operand));
      // Of what is not known nothing follows.
      result = llvm::is_contained(operands, nullptr) ? nullptr
                                                     : get(part->op, operands);
    }
    replaced[part] = result;
  }
  return replaced.lookup(expr);
}
