//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a run allocated, from where, and for how long.

#ifndef POL_TOOLS_POL_RUN_MEMORYREPORT_H
#define POL_TOOLS_POL_RUN_MEMORYREPORT_H

#include "Arguments.h"
#include "Compile.h"

namespace pol_run {

/// Observes spaces during a run. Carves of one place in the program with one
/// size are one row, however often they happen.
class MemoryReport {
public:
  /// Starts to observe. The spaces must outlive the report, or `detach` be
  /// called first.
  void attach(llvm::ArrayRef<std::unique_ptr<HostSpace>> spaces);
  void detach();
  void setStack(llvm::ArrayRef<StackBuffer> buffers) { stack = buffers.vec(); }

  /// A table for people.
  void print(llvm::raw_ostream &os) const;
  /// The same as JSON.
  void printJson(llvm::raw_ostream &os) const;

private:
  struct Row {
    const pol_site *site;
    std::string space;
    int64_t bytes;
    int64_t offset; // of the first carve; -1 where there is none
    int64_t count = 0;
    int64_t begin = 0, end = -1; // in events; -1: to the end of the run
  };
  struct Live {
    size_t row;
    void *address;
    pol_mark mark;
  };
  struct Watched {
    pol_space *space;
    std::string name;
    int64_t capacity = -1;
    std::vector<Live> live;
  };

  static void observe(void *user, pol_space *space, const pol_event *event);
  void watch(pol_space *space, std::string name);
  void carve(Watched &watched, const pol_event &event);
  void close(Watched &watched, size_t keep);

  std::vector<Watched> watched;
  std::vector<Row> rows;
  std::vector<StackBuffer> stack;
  llvm::DenseMap<std::pair<const pol_site *, int64_t>, size_t> index;
  int64_t time = 0;
};

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_MEMORYREPORT_H
