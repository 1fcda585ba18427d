//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Compiles a function in memory and runs it on real arrays.

#include "Arguments.h"
#include "Compile.h"
#include "InputSpec.h"
#include "MemoryReport.h"
#include "Message.h"
#include "Npy.h"
#include "Summary.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/ToolOutputFile.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "pol/RegisterAll.h"
#include <chrono>

// Of the OpenMP runtime, which this tool is linked to for compiled code.
extern "C" void omp_set_num_threads(int);

using namespace pol_run;
namespace cl = llvm::cl;

static cl::OptionCategory category("pol-run options");

namespace {
struct Options {
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE.mlir"), cl::init("-"),
                            cl::cat(category)};
  cl::opt<std::string> entry{
      "entry", cl::value_desc("name"), cl::cat(category),
      cl::desc("Function to run (default: the only public one)")};
  cl::list<std::string> inputs{
      "input", cl::value_desc("spec"), cl::cat(category),
      cl::desc("An argument, in order: a .npy file, or \"16x64xf32=random:7\" "
               "(also normal:SEED, iota, zeros, ones, const:V), or a scalar "
               "\"i64=7\"")};
  cl::list<std::string> outputs{
      "output", cl::value_desc("file.npy"), cl::cat(category),
      cl::desc("Where a result goes, in order; a summary is printed for each "
               "result")};
  cl::opt<std::string> space{
      "space", cl::value_desc("heap|arena:BYTES"), cl::init("heap"),
      cl::cat(category),
      cl::desc("What each space argument is; BYTES may end in K, M or G")};
  cl::opt<std::string> target{"target", cl::value_desc("cpu"), cl::init("cpu"),
                              cl::cat(category),
                              cl::desc("What to compile for")};
  cl::opt<unsigned> threads{
      "threads", cl::value_desc("N"), cl::init(0), cl::cat(category),
      cl::desc("Threads of parallel loops (default: all of the machine)")};
  cl::opt<std::string> report{
      "memory-report", cl::value_desc("file.json|file.txt"), cl::ValueOptional,
      cl::cat(category),
      cl::desc("Tell of every buffer: on standard output, or in a file")};
  cl::opt<unsigned> time{
      "time", cl::value_desc("N"), cl::init(0), cl::cat(category),
      cl::desc("Run N times more and print the median, in the same memory")};
  cl::opt<unsigned> optLevel{"opt-level", cl::value_desc("0-3"), cl::init(3),
                             cl::cat(category),
                             cl::desc("How far LLVM optimizes")};
  cl::opt<bool> strict{
      "strict", cl::cat(category),
      cl::desc("A buffer that no pol.alloc asked for is an error")};
  cl::opt<int64_t> maxStackBytes{
      "max-stack-bytes", cl::value_desc("bytes"), cl::init(64 * 1024),
      cl::cat(category), cl::desc("Stack that frames may take in all")};
};
} // namespace

static const char *const overview =
    "Compiles a function in memory and runs it on real arrays.\n\n"
    "Space arguments of the function are supplied by the tool; all others come\n"
    "from --input. Results are summarized and, with --output, written.\n\n"
    "  pol-run norm.mlir --entry norm --input x.npy --input 64xf32=ones \\\n"
    "      --output y.npy --space arena:1M --memory-report\n";

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Catches what would be found out only after a long run.
static llvm::Error checkOptions(const Options &options) {
  if (options.target != "cpu")
    return makeError("expected --target to be cpu, but got " +
                     quoted(options.target));
  if (options.optLevel > 3)
    return makeError("expected --opt-level to be 0 to 3, but got " +
                     llvm::Twine(options.optLevel));
  if (options.threads > 4096)
    return makeError("expected --threads to be at most 4096, but got " +
                     llvm::Twine(options.threads));
  llvm::StringRef report = options.report;
  if (!report.empty() && !report.ends_with(".json") &&
      !report.ends_with(".txt"))
    return makeError("expected --memory-report to name a .json or .txt file, "
                     "but got " +
                     quoted(report));
  return llvm::Error::success();
}

static llvm::Expected<std::vector<Array>> loadInputs(const Options &options) {
  std::vector<Array> inputs;
  for (auto [index, spec] : llvm::enumerate(options.inputs)) {
    llvm::Expected<Array> input = loadInput(spec);
    if (!input)
      return makeError("input " + llvm::Twine(index) + ": " +
                       llvm::toString(input.takeError()));
    inputs.push_back(std::move(*input));
  }
  return inputs;
}

static llvm::Error call(const CompiledEntry &entry, Arguments &arguments) {
  llvm::SmallVector<void *> packed = arguments.pack();
  entry.call(packed);
  if (arguments.getStatus() == POL_OK)
    return llvm::Error::success();
  char text[512];
  return makeError(pol_format_error(&arguments.getError(), text, sizeof text));
}

