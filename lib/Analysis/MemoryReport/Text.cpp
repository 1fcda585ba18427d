//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extents.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::pol;

namespace {
/// Cells in columns that are as wide as their widest.
class Table {
public:
  /// Columns from `firstNumber` to before `afterNumbers` are aligned right.
  Table(size_t firstNumber, size_t afterNumbers)
      : firstNumber(firstNumber), afterNumbers(afterNumbers) {}

  void add(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }

  /// Drops a column of which nothing is known.
  void dropIfUnknown(size_t column);

  size_t size() const { return rows.size(); }
  void print(llvm::raw_ostream &os) const;

private:
  size_t firstNumber, afterNumbers;
  std::vector<std::vector<std::string>> rows;
};
} // namespace

void Table::dropIfUnknown(size_t column) {
  if (llvm::any_of(llvm::drop_begin(rows),
                   [&](const auto &row) { return row[column] != "-"; }))
    return;
  for (auto &row : rows)
    row.erase(row.begin() + column);
  firstNumber -= column < firstNumber;
  afterNumbers -= column < afterNumbers;
}

void Table::print(llvm::raw_ostream &os) const {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const auto &row : rows)
    for (auto [width, cell] : llvm::zip_equal(widths, row))
      width = std::max(width, cell.size());
  for (const auto &row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      os << "  ";
      if (i >= firstNumber && i < afterNumbers)
        os << llvm::right_justify(row[i], widths[i]);
      else if (i + 1 < row.size())
        os << llvm::left_justify(row[i], widths[i]);
      else
        os << row[i];
    }
    os << "\n";
  }
}

/// Text of the program in a cell: a name may be anything, and a row is a line.
static std::string cell(llvm::StringRef text) {
  if (text.empty())
    return "-";
  std::string result = text.str();
  for (char &c : result)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      c = '?';
  return result;
}

static std::string numberCell(int64_t number) {
  return number < 0 ? "-" : std::to_string(number);
}

static std::string getLifetime(const ReportedSpace &space,
                               const ReportedBuffer &buffer) {
  if (space.clock.empty())
    return buffer.function.empty() ? "-" : "@" + cell(buffer.function);
  return std::to_string(buffer.begin) + ".." +
         (buffer.end < 0 ? "end" : std::to_string(buffer.end));
}

/// "1.020", how many times the one is of the other.
static std::string ratioCell(int64_t of, int64_t to) {
  if (of < 0 || to <= 0)
    return "-";
  return llvm::formatv("{0:f3}", static_cast<double>(of) / to);
}

static void printBuffers(llvm::raw_ostream &os, const MemoryReport &report) {
  Table table(/*firstNumber=*/4, /*afterNumbers=*/7);
  table.add({"buffer", "kernel", "role", "space", "bytes", "offset", "times",
             "lifetime"});
  bool any = false;
  for (const ReportedSpace &space : report.spaces)
    for (const ReportedBuffer &buffer : space.buffers) {
      any = true;
      table.add({cell(buffer.name), cell(buffer.kernel), cell(buffer.role),
                 cell(space.name), std::to_string(buffer.bytes),
                 numberCell(buffer.offset), numberCell(buffer.times),
                 getLifetime(space, buffer)});
    }
  if (any)
    table.print(os);
  else
    os << "  (no buffers)\n";
}

static void printTotals(llvm::raw_ostream &os, const MemoryReport &report) {
  enum { Space, Mode, Capacity, Bump, Peak, LiveSet, ToLiveSet, ToBump, End };
  Table table(Capacity, End);
  table.add({"space", "mode", "capacity", "bump", "peak", "live set",
             "peak/live set", "peak/bump"});
  for (const ReportedSpace &space : report.spaces) {
    if (space.clock.empty())
      continue;
    table.add({cell(space.name), cell(space.mode), numberCell(space.capacity),
               numberCell(space.bump), numberCell(space.peak),
               numberCell(space.lowerBound),
               ratioCell(space.peak, space.lowerBound),
               ratioCell(space.peak, space.bump)});
  }
  // From the right: dropping a column moves those after it.
  for (size_t column = End; column-- > Capacity;)
    table.dropIfUnknown(column);
  if (table.size() > 1) {
    os << "\n";
    table.print(os);
  }
}

/// Without time there is no peak.
static void printSums(llvm::raw_ostream &os, const MemoryReport &report) {
  for (const ReportedSpace &space : report.spaces) {
    if (!space.clock.empty())
      continue;
    int64_t sum = 0;
    for (const ReportedBuffer &buffer : space.buffers)
      sum = addBytes(sum, buffer.bytes);
    os << "\n  " << cell(space.name) << ": " << sum << " bytes in all\n";
  }
}

void mlir::pol::printText(llvm::raw_ostream &os, const MemoryReport &report) {
  os << "memory report";
  if (!report.entry.empty())
    os << " of " << cell(report.entry);
  os << "\n";
  printBuffers(os, report);
  printTotals(os, report);
  printSums(os, report);
}
