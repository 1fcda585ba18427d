//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "llvm/ADT/StringExtras.h"

bool pol_run::parseCommandLine(int argc, char **argv, llvm::StringRef tool,
                               llvm::StringRef overview) {
  // The first line of what LLVM's parser says is the error.
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (llvm::cl::ParseCommandLineOptions(argc, argv, overview, &stream))
    return true;
  llvm::StringRef line = llvm::StringRef(complaint).split('\n').first;
  // After the name of the program.
  line = line.split(": ").second.split(".  Try").first;
  line.consume_back("!");
  if (!line.empty())
    llvm::errs() << tool << ": error: " << llvm::toLower(line.front())
                 << line.drop_front() << ", see " << tool << " --help\n";
  return false;
}