/// The median of further runs, each in the memory of the first.
static llvm::Error timeRuns(const CompiledEntry &entry, Arguments &arguments,
                            unsigned runs) {
  std::vector<double> seconds;
  for (unsigned i = 0; i < runs; ++i) {
    for (const auto &space : arguments.getSpaces())
      space->reset();
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = call(entry, arguments))
      return error;
    seconds.push_back(secondsSince(start));
  }
  llvm::sort(seconds);
  llvm::outs() << llvm::format("time: median %.3f us, best %.3f us, worst "
                               "%.3f us of %u runs\n",
                               1e6 * seconds[seconds.size() / 2],
                               1e6 * seconds.front(), 1e6 * seconds.back(),
                               runs);
  return llvm::Error::success();
}

static llvm::Error writeResults(const Options &options,
                                const CompiledEntry &entry,
                                const Arguments &arguments) {
  for (unsigned i = 0, e = entry.getType().getNumResults(); i < e; ++i) {
    llvm::Expected<Array> result = arguments.getResult(i);
    if (!result)
      return result.takeError();
    llvm::outs() << "result " << i << ": ";
    printSummary(llvm::outs(), *result);
    llvm::outs() << "\n";
    if (i < options.outputs.size())
      if (llvm::Error error = writeNpy(options.outputs[i], *result))
        return error;
  }
  return llvm::Error::success();
}

static llvm::Error writeReport(llvm::StringRef path,
                               const MemoryReport &report) {
  if (path.empty()) {
    report.print(llvm::outs());
    return llvm::Error::success();
  }
  std::string message;
  auto file = mlir::openOutputFile(path, &message);
  if (!file)
    return makeError(message);
  if (path.ends_with(".json"))
    report.printJson(file->os());
  else
    report.print(file->os());
  file->keep();
  return llvm::Error::success();
}

static llvm::Error run(const Options &options) {
  if (llvm::Error error = checkOptions(options))
    return error;
  llvm::Expected<SpaceSpec> spaces = parseSpace(options.space);
  if (!spaces)
    return spaces.takeError();
  llvm::Expected<std::vector<Array>> inputs = loadInputs(options);
  if (!inputs)
    return inputs.takeError();

  auto start = std::chrono::steady_clock::now();
  mlir::DialectRegistry registry;
  mlir::pol::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  std::string message;
  auto buffer = mlir::openInputFile(options.file, &message);
  if (!buffer)
    return makeError(message);
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return makeError("could not parse the module");

  unsigned threads = options.threads ? unsigned(options.threads)
                                     : llvm::hardware_concurrency()
                                           .compute_thread_count();
  omp_set_num_threads(threads);
  CompileOptions compile;
  compile.optLevel = options.optLevel;
  compile.strict = options.strict;
  compile.openmp = threads > 1;
  compile.maxStackBytes = options.maxStackBytes;
  llvm::Expected<CompiledEntry> entry =
      CompiledEntry::compile(*module, options.entry, compile);
  if (!entry)
    return entry.takeError();
  double compileSeconds = secondsSince(start);

  size_t results = entry->getType().getNumResults();
  if (options.outputs.size() > results)
    return makeError("expected at most " + llvm::Twine(results) +
                     " outputs, one for each result of '" + entry->getName() +
                     "', but got " + llvm::Twine(options.outputs.size()));
  llvm::Expected<Arguments> arguments =
      Arguments::bind(entry->getType(), std::move(*inputs), *spaces);
  if (!arguments)
    return arguments.takeError();

  MemoryReport report;
  bool wantsReport = options.report.getNumOccurrences();
  if (wantsReport) {
    report.setStack(entry->getStackBuffers());
    report.attach(arguments->getSpaces());
  }
  if (llvm::Error error = call(*entry, *arguments))
    return error;
  report.detach();
  if (llvm::Error error = writeResults(options, *entry, *arguments))
    return error;
  if (wantsReport)
    if (llvm::Error error = writeReport(options.report, report))
      return error;
  if (!options.time)
    return llvm::Error::success();
  llvm::outs() << llvm::format("compile: %.1f ms\n", 1e3 * compileSeconds);
  return timeRuns(*entry, *arguments, options.time);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // The LLVM library brings options of its own, some by the names of ours.
  cl::ResetCommandLineParser();
  Options options;
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, overview);
  if (llvm::Error error = run(options)) {
    llvm::errs() << "pol-run: error: " << llvm::toString(std::move(error))
                 << "\n";
    return 1;
  }
  return 0;
}
