//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Places buffers of a table in memory.

#include "CommandLine.h"
#include "Generate.h"
#include "Message.h"
#include "Table.h"
#include "pol/Analysis/Placement/Validate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ToolOutputFile.h"

#include <chrono>

using namespace pol_plan;
using namespace mlir::pol::placement;
using pol_run::makeError;
using pol_run::quoted;
using pol_run::quotedPath;
namespace cl = llvm::cl;

namespace {
/// Numbers are kept as text, so that what is wrong with them is told in this
/// tool's words.
struct Options {
  cl::OptionCategory category{"Options of pol-plan"};
  cl::opt<std::string> input{
      "input", cl::value_desc("A.csv"), cl::cat(category),
      cl::desc("The buffers, one a line: columns id, lower, upper and size,\n"
               "and maybe alignment and gaps; - is standard input")};
  cl::opt<std::string> output{
      "output", cl::value_desc("B.csv"), cl::cat(category),
      cl::desc("Where the same lines go, with a column offset")};
  cl::opt<std::string> capacity{
      "capacity", cl::value_desc("N"), cl::cat(category),
      cl::desc("Bytes that are enough; to need more is an error\n"
               "(default: as few as possible)")};
  cl::opt<std::string> timeLimit{
      "time-limit", cl::value_desc("seconds"), cl::cat(category),
      cl::desc("When the search gives up; what it finds then depends on the\n"
               "machine (default: after a number of steps)")};
  cl::opt<bool> heuristic{"heuristic", cl::cat(category),
                          cl::desc("Do without the exact search")};
  cl::opt<bool> compare{
      "compare", cl::cat(category),
      cl::desc("Also print the three best of the greedy orders")};
  cl::opt<std::string> check{
      "check", cl::value_desc("B.csv"), cl::cat(category),
      cl::desc("Validate the column offset of a file, and place nothing")};
  cl::opt<std::string> generate{
      "generate", cl::value_desc("spec"), cl::cat(category),
      cl::desc("Write an instance, and place nothing: frames:COUNT[:SEED],\n"
               "the buffers of nested frames, or cuts:COUNT[:SEED], which "
               "fit\n1048576 bytes without a rest")};
};

/// The numbers among the options.
struct Numbers {
  int64_t capacity = -1;
  double seconds = 0;
};
} // namespace

static const char *const overview =
    "Finds offsets for buffers whose sizes and live ranges are known, in as\n"
    "little memory as possible. A buffer is live from lower on and no more at\n"
    "upper; two share a byte only if at no time both use it.\n\n"
    "  pol-plan --input A.csv --capacity 1048576 --output B.csv\n"
    "  pol-plan --check B.csv --capacity 1048576\n"
    "  pol-plan --generate frames:100000 --output F.csv\n"
    "  pol-plan --input F.csv --heuristic --compare\n\n"
    "The exit status is 1, and nothing is written, when the capacity is not "
    "met.\n";

static llvm::Expected<Numbers> parseNumbers(const Options &options) {
  Numbers numbers;
  if (options.capacity.getNumOccurrences() &&
      (llvm::StringRef(options.capacity).getAsInteger(10, numbers.capacity) ||
       numbers.capacity < 0))
    return makeError("expected --capacity to be a number of bytes, but got " +
                     quoted(options.capacity));
  if (options.timeLimit.getNumOccurrences() &&
      (llvm::StringRef(options.timeLimit).getAsDouble(numbers.seconds) ||
       !(numbers.seconds > 0) || numbers.seconds > 1e6))
    return makeError("expected --time-limit to be a number of seconds above "
                     "0, but got " +
                     quoted(options.timeLimit));
  return numbers;
}

static llvm::Error checkOptions(const Options &options) {
  int count = 0;
  for (const auto *option : {&options.input, &options.check, &options.generate})
    count += option->getNumOccurrences() > 0;
  if (count != 1)
    return makeError("expected one of --input, --check and --generate, see "
                     "pol-plan --help");
  auto refuse = [](const cl::Option &option, llvm::StringRef with) {
    return makeError("expected no --" + option.ArgStr + " with --" + with +
                     ", see pol-plan --help");
  };
  bool generates = options.generate.getNumOccurrences();
  if (generates && options.capacity.getNumOccurrences())
    return refuse(options.capacity, "generate");
  if (!generates && !options.check.getNumOccurrences())
    return llvm::Error::success();
  llvm::StringRef with = generates ? "generate" : "check";
  if (!generates && options.output.getNumOccurrences())
    return refuse(options.output, with);
  for (const cl::Option *option :
       {static_cast<const cl::Option *>(&options.timeLimit),
        static_cast<const cl::Option *>(&options.heuristic),
        static_cast<const cl::Option *>(&options.compare)})
    if (option->getNumOccurrences())
      return refuse(*option, with);
  return llvm::Error::success();
}

