//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sums over rows in vectors.

#include "ColumnSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

/// Vectors of columns that are worth a trip of a parallel loop, each over up to
/// `kMaxRowBlocks` partial sums.
static constexpr int64_t kVectorsPerTrip = 8;

Value ColumnSums::constant(OpBuilder &builder, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

ColumnSums::ColumnSums(OpBuilder &builder, Location loc, Rows &rows,
                       ArrayRef<Output> outputs)
    : loc(loc), rows(rows), outputs(outputs) {
  Value partials = getValueOrCreateConstantIndexOp(
      builder, loc, getExtent(builder, loc, outputs.front().partials, 0));
  isPaired = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ugt, rows.getNumRows(),
      constant(builder, kMaxRowBlocks * kRowBlockMultiple));
  partialsPerBlock = builder.createOrFold<arith::SelectOp>(
      loc, isPaired, constant(builder, 2), constant(builder, 1));
  // The number of empty rows may overflow.
  Value isEmpty = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::eq, rows.getEnd(), constant(builder, 0));
  numBlocks = builder.createOrFold<arith::SelectOp>(
      loc, isEmpty, constant(builder, 0),
      builder.createOrFold<arith::DivUIOp>(loc, partials, partialsPerBlock));
  numPartials =
      builder.createOrFold<arith::MulIOp>(loc, numBlocks, partialsPerBlock);
}

//===----------------------------------------------------------------------===//
// Partial sums
//===----------------------------------------------------------------------===//

/// Sets the partial sums of a block to zero.
void ColumnSums::clear(OpBuilder &builder) {
  Value end = arith::AddIOp::create(builder, loc, first, partialsPerBlock);
  buildLoop(
      builder, loc, first, end, 1, [&](OpBuilder &b, Location, ValueRange row) {
        rows.forEachVector(b, [&](VectorBuilder &v, Value column, Value mask) {
          for (const Output &output : outputs)
            v.store(v.constant(0.0), output.partials, {row.front(), column},
                    mask);
        });
      });
}

void ColumnSums::addTo(VectorBuilder &v, Value partials, Value addend,
                       Value column, Value mask) {
  Value second =
      arith::AddIOp::create(v.builder, loc, first, constant(v.builder, 1));
  Value sum = v.load(partials, {first, column}, mask);
  auto choice = scf::IfOp::create(v.builder, loc, isPaired,
                                  /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder();
  VectorBuilder paired = rows.vectors(then);
  Value rest = paired.load(partials, {second, column}, mask);
  Compensated total = Compensated{sum, rest}.add(then, loc, addend);
  // What a sum that is not finite has lost has no meaning.
  rest = paired.select(buildIsFinite(then, loc, total.sum), total.rest,
                       paired.constant(0.0));
  paired.store(total.sum, partials, {first, column}, mask);
  paired.store(rest, partials, {second, column}, mask);
  OpBuilder otherwise = choice.getElseBodyBuilder();
  VectorBuilder single = rows.vectors(otherwise);
  single.store(single.add(sum, addend), partials, {first, column}, mask);
}

void ColumnSums::add(VectorBuilder &v, ArrayRef<Value> addends, Value column,
                     Value mask) {
  for (auto [output, addend] : llvm::zip_equal(outputs, addends))
    addTo(v, output.partials, addend, column, mask);
}

void ColumnSums::prefetch(VectorBuilder &v, Value column) {
  Value next =
      arith::AddIOp::create(v.builder, loc, first, constant(v.builder, 1));
  Value second = arith::SelectOp::create(v.builder, loc, isPaired, next, first);
  for (const Output &output : outputs)
    for (Value row : {first, second})
      v.prefetch(output.partials, {row, column}, /*level=*/1);
}

//===----------------------------------------------------------------------===//
// Sums of partial sums
//===----------------------------------------------------------------------===//

void ColumnSums::buildTotal(VectorBuilder &v, const Output &output,
                            Value column, Value mask) {
  Value zero = v.constant(0.0);
  auto loop = scf::ForOp::create(
      v.builder, loc, constant(v.builder, 0), numPartials,
      constant(v.builder, 1), ValueRange{zero, zero},
      [&](OpBuilder &b, Location, Value row, ValueRange given) {
        Value partial =
            rows.vectors(b).load(output.partials, {row, column}, mask);
        Compensated sum = Compensated{given[0], given[1]}.add(b, loc, partial);
        scf::YieldOp::create(b, loc, ValueRange{sum.sum, sum.rest});
      });
  Compensated total{loop.getResult(0), loop.getResult(1)};
  v.store(total.get(v.builder, loc), output.sums, column, mask);
}

void ColumnSums::buildTotals(OpBuilder &builder) {
  int64_t lanes = rows.vectors(builder).getLanes();
  Value columns = constant(builder, kVectorsPerTrip * lanes);
  Value trips =
      builder.createOrFold<arith::CeilDivUIOp>(loc, rows.getEnd(), columns);
  buildParallelLoop(
      builder, loc, {getAsOpFoldResult(trips)},
      [&](OpBuilder &b, Location, ValueRange trip) {
        Value begin = arith::MulIOp::create(b, loc, trip.front(), columns);
        IndexRange range =
            buildBlock(b, loc, begin, rows.getEnd(), kVectorsPerTrip * lanes);
        rows.forEachTile(b, range, /*vectors=*/1,
                         [&](VectorBuilder &v, ValueRange at, Value mask) {
                           for (const Output &output : outputs)
                             buildTotal(v, output, at.front(), mask);
                         });
      });
}

void ColumnSums::build(OpBuilder &builder, BlockFn body) {
  Value rowsPerBlock = builder.createOrFold<arith::CeilDivUIOp>(
      loc, rows.getNumRows(),
      buildMax(builder, loc, numBlocks, constant(builder, 1)));
  buildParallelLoop(
      builder, loc, {getAsOpFoldResult(numBlocks)},
      [&](OpBuilder &b, Location, ValueRange block) {
        first = arith::MulIOp::create(b, loc, block.front(), partialsPerBlock);
        Value begin =
            arith::MulIOp::create(b, loc, block.front(), rowsPerBlock);
        Value left = arith::SubIOp::create(b, loc, rows.getNumRows(), begin);
        clear(b);
        // The last block may have fewer rows, or none.
        Value size = buildMax(b, loc, buildMin(b, loc, rowsPerBlock, left),
                              constant(b, 0));
        body(b, *this, {begin, arith::AddIOp::create(b, loc, begin, size)});
      });
  buildTotals(builder);
}
