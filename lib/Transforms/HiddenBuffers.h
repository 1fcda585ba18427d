//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What is said of buffers and copies that no pol.alloc asked for.

#ifndef POL_LIB_TRANSFORMS_HIDDENBUFFERS_H
#define POL_LIB_TRANSFORMS_HIDDENBUFFERS_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::pol {

/// Reports hidden buffers and copies: as errors where `strict`, as remarks
/// where `report`.
struct HiddenBuffers {
  bool strict;
  bool report;
  bool failed = false;

  void note(Location loc, const Twine &what) {
    if (strict) {
      emitError(loc) << "expected only buffers that a pol.alloc asks for, but "
                     << what;
      failed = true;
    } else if (report) {
      emitRemark(loc) << what;
    }
  }
};

/// Of a buffer or copy that was there before kernels were expanded.
constexpr StringLiteral kKnownAttr = "pol.known";

/// In the location of a kernel, and of what it expands to: its name.
constexpr StringLiteral kKernelKey = "pol.kernel";

/// Whether an op is a buffer or copy that `pol-report-hidden` looks at.
bool isBufferOrCopy(Operation *op);

} // namespace mlir::pol

#endif // POL_LIB_TRANSFORMS_HIDDENBUFFERS_H
