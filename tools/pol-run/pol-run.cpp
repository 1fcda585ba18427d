//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Compiles a function in memory and runs it on real arrays.

#include "Arguments.h"
#include "CommandLine.h"
#include "Compile.h"
#include "InputSpec.h"
#include "Message.h"
#include "Npy.h"
#include "PlanReport.h"
#include "SpaceObserver.h"
#include "Summary.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "pol/RegisterAll.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/ToolOutputFile.h"
#include <chrono>

// Of the OpenMP runtime, which this tool is linked to for compiled code.
extern "C" void omp_set_num_threads(int);

using namespace pol_run;
namespace cl = llvm::cl;

namespace {
/// What the command line says. Numbers are kept as text, so that what is wrong
/// with them is told in this tool's words.
struct Options {
  cl::OptionCategory category{"Options of pol-run"};
  cl::opt<std::string> file{cl::Positional, cl::desc("FILE.mlir"),
                            cl::init("-"), cl::cat(category)};
  cl::opt<std::string> entry{
      "entry", cl::value_desc("name"), cl::cat(category),
      cl::desc("Function to run (default: the only public one)")};
  cl::list<std::string> inputs{
      "input", cl::value_desc("spec"), cl::cat(category),
      cl::desc("An argument, in order: a .npy file, or an array like\n"
               "\"16x64xf32=random:7\" (also normal:SEED, iota, zeros, ones,\n"
               "const:VALUE), or a scalar like \"i64=7\"")};
  cl::list<std::string> outputs{
      "output", cl::value_desc("file.npy"), cl::cat(category),
      cl::desc("Where a result goes, in order; a summary is printed for each "
               "result")};
  cl::opt<std::string> space{
      "space", cl::value_desc("heap|arena[:BYTES]"), cl::init("heap"),
      cl::cat(category),
      cl::desc("What each space argument is (default: heap); BYTES may end in "
               "K, M or G, without them it is what the function needs")};
  cl::opt<std::string> placement{
      "placement", cl::value_desc("plan|bump|carve"), cl::init("plan"),
      cl::cat(category),
      cl::desc("How spaces are carved from: as one slab, packed; as one slab, "
               "one buffer after the other; or buffer by buffer, at run time")};
  cl::opt<std::string> target{"target", cl::value_desc("cpu"), cl::init("cpu"),
                              cl::cat(category),
                              cl::desc("What to compile for")};
  cl::opt<std::string> expansion{
      "expansion", cl::value_desc("vector|linalg"), cl::init("vector"),
      cl::cat(category),
      cl::desc("How kernels are expanded: as fast code for the CPU, or by the\n"
               "reference")};
  cl::opt<std::string> cpu{
      "cpu", cl::value_desc("name"), cl::init("host"), cl::cat(category),
      cl::desc("The CPU to write fast code for: host (default), x86-64-v2,\n"
               "x86-64-v3, x86-64-v4 or neon")};
  cl::opt<std::string> maxWorkers{
      "max-workers", cl::value_desc("N"), cl::cat(category),
      cl::desc("Workers that may share a kernel, however many threads there\n"
               "are (default: the CPU's processors)")};
  cl::opt<std::string> threads{
      "threads", cl::value_desc("N"), cl::cat(category),
      cl::desc("Threads of parallel loops (default: all of the machine)")};
  cl::opt<std::string> report{
      "memory-report", cl::value_desc("file"), cl::ValueOptional,
      cl::cat(category),
      cl::desc("List every buffer: on standard output, or in a .txt or .json\n"
               "file, or draw them in a .svg file")};
  cl::opt<bool> planOnly{
      "plan-only", cl::cat(category),
      cl::desc("Do not run: --memory-report says what a run would need.\n"
               "Inputs may be left out where no shape depends on them")};
  cl::opt<std::string> time{
      "time", cl::value_desc("N"), cl::cat(category),
      cl::desc("Run N times more and print the median, in the same memory")};
  cl::opt<std::string> optLevel{
      "opt-level", cl::value_desc("0-3"), cl::init("3"), cl::cat(category),
      cl::desc("How far LLVM optimizes (default: 3)")};
  cl::opt<bool> strict{
      "strict", cl::cat(category),
      cl::desc("A buffer that no pol.alloc asked for is an error")};
  cl::opt<bool> noChecks{
      "no-checks", cl::cat(category),
      cl::desc("Trust that the shapes of kernels' operands fit each other")};
  cl::opt<std::string> maxStackBytes{
      "max-stack-bytes", cl::value_desc("bytes"), cl::init("65536"),
      cl::cat(category),
      cl::desc("Stack that frames may take in all (default: 65536)")};
};

/// The numbers among the options.
struct Numbers {
  unsigned threads;
  unsigned runs = 0;
  int64_t maxWorkers = 0;
  unsigned optLevel;
  int64_t maxStackBytes;
};
} // namespace

static const char *const overview =
    "Compiles a function in memory and runs it on real arrays.\n\n"
    "Space arguments of the function are supplied by the tool; all others "
    "come\n"
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

