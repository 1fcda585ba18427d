//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Numbers that are known before a program runs: arithmetic on the extents that
// its function is given. No MLIR types.

#ifndef POL_ANALYSIS_SIZEEXPR_H
#define POL_ANALYSIS_SIZEEXPR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <deque>
#include <vector>

namespace mlir::pol {

/// What a size is computed by. The first group is a program's own arithmetic on
/// 64 bits, which wraps around. The second is that of bytes: values from 0 to
/// `SizeExpr::overflow`, where whatever does not fit ends.
enum class SizeOp {
  Constant,
  Parameter,
  Add,
  Sub,
  Mul,
  DivS,
  DivU,
  CeilDivS,
  CeilDivU,
  FloorDivS,
  RemS,
  RemU,
  MinS,
  MaxS,
  MinU,
  MaxU,
  And,
  Or,
  Xor,
  Equal,
  NotEqual,
  LessS,
  LessEqualS,
  LessU,
  LessEqualU,
  Select, // of the second where the first is not 0, else the third

  AddBytes,
  MulBytes,
  AlignBytes, // up to a multiple of `SizeExpr::alignment`
};

class SizeContext;

/// One number. Equal expressions are the same one: they are compared by
/// identity. Expressions belong to their context.
class SizeExpr {
public:
  /// What bytes end at: no size of anything.
  static constexpr int64_t overflow = INT64_MAX;
  static constexpr int64_t alignment = 256;

  SizeOp op;
  /// Of a constant its value, of a parameter its number.
  int64_t value = 0;
  llvm::SmallVector<const SizeExpr *, 3> operands;
  /// Operands come before what uses them.
  unsigned id = 0;

  bool isConstant() const { return op == SizeOp::Constant; }
  bool isConstant(int64_t number) const {
    return isConstant() && value == number;
  }
};

using Size = const SizeExpr *;

/// Makes expressions, folding what it can.
class SizeContext {
public:
  Size constant(int64_t value);
  Size parameter(int64_t number);
  Size get(SizeOp op, llvm::ArrayRef<Size> operands);

  Size select(Size condition, Size then, Size otherwise) {
    return get(SizeOp::Select, {condition, then, otherwise});
  }
  Size addBytes(Size a, Size b) { return get(SizeOp::AddBytes, {a, b}); }
  Size mulBytes(Size a, Size b) { return get(SizeOp::MulBytes, {a, b}); }
  Size alignBytes(Size a) { return get(SizeOp::AlignBytes, {a}); }
  Size max(Size a, Size b) { return get(SizeOp::MaxU, {a, b}); }
  /// The bytes of an array: `overflow` where an extent is negative, 0 where one
  /// is 0.
  Size arrayBytes(llvm::ArrayRef<Size> extents, int64_t elementBytes);
  /// `then` where `condition` is not 0 bytes, else `otherwise`.
  Size ifAny(Size bytes, Size then, Size otherwise) {
    return select(get(SizeOp::Equal, {bytes, constant(0)}), otherwise, then);
  }

  /// The expression with each parameter replaced. Null where one that it needs
  /// is null.
  Size substitute(Size expr, llvm::ArrayRef<Size> parameters);

private:
  Size intern(SizeOp op, int64_t value, llvm::ArrayRef<Size> operands);
  Size simplify(SizeOp op, llvm::ArrayRef<Size> operands);

  std::deque<SizeExpr> exprs;
  /// By a hash of what they are.
  llvm::DenseMap<uint64_t, llvm::SmallVector<Size, 1>> known;
};

/// The value of an op on constants; a division by 0 gives 0.
int64_t evaluate(SizeOp op, llvm::ArrayRef<int64_t> operands);

/// Evaluates expressions for one valuation of the parameters, each once.
class SizeEvaluator {
public:
  explicit SizeEvaluator(llvm::ArrayRef<int64_t> parameters)
      : parameters(parameters) {}
  int64_t operator()(Size expr);

private:
  std::vector<int64_t> parameters;
  llvm::DenseMap<Size, int64_t> values;
};

/// All that the expressions are made of, operands before users, without what is
/// done already and what only that is made of.
std::vector<Size> inOrder(
    llvm::ArrayRef<Size> exprs,
    llvm::function_ref<bool(Size)> isDone = [](Size) { return false; });

} // namespace mlir::pol

#endif // POL_ANALYSIS_SIZEEXPR_H
