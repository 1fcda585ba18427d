//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The signature of pol.decode_attention: its two caches, how many splits keys
// have, and which entries of a block table are checked.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pol/IR/Checks.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <limits>

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::kernel;

/// What the number of splits aims at: this many units of work, which are run in
/// parallel, each of them keys of one split of one head of a sequence.
static constexpr int64_t kWorkUnits = 64;
/// A split of fewer keys costs more than it gains.
static constexpr int64_t kLeastSplitKeys = 64;
/// Within a split, sums of blocks are not compensated, so that it has this many
/// keys at most.
static constexpr int64_t kMostSplitKeys = 256;

//===----------------------------------------------------------------------===//
// T, the keys that a sequence has room for in its pages
//===----------------------------------------------------------------------===//

/// The product of the number of pages and that of keys in each. Where it would
/// overflow, as it may where pages are empty, it is almost 2^63.
static int64_t inferCapacity(ArrayRef<int64_t> extents, DictionaryAttr) {
  int64_t pages = extents[0];
  int64_t pageSize = extents[1];
  if (ShapedType::isDynamic(pages) || ShapedType::isDynamic(pageSize))
    return ShapedType::kDynamic;
  int64_t most =
      std::numeric_limits<int64_t>::max() / std::max<int64_t>(pages, 1);
  return pages * std::min(pageSize, most);
}

Value mlir::pol::buildPagedCapacity(OpBuilder &builder, Location loc,
                                    OpFoldResult pages, OpFoldResult pageSize) {
  Value count = getValueOrCreateConstantIndexOp(builder, loc, pages);
  Value size = getValueOrCreateConstantIndexOp(builder, loc, pageSize);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value limit = arith::ConstantIndexOp::create(
      builder, loc, std::numeric_limits<int64_t>::max());
  Value most = builder.createOrFold<arith::DivUIOp>(
      loc, limit, builder.createOrFold<arith::MaxUIOp>(loc, count, one));
  return builder.createOrFold<arith::MulIOp>(
      loc, count, builder.createOrFold<arith::MinUIOp>(loc, size, most));
}

/// The same at run time.
static OpFoldResult buildCapacity(OpBuilder &builder, Location loc,
                                  ArrayRef<OpFoldResult> extents,
                                  DictionaryAttr) {
  return getAsOpFoldResult(
      buildPagedCapacity(builder, loc, extents[0], extents[1]));
}

//===----------------------------------------------------------------------===//
// C, the number of splits
//===----------------------------------------------------------------------===//

/// The number of splits that an attribute asks for, 0 if none does.
static int64_t getWantedSplits(DictionaryAttr attributes) {
  auto splits = attributes ? attributes.getAs<IntegerAttr>("splits") : nullptr;
  // One that is out of range is the verifier's to report.
  return splits ? std::max<int64_t>(splits.getInt(), 0) : 0;
}

/// As many as give `kWorkUnits` for all sequences and heads, if they get
/// `kLeastSplitKeys` keys, and more where they would get more than
/// `kMostSplitKeys`.
static int64_t inferNumSplits(ArrayRef<int64_t> extents,
                              DictionaryAttr attributes) {
  if (int64_t wanted = getWantedSplits(attributes))
    return wanted;
  if (llvm::any_of(extents, ShapedType::isDynamic))
    return ShapedType::kDynamic;
  int64_t rows =
      std::min(extents[0], kWorkUnits) * std::min(extents[1], kWorkUnits);
  auto divide = [](int64_t number, int64_t by) -> int64_t {
    return llvm::divideCeil(static_cast<uint64_t>(number), by);
  };
  int64_t useful = std::min(divide(kWorkUnits, std::max<int64_t>(rows, 1)),
                            divide(extents[2], kLeastSplitKeys));
  return std::max<int64_t>(
      {useful, divide(extents[2], kMostSplitKeys), int64_t(1)});
}

/// The same at run time.
static OpFoldResult buildNumSplits(OpBuilder &builder, Location loc,
                                   ArrayRef<OpFoldResult> extents,
                                   DictionaryAttr attributes) {
  if (int64_t wanted = getWantedSplits(attributes))
    return builder.getIndexAttr(wanted);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto get = [&](size_t index) {
    return getValueOrCreateConstantIndexOp(builder, loc, extents[index]);
  };
  auto divide = [&](Value number, Value by) {
    return builder.createOrFold<arith::CeilDivUIOp>(loc, number, by);
  };
  Value units = constant(kWorkUnits);
  Value rows = builder.createOrFold<arith::MulIOp>(
      loc, builder.createOrFold<arith::MinUIOp>(loc, get(0), units),
      builder.createOrFold<arith::MinUIOp>(loc, get(1), units));
  rows = builder.createOrFold<arith::MaxUIOp>(loc, rows, constant(1));
  Value useful = builder.createOrFold<arith::MinUIOp>(
      loc, divide(units, rows), divide(get(2), constant(kLeastSplitKeys)));
  Value needed = divide(get(2), constant(kMostSplitKeys));
  return getAsOpFoldResult(builder.createOrFold<arith::MaxUIOp>(
      loc, builder.createOrFold<arith::MaxUIOp>(loc, useful, needed),
      constant(1)));
}

//===----------------------------------------------------------------------===//
// Checks of the block table
//===----------------------------------------------------------------------===//

