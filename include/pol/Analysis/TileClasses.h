//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A picture of which tiles a mask empties, keeps in part and keeps in full.

#ifndef POL_ANALYSIS_TILECLASSES_H
#define POL_ANALYSIS_TILECLASSES_H

#include "pol/Analysis/MaskAnalysis.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::pol {

/// Queries from `firstQuery`, keys from 0, in tiles of which the last may be
/// smaller. Tiles have at least one query and one key.
struct TileGrid {
  int64_t queries = 0, keys = 0;
  int64_t tileQueries = 64, tileKeys = 64;
  int64_t firstQuery = 0;
  int64_t batch = 0, head = 0;
};

/// Prints a line for each row of tiles, if `withPicture`, of `.` for empty, `+`
/// for partial, `#` for full tiles and `?` for those that depend on what is not
/// constant among the captures; and a line that counts them.
void printTileClasses(raw_ostream &os, const MaskAnalysis &analysis,
                      Location loc, ValueRange captures, const TileGrid &grid,
                      bool withPicture);

} // namespace mlir::pol

#endif // POL_ANALYSIS_TILECLASSES_H