static llvm::Expected<int64_t> parseNumber(const cl::opt<std::string> &option,
                                           int64_t min, int64_t max) {
  int64_t number;
  if (llvm::StringRef(option).getAsInteger(10, number) || number < min ||
      number > max)
    return makeError("expected --" + option.ArgStr + " to be " +
                     llvm::Twine(min) + " to " + llvm::Twine(max) +
                     ", but got " + quoted(option));
  return number;
}

static llvm::Expected<Numbers> parseNumbers(const Options &options) {
  Numbers numbers;
  numbers.threads = llvm::hardware_concurrency().compute_thread_count();
  auto parse = [](const cl::opt<std::string> &option, int64_t min, int64_t max,
                  auto &number) -> llvm::Error {
    llvm::Expected<int64_t> parsed = parseNumber(option, min, max);
    if (!parsed)
      return parsed.takeError();
    number = *parsed;
    return llvm::Error::success();
  };
  if (options.threads.getNumOccurrences())
    if (llvm::Error error = parse(options.threads, 1, 4096, numbers.threads))
      return std::move(error);
  if (options.maxWorkers.getNumOccurrences())
    if (llvm::Error error =
            parse(options.maxWorkers, 1, 65536, numbers.maxWorkers))
      return std::move(error);
  if (options.time.getNumOccurrences())
    if (llvm::Error error = parse(options.time, 1, 1000000, numbers.runs))
      return std::move(error);
  if (llvm::Error error = parse(options.optLevel, 0, 3, numbers.optLevel))
    return std::move(error);
  if (llvm::Error error = parse(options.maxStackBytes, 0, int64_t(1) << 40,
                                numbers.maxStackBytes))
    return std::move(error);
  return numbers;
}

/// Whether a file of that name could be there in the end.
static llvm::Error checkDestination(llvm::StringRef path) {
  auto fail = [&](std::error_code code) {
    return makeError("cannot write " + quotedPath(path) + ": " +
                     code.message());
  };
  if (llvm::sys::fs::is_directory(path))
    return fail(std::make_error_code(std::errc::is_a_directory));
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::can_write(path))
    return fail(std::make_error_code(std::errc::permission_denied));
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (folder.empty())
    folder = ".";
  bool isDirectory = false;
  if (std::error_code code = llvm::sys::fs::is_directory(folder, isDirectory))
    return fail(code);
  if (!isDirectory)
    return fail(std::make_error_code(std::errc::not_a_directory));
  return llvm::Error::success();
}

/// Catches what would be found out only after a long run.
static llvm::Error checkOptions(const Options &options) {
  if (options.placement != "plan" && options.placement != "bump" &&
      options.placement != "carve")
    return makeError(
        "expected --placement to be plan, bump or carve, but got " +
        quoted(options.placement));
  if (options.planOnly &&
      (!options.outputs.empty() || options.time.getNumOccurrences()))
    return makeError("expected no --output or --time with --plan-only, which "
                     "runs nothing");
  if (options.space.getNumOccurrences() > 1)
    return makeError("expected one --space, for all space arguments");
  if (options.expansion != "vector" && options.expansion != "linalg")
    return makeError("expected --expansion to be vector or linalg, but got " +
                     quoted(options.expansion));
  if (options.target != "cpu")
    return makeError("expected --target to be cpu, but got " +
                     quoted(options.target));
  llvm::StringRef report = options.report;
  if (!report.empty() && !mlir::pol::namesReportFormat(report))
    return makeError("expected --memory-report to name a .json, .svg or .txt "
                     "file, but got " +
                     quoted(report));
  std::vector<std::string> destinations(options.outputs.begin(),
                                        options.outputs.end());
  if (!report.empty())
    destinations.push_back(report.str());
  llvm::StringSet<> seen;
  for (const std::string &path : destinations) {
    if (llvm::Error error = checkDestination(path))
      return error;
    if (!seen.insert(path).second && path != "/dev/null")
      return makeError("expected a file for each output, but got " +
                       quotedPath(path) + " twice");
  }
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
                               const mlir::pol::MemoryReport &report) {
  if (path.empty()) {
    printText(llvm::outs(), report);
    return llvm::Error::success();
  }
  std::string message;
  auto file = mlir::openOutputFile(path, &message);
  if (!file)
    return makeError(message);
  printFor(path, file->os(), report);
  file->os().flush();
  if (std::error_code code = file->os().error()) {
    // Or the stream ends the program.
    file->os().clear_error();
    return makeError("cannot write " + quotedPath(path) + ": " +
                     code.message());
  }
  file->keep();
  return llvm::Error::success();
}

/// Puts what was planned in place of the slabs that were observed.
static void addPlan(mlir::pol::MemoryReport &report,
                    const mlir::pol::PlanDescription &plan,
                    const Arguments &arguments, llvm::StringRef mode) {
  auto spaces = reportPlan(plan, arguments.getSizeParameters(), mode);
  for (auto [planned, space] : llvm::zip_equal(plan.spaces, spaces)) {
    mlir::pol::ReportedSpace &observed =
        report.spaces[arguments.getSpaceNumber(planned.argument)];
    space.name = observed.name;
    space.capacity = observed.capacity;
    observed = std::move(space);
  }
}