/// Of an array of integers, an element as an index.
static Value loadIndex(OpBuilder &builder, Location loc, Value array,
                       ValueRange indices) {
  return arith::IndexCastOp::create(
      builder, loc, builder.getIndexType(),
      memref::LoadOp::create(builder, loc, array, indices));
}

/// The least and the greatest of the entries that a sequence's keys are found
/// by, and of what came before.
static SmallVector<Value> buildEntryBounds(OpBuilder &builder,
                                           DecodeAttentionOp op, Value batch,
                                           ValueRange running) {
  Location loc = op.getLoc();
  Value table = op.getBlockTable();
  auto getDim = [&](Value array, int64_t dimension) {
    return getValueOrCreateConstantIndexOp(
        builder, loc, getKnownExtent(builder, loc, array, dimension));
  };
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  // A length of less than none is an error already.
  Value length = arith::MaxSIOp::create(
      builder, loc, loadIndex(builder, loc, op.getKLengths(), batch), zero);
  Value pageSize =
      arith::MaxUIOp::create(builder, loc, getDim(op.getK(), 2), one);
  Value used = arith::MinUIOp::create(
      builder, loc, arith::CeilDivUIOp::create(builder, loc, length, pageSize),
      getDim(table, 1));
  auto loop = scf::ForOp::create(
      builder, loc, zero, used, one, running,
      [&](OpBuilder &b, Location, Value page, ValueRange bounds) {
        Value entry = loadIndex(b, loc, table, {batch, page});
        scf::YieldOp::create(
            b, loc,
            ValueRange{arith::MinSIOp::create(b, loc, bounds[0], entry),
                       arith::MaxSIOp::create(b, loc, bounds[1], entry)});
      });
  return loop.getResults();
}

/// Entries of pages that hold keys are pages that there are; others are not
/// looked at. In another memory space they are not for this code to read:
/// kernels take them for the nearest ones.
static void buildTableChecks(OpBuilder &builder, Operation *op) {
  auto decode = cast<DecodeAttentionOp>(op);
  Location loc = op->getLoc();
  Value table = decode.getBlockTable();
  Value lengths = decode.getKLengths();
  for (Value array : {table, lengths})
    if (cast<MemRefType>(array.getType()).getMemorySpace())
      return;
  auto getDim = [&](Value array) {
    return getValueOrCreateConstantIndexOp(
        builder, loc, getKnownExtent(builder, loc, array, 0));
  };
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value none = arith::ConstantIndexOp::create(builder, loc, -1);
  Value batches =
      arith::MinUIOp::create(builder, loc, getDim(table), getDim(lengths));
  auto loop = scf::ForOp::create(
      builder, loc, zero, batches, one, ValueRange{zero, none},
      [&](OpBuilder &b, Location, Value batch, ValueRange running) {
        scf::YieldOp::create(b, loc,
                             buildEntryBounds(b, decode, batch, running));
      });
  buildCheck(builder, loc, loop.getResult(0), CheckPredicate::ge,
             builder.getIndexAttr(0), "the least entry of block_table in use",
             op->getName().getStringRef());
  Value last = arith::SubIOp::create(builder, loc, getDim(decode.getK()), one);
  buildCheck(builder, loc, loop.getResult(1), CheckPredicate::le, last,
             "the greatest entry of block_table in use",
             op->getName().getStringRef());
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// With a block table, k and v are pools of pages, and lengths are required.
static constexpr std::array<KernelOperand, 11> listOperands(bool isPaged) {
  KernelOperand table = in("block_table", "BG").of(KernelElement::Length);
  KernelOperand count = lengths("k_lengths", 'T');
  return {in("q", "BHSD"),
          in("k", isPaged ? "NKPD" : "BKTD"),
          in("v", isPaged ? "NKPE" : "BKTE"),
          isPaged ? table : table.optional(),
          isPaged ? count.required() : count,
          out("o", "BHSE", "q"),
          checkpoint("max", "BHS"),
          checkpoint("sum", "BHS"),
          scratch("partial_o", "BHSCE", "o"),
          scratch("partial_max", "BHSC", "o"),
          scratch("partial_sum", "BHSC", "o")};
}

static const KernelSignature &getPagedSignature() {
  static constexpr std::array<KernelOperand, 11> operands = listOperands(true);
  static const DerivedExtent derived[] = {
      {'T', "GP", inferCapacity, buildCapacity},
      {'C', "BKT", inferNumSplits, buildNumSplits}};
  static const KernelSignature signature{"pol.decode_attention",
                                         "pol.decode_attention",
                                         operands,
                                         {},
                                         'H',
                                         'K',
                                         derived,
                                         {},
                                         buildTableChecks};
  return signature;
}

const KernelSignature &DecodeAttentionOp::getSignature() {
  static constexpr std::array<KernelOperand, 11> operands = listOperands(false);
  static const DerivedExtent derived[] = {
      {'C', "BKT", inferNumSplits, buildNumSplits}};
  static const KernelSignature signature{"pol.decode_attention",
                                         "pol.decode_attention",
                                         operands,
                                         {},
                                         'H',
                                         'K',
                                         derived,
                                         {},
                                         /*buildMoreChecks=*/nullptr,
                                         "block_table",
                                         &getPagedSignature()};
  return signature;
}