/// Writes a file as a whole or not at all.
static llvm::Error write(llvm::StringRef path, const Table &table,
                         const std::vector<int64_t> *offsets) {
  auto fail = [&](std::error_code code) {
    return makeError("cannot write " + quotedPath(path) + ": " +
                     code.message());
  };
  std::error_code code;
  llvm::ToolOutputFile file(path, code, llvm::sys::fs::OF_None);
  if (code)
    return fail(code);
  table.print(file.os(), offsets);
  file.os().flush();
  if (std::error_code code = file.os().error()) {
    file.os().clear_error();
    return fail(code);
  }
  file.keep();
  return llvm::Error::success();
}

static void printResult(llvm::raw_ostream &os, const Table &table,
                        int64_t height, bool isOptimal, double seconds) {
  int64_t lowerBound = getLowerBound(table.buffers);
  double ratio = lowerBound == 0 ? 1 : double(height) / lowerBound;
  os << pol_run::counted(table.buffers.size(), "buffer") << ": height "
     << height << ", lower bound " << lowerBound
     << llvm::format(", ratio %.4f, ", ratio)
     << (isOptimal ? "optimal" : "not known to be optimal")
     << llvm::format(", %.3f s\n", seconds);
}

static void printOrders(llvm::raw_ostream &os, const Buffers &buffers) {
  std::vector<std::pair<int64_t, GreedyOrder>> heights;
  for (GreedyOrder order : greedyOrders)
    heights.push_back(
        {placeInOrder(buffers, getOrder(buffers, order)).height, order});
  llvm::sort(heights);
  double lowerBound = std::max<int64_t>(getLowerBound(buffers), 1);
  for (auto [height, order] : llvm::ArrayRef(heights).take_front(3))
    os << "greedy by " << getName(order) << ": height " << height
       << llvm::format(", ratio %.4f\n", height / lowerBound);
}

static llvm::Error checkFile(const Options &options, const Numbers &numbers) {
  llvm::Expected<Table> table = Table::load(options.check);
  if (!table)
    return table.takeError();
  if (!table->offsets)
    return makeError(table->getName() +
                     ":1: expected a column offset, but got none");
  if (auto fault = validate(table->buffers, *table->offsets, numbers.capacity))
    return makeError(table->explain(*fault));
  int64_t height = 0;
  for (auto [buffer, offset] : llvm::zip(table->buffers, *table->offsets))
    if (buffer.size > 0 && buffer.begin < buffer.end)
      height = std::max(height, offset + buffer.size);
  llvm::outs() << "valid: " << pol_run::counted(table->buffers.size(), "buffer")
               << ", height " << height << ", lower bound "
               << getLowerBound(table->buffers) << "\n";
  return llvm::Error::success();
}

static llvm::Error placeFile(const Options &options, const Numbers &numbers) {
  llvm::Expected<Table> table = Table::load(options.input);
  if (!table)
    return table.takeError();
  auto start = std::chrono::steady_clock::now();
  Placement placement;
  if (options.heuristic) {
    GreedyOptions greedy;
    greedy.capacity = numbers.capacity;
    placement = placeGreedy(table->buffers, greedy);
  } else {
    SearchOptions search;
    search.capacity = numbers.capacity;
    search.maxSeconds = numbers.seconds;
    if (numbers.seconds > 0)
      search.maxNodes = INT64_MAX;
    placement = place(table->buffers, search);
  }
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  // Whatever the capacity: a mistake of the solver is not one of the user.
  if (auto fault = validate(table->buffers, placement))
    return makeError("internal error: " + table->explain(*fault));
  if (numbers.capacity >= 0 && placement.height > numbers.capacity)
    return makeError(
        "expected a height of at most " + llvm::Twine(numbers.capacity) +
        ", but got " + llvm::Twine(placement.height) +
        (placement.isOptimal ? ", which is the least" : "") + ", lower bound " +
        llvm::Twine(getLowerBound(table->buffers)));
  if (options.output.getNumOccurrences())
    if (llvm::Error error = write(options.output, *table, &placement.offsets))
      return error;
  // Not among the lines of a table.
  llvm::raw_ostream &os = options.output == "-" ? llvm::errs() : llvm::outs();
  printResult(os, *table, placement.height, placement.isOptimal, seconds);
  if (options.compare)
    printOrders(os, table->buffers);
  return llvm::Error::success();
}

static llvm::Error run(const Options &options) {
  if (llvm::Error error = checkOptions(options))
    return error;
  llvm::Expected<Numbers> numbers = parseNumbers(options);
  if (!numbers)
    return numbers.takeError();
  if (options.check.getNumOccurrences())
    return checkFile(options, *numbers);
  if (options.input.getNumOccurrences())
    return placeFile(options, *numbers);
  llvm::Expected<Table> table = generate(options.generate);
  if (!table)
    return table.takeError();
  return write(options.output.getNumOccurrences() ? options.output.getValue()
                                                  : "-",
               *table, nullptr);
}

int main(int argc, char **argv) {
  return pol_run::runTool<Options>(argc, argv, "pol-plan", overview, run);
}
