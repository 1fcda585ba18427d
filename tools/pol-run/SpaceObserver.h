//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a run allocates, from where, and for how long.

#ifndef POL_TOOLS_POL_RUN_SPACEOBSERVER_H
#define POL_TOOLS_POL_RUN_SPACEOBSERVER_H

#include "Arguments.h"
#include "Compile.h"
#include "pol/Analysis/MemoryReport.h"

namespace pol_run {

/// Observes spaces during a run. Carves of one place in the program with one
/// size are one row of the report, however often they happen.
class SpaceObserver {
public:
  /// Starts to observe. The spaces must outlive the observer, or `detach` be
  /// called first.
  void attach(llvm::ArrayRef<std::unique_ptr<HostSpace>> spaces);
  void detach();

  /// What was observed, the hidden heap only if it was used. The spaces must
  /// still be there.
  std::vector<mlir::pol::ReportedSpace> getSpaces() const;

private:
  struct Live {
    size_t row;
    size_t number; // of the row's lives
    void *address;
    pol_mark mark;
  };
  struct Watched {
    pol_space *space;
    std::string name;
    int64_t capacity = -1; // of an arena
    std::vector<Live> live;
    std::vector<mlir::pol::ReportedBuffer> rows;
    llvm::DenseMap<std::pair<const pol_site *, int64_t>, size_t> index;
    int64_t inUse = 0, mostInUse = 0;
  };

  static void observe(void *user, pol_space *space, const pol_event *event);
  void watch(pol_space *space, std::string name);
  void carve(Watched &watched, const pol_event &event);
  void release(Watched &watched, const pol_event &event);
  void end(Watched &watched, const Live &live);
  void close(Watched &watched, size_t keep);

  std::vector<Watched> watched;
  int64_t time = 0;
};

/// Buffers that are on the stack, which nobody observes.
mlir::pol::ReportedSpace reportStack(llvm::ArrayRef<StackBuffer> buffers);

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_SPACEOBSERVER_H
