//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Buffers in a table of comma-separated values, as MiniMalloc has them.

#ifndef POL_TOOLS_POL_PLAN_TABLE_H
#define POL_TOOLS_POL_PLAN_TABLE_H

#include "pol/Analysis/Placement/Placement.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pol_plan {

/// A file with a header and one buffer a line. The columns id, lower, upper and
/// size have to be there, in any order; alignment, gaps and offset may be.
/// Others are kept.
class Table {
public:
  /// The file of that name, or standard input if that is "-".
  static llvm::Expected<Table> load(llvm::StringRef path);
  static llvm::Expected<Table> parse(std::unique_ptr<llvm::MemoryBuffer> text);
  /// With ids from 0.
  static llvm::Expected<Table>
  fromBuffers(const mlir::pol::placement::Buffers &buffers);

  /// Writes it with these offsets in the column offset, which is added behind
  /// the others if it is not there; as it is without any.
  void print(llvm::raw_ostream &os, const std::vector<int64_t> *offsets) const;

  /// A message of the placement library, in which buffers are numbers, with
  /// the ids for them and the line of the first.
  std::string explain(const std::string &message) const;

  llvm::StringRef getName() const { return text->getBufferIdentifier(); }

  mlir::pol::placement::Buffers buffers;
  /// Of the column offset.
  std::optional<std::vector<int64_t>> offsets;

private:
  struct Row {
    size_t line;
    std::vector<llvm::StringRef> fields;
  };

  llvm::Error parseRows();
  llvm::Error parseHeader(const Row &row);
  llvm::Error parseBuffer(const Row &row);
  llvm::Error parseGaps(const Row &row, llvm::StringRef cell,
                        std::vector<mlir::pol::placement::Gap> &gaps);
  llvm::Error parseNumber(const Row &row, size_t column, int64_t &number);
  llvm::Error makeErrorAt(size_t line, const llvm::Twine &message) const;

  /// Fields are parts of it.
  std::unique_ptr<llvm::MemoryBuffer> text;
  Row header;
  std::vector<Row> rows;
  /// Where the columns are.
  size_t id, lower, upper, size;
  std::optional<size_t> alignment, gaps, offset;
};

} // namespace pol_plan

#endif // POL_TOOLS_POL_PLAN_TABLE_H