/// Reports what a run would need, given the inputs' shapes.
static llvm::Error reportPlanOnly(const Options &options,
                                  const CompiledEntry &entry,
                                  std::vector<Array> inputs) {
  const mlir::pol::PlanDescription *plan = entry.getPlan();
  if (!plan)
    return makeError("expected the footprint of '" + entry.getName() +
                     "' to be known before a run, for --plan-only");
  llvm::SmallVector<int64_t> parameters;
  if (!inputs.empty() || !plan->parameters.empty()) {
    llvm::Expected<Arguments> arguments =
        Arguments::bind(entry.getType(), std::move(inputs), SpaceSpec(),
                        /*footprints=*/nullptr);
    if (!arguments)
      return arguments.takeError();
    parameters = arguments->getSizeParameters();
  }
  mlir::pol::MemoryReport report = {
      entry.getName().str(), reportPlan(*plan, parameters, options.placement)};
  for (auto [number, space] : llvm::enumerate(report.spaces))
    space.name =
        plan->spaces.size() == 1 ? "arena" : "arena" + std::to_string(number);
  if (!entry.getStackBuffers().empty())
    report.spaces.push_back(reportStack(entry.getStackBuffers()));
  return writeReport(options.report, report);
}

/// How long it took from reading the module to a function to call, and what of
/// that was for which step; what is left is for reading.
static void reportCompileTime(const CompiledEntry &entry, double seconds) {
  llvm::outs() << llvm::format("compile: %.1f ms", 1e3 * seconds);
  const char *separator = " (";
  for (const CompilePhase &phase : entry.getPhases()) {
    llvm::outs() << separator << phase.name
                 << llvm::format(" %.1f", 1e3 * phase.seconds);
    separator = ", ";
  }
  llvm::outs() << ")\n";
}

static llvm::Error run(const Options &options) {
  if (llvm::Error error = checkOptions(options))
    return error;
  llvm::Expected<Numbers> numbers = parseNumbers(options);
  if (!numbers)
    return numbers.takeError();
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
  // The line of the source says enough.
  context.printOpOnDiagnostic(false);
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

  omp_set_num_threads(numbers->threads);
  CompileOptions compile;
  compile.optLevel = numbers->optLevel;
  compile.strict = options.strict;
  compile.checks = !options.noChecks;
  compile.openmp = numbers->threads > 1;
  compile.maxStackBytes = numbers->maxStackBytes;
  compile.placement = options.placement;
  compile.isReference = options.expansion == "linalg";
  compile.cpu = options.cpu;
  compile.maxWorkers = numbers->maxWorkers;
  compile.planOnly = options.planOnly;
  llvm::Expected<CompiledEntry> entry =
      CompiledEntry::compile(*module, options.entry, compile);
  if (!entry)
    return entry.takeError();
  double compileSeconds = secondsSince(start);

  size_t results = entry->getType().getNumResults();
  if (options.outputs.size() > results)
    return makeError("expected at most " + counted(results, "output") +
                     ", one for each result of '" + entry->getName() +
                     "', but got " + llvm::Twine(options.outputs.size()));
  const mlir::pol::PlanDescription *plan = entry->getPlan();
  if (options.planOnly)
    return reportPlanOnly(options, *entry, std::move(*inputs));
  llvm::Expected<Arguments> arguments = Arguments::bind(
      entry->getType(), std::move(*inputs), *spaces,
      [&](llvm::ArrayRef<int64_t> parameters)
          -> llvm::Expected<llvm::DenseMap<unsigned, int64_t>> {
        if (!plan)
          return makeError("expected --space to be heap or arena:BYTES, as the "
                           "footprint of '" +
                           entry->getName() + "' is not known before a run");
        return getFootprints(*plan, parameters);
      });
  if (!arguments)
    return arguments.takeError();

  SpaceObserver observer;
  bool wantsReport = options.report.getNumOccurrences();
  if (wantsReport)
    observer.attach(arguments->getSpaces());
  if (llvm::Error error = call(*entry, *arguments))
    return error;
  observer.detach();
  if (llvm::Error error = writeResults(options, *entry, *arguments))
    return error;
  if (wantsReport) {
    mlir::pol::MemoryReport report = {entry->getName().str(),
                                      observer.getSpaces()};
    if (plan)
      addPlan(report, *plan, *arguments, options.placement);
    if (!entry->getStackBuffers().empty())
      report.spaces.push_back(reportStack(entry->getStackBuffers()));
    if (llvm::Error error = writeReport(options.report, report))
      return error;
  }
  if (numbers->runs == 0)
    return llvm::Error::success();
  reportCompileTime(*entry, compileSeconds);
  return timeRuns(*entry, *arguments, numbers->runs);
}

int main(int argc, char **argv) {
  return pol_run::runTool<Options>(argc, argv, "pol-run", overview, run);
}
