//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a program holds in memory, where, and for how long: the model of the
// memory report, whether it was planned or observed, and its three formats.

#ifndef POL_ANALYSIS_MEMORYREPORT_H
#define POL_ANALYSIS_MEMORYREPORT_H

#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::pol {

/// Where a buffer was one of the times that it was there.
struct ReportedLife {
  int64_t offset = -1;         // from the start of the space; -1: unknown
  int64_t begin = 0, end = -1; // steps, half-open; -1: still there at the end
};

/// One row of the report: what one place of the program asks for.
struct ReportedBuffer {
  std::string name;     // in its description; empty: none
  std::string kernel;   // that described it; empty: none
  std::string role;     // output, checkpoint, scratch, hidden, or empty
  std::string location; // file:line:col; empty: unknown
  std::string function; // it is part of; empty: unknown

  int64_t bytes = 0;
  int64_t offset = -1; // from the start of the space; -1: unknown
  /// The steps of the space's clock from which and to before which it is there;
  /// an end of -1: it is still there at the end.
  int64_t begin = 0, end = -1;

  /// How often the place asks for it; then `offset` is that of the first time,
  /// and [begin, end) spans all of them. `lives` are the times one by one, if
  /// they are known.
  int64_t times = 1;
  std::vector<ReportedLife> lives;

  /// In [keptFrom, end) only the first `keptBytes` are in use: the region of a
  /// call shrinks to the call's results. -1: all of them to the end.
  int64_t keptFrom = -1, keptBytes = -1;
};

/// One space and what is in it. Bytes of -1 are not known, or do not apply.
struct ReportedSpace {
  std::string name;
  /// What a step is: "op" where lives were planned, "event" where they were
  /// observed. Empty: there is no time, as on the stack.
  std::string clock;
  /// How buffers get their place: planned, bump, carved, heap or stack.
  std::string mode;
  int64_t capacity = -1;
  int64_t peak = -1;       // planned or observed height
  int64_t bump = -1;       // what a bump allocator would need
  int64_t lowerBound = -1; // the most bytes in use at one time
  int64_t steps = -1;      // the clock at the end; -1: as the buffers say
  std::vector<ReportedBuffer> buffers;
};

struct MemoryReport {
  std::string entry; // the function it is about; empty: unknown
  std::vector<ReportedSpace> spaces;
};

/// The most bytes of the space in use at one step, as far as its buffers say:
/// no placement is lower. Buffers of several times count as if they were there
/// once, from the first to the last, where their lives are not known.
int64_t getLiveSetBound(const ReportedSpace &space);

/// The end of the space's time: its `steps`, or one step after the last that a
/// buffer mentions.
int64_t getLastStep(const ReportedSpace &space);

/// A table for people.
void printText(llvm::raw_ostream &os, const MemoryReport &report);
/// All of it for programs; text that is not UTF-8 is replaced.
void printJson(llvm::raw_ostream &os, const MemoryReport &report);
/// A picture of time against address, in one file that needs nothing else.
void printSvg(llvm::raw_ostream &os, const MemoryReport &report);

/// Prints the report in the format that the extension of `path` names.
void printFor(llvm::StringRef path, llvm::raw_ostream &os,
              const MemoryReport &report);
/// Whether `path` ends in an extension that names a format: .json, .svg, .txt.
bool namesReportFormat(llvm::StringRef path);

} // namespace mlir::pol

#endif // POL_ANALYSIS_MEMORYREPORT_H
