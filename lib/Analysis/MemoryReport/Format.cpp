//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/MemoryReport.h"

#include "llvm/ADT/StringRef.h"

using namespace mlir::pol;

bool mlir::pol::namesReportFormat(llvm::StringRef path) {
  return path.ends_with(".json") || path.ends_with(".svg") ||
         path.ends_with(".txt");
}

void mlir::pol::printFor(llvm::StringRef path, llvm::raw_ostream &os,
                         const MemoryReport &report) {
  if (path.ends_with(".json"))
    printJson(os, report);
  else if (path.ends_with(".svg"))
    printSvg(os, report);
  else
    printText(os, report);
}
