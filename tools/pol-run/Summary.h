//===- Summary.h - An array on one line -------------------------*- C++ -*-===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_TOOLS_POL_RUN_SUMMARY_H
#define POL_TOOLS_POL_RUN_SUMMARY_H

#include "Array.h"

#include "llvm/Support/raw_ostream.h"

namespace pol_run {

/// Print, with no newline,
///   16x64xf32  min -3.2  max 3.1  mean 0.01  rms 1  [0.1, 0.2, ...]
/// The four numbers are over the finite elements, and left out where there are
/// none; "nan N" and "inf N" come before the elements where there are any. At
/// most `maxElements` are shown, in row-major order.
void printSummary(llvm::raw_ostream &stream, const Array &array,
                  int64_t maxElements = 6);

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_SUMMARY_H
