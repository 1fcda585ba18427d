//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/TileClasses.h"

#include "Expressions.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
/// Asks for the class of one tile after the other, by what is emitted for
/// constants into a block that is thrown away.
class TileClassifier {
public:
  TileClassifier(const MaskAnalysis &analysis, Location loc,
                 ValueRange captures, const TileGrid &grid)
      : builder(loc.getContext()), loc(loc), grid(grid),
        emitter(analysis, loc, constant(arguments, grid.batch),
                constant(arguments, grid.head), captures) {}

  /// Nothing if it is not known.
  std::optional<TileClass> get(int64_t row, int64_t column);

private:
  Value constant(Block &block, int64_t value) {
    builder.setInsertionPointToEnd(&block);
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  OpBuilder builder;
  Location loc;
  TileGrid grid;
  /// What is used by all of the emitter's code, and the code of one tile.
  Block arguments, tile;
  MaskEmitter emitter;
};
} // namespace

std::optional<TileClass> TileClassifier::get(int64_t row, int64_t column) {
  tile.clear();
  int64_t query = grid.firstQuery + row, key = column;
  int64_t lastQuery =
      grid.firstQuery + row + std::min(grid.tileQueries, grid.queries - row);
  int64_t lastKey = key + std::min(grid.tileKeys, grid.keys - column);
  IndexBounds queries{constant(tile, query), constant(tile, lastQuery)};
  IndexBounds keys{constant(tile, key), constant(tile, lastKey)};
  std::optional<int64_t> known =
      mask::getConstant(emitter.getClass(builder, queries, keys));
  if (!known)
    return std::nullopt;
  return static_cast<TileClass>(*known);
}

void mlir::pol::printTileClasses(raw_ostream &os, const MaskAnalysis &analysis,
                                 Location loc, ValueRange captures,
                                 const TileGrid &grid, bool withPicture) {
  TileClassifier classifier(analysis, loc, captures, grid);
  int64_t counts[3] = {0, 0, 0}, unknown = 0;
  for (int64_t row = 0; row < grid.queries; row += grid.tileQueries) {
    std::string line;
    for (int64_t column = 0; column < grid.keys; column += grid.tileKeys) {
      std::optional<TileClass> found = classifier.get(row, column);
      ++(found ? counts[static_cast<int32_t>(*found)] : unknown);
      line += found ? ".+#"[static_cast<int32_t>(*found)] : '?';
    }
    if (withPicture)
      os << line << "\n";
  }
  int64_t rows = llvm::divideCeil(grid.queries, grid.tileQueries);
  int64_t columns = llvm::divideCeil(grid.keys, grid.tileKeys);
  int64_t partial = counts[1], full = counts[2];
  int64_t visited = partial + full + unknown;
  os << "tiles: " << rows << " x " << columns << " of " << grid.tileQueries
     << " x " << grid.tileKeys << "; visited " << visited << " ("
     << llvm::format("%.1f",
                     100.0 * visited / std::max<int64_t>(rows * columns, 1))
     << "%), full " << full << ", partial " << partial;
  if (unknown)
    os << ", unknown " << unknown
       << ": they depend on captures that are not constant";
  os << "\n";
}
