//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the mains of pol's tools have in common.

#ifndef POL_TOOLS_POL_RUN_COMMANDLINE_H
#define POL_TOOLS_POL_RUN_COMMANDLINE_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

namespace pol_run {

/// Parses the options that are there by now. What LLVM's parser complains of is
/// told in one line, as all errors of the tool are.
bool parseCommandLine(int argc, char **argv, llvm::StringRef tool,
                      llvm::StringRef overview);

/// The main of a tool whose options are the members of `Options`, one of them
/// their `category`.
template <typename Options>
int runTool(int argc, char **argv, llvm::StringRef tool,
            llvm::StringRef overview, llvm::Error (*run)(const Options &)) {
  llvm::InitLLVM init(argc, argv);
  // The LLVM library brings options of its own, some by the names of ours.
  // Categories are forgotten too: ours is made with the options.
  llvm::cl::ResetCommandLineParser();
  Options options;
  llvm::cl::HideUnrelatedOptions(options.category);
  if (!parseCommandLine(argc, argv, tool, overview))
    return 1;
  if (llvm::Error error = run(options)) {
    llvm::errs() << tool << ": error: " << llvm::toString(std::move(error))
                 << "\n";
    return 1;
  }
  return 0;
}

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_COMMANDLINE_H
