//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile.h"

#include "Message.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "pol/IR/PolTypes.h"
#include "pol/Pipelines/Pipelines.h"
#include "pol/Runtime/Heap.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>

using namespace mlir;
using namespace pol_run;

CompiledEntry::CompiledEntry() = default;
CompiledEntry::CompiledEntry(CompiledEntry &&) = default;
CompiledEntry::~CompiledEntry() = default;

const pol::PlanDescription *CompiledEntry::getPlan() const {
  for (const pol::PlanDescription &function : plan.functions)
    if (function.function == name)
      return &function;
  return nullptr;
}

static llvm::Error
runPipeline(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager pm(module.getContext());
  build(pm);
  if (failed(pm.run(module)))
    return makeError("could not compile the module");
  return llvm::Error::success();
}

/// The function named, or the only candidate.
static llvm::Expected<func::FuncOp> findEntry(ModuleOp module,
                                              llvm::StringRef name) {
  if (!name.empty()) {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function)
      return makeError("expected a function named '" + name +
                       "' in the module, but found none");
    if (function.isExternal())
      return makeError("expected function '" + name + "' to have a body");
    if (!function.isPublic())
      return makeError("expected function '" + name + "' to be public");
    return function;
  }
  func::FuncOp found;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.isPublic())
      continue;
    if (found)
      return makeError("expected --entry to choose one of several public "
                       "functions, '" +
                       found.getSymName() + "' and '" + function.getSymName() +
                       "' among them");
    found = function;
  }
  if (!found)
    return makeError("expected a public function with a body in the module, "
                     "but found none");
  return found;
}

/// Makes `entry` the only public function: others need no entry points, and
/// those that it does not reach are not compiled.
static llvm::Error keepOnly(ModuleOp module, func::FuncOp entry) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function != entry && function.isPublic())
      function.setPrivate();
  return runPipeline(
      module, [](OpPassManager &pm) { pm.addPass(createSymbolDCEPass()); });
}

static std::vector<StackBuffer> collectStack(ModuleOp module) {
  std::vector<StackBuffer> buffers;
  module.walk([&](memref::AllocaOp alloca) {
    auto info = alloca->getAttrOfType<DictionaryAttr>("pol.buffer");
    if (!info)
      return;
    MemRefType type = alloca.getType();
    auto text = [&](StringRef key) {
      auto string = info.getAs<StringAttr>(key);
      return string ? string.getValue().str() : std::string();
    };
    buffers.push_back(
        {text("name"), text("kernel"),
         alloca->getParentOfType<func::FuncOp>().getSymName().str(),
         type.getNumElements() * pol::getElementBytes(type.getElementType())});
  });
  return buffers;
}

static void registerRuntime(ExecutionEngine &engine) {
  engine.registerSymbols([](llvm::orc::MangleAndInterner intern) {
    llvm::orc::SymbolMap symbols;
    auto add = [&](llvm::StringRef name, auto *function) {
      symbols[intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                               llvm::JITSymbolFlags::Exported};
    };
    add("pol_carve", &pol_carve);
    add("pol_copy_last_error", &pol_copy_last_error);
    add("pol_report_mismatch", &pol_report_mismatch);
    add("pol_space_mark", &pol_space_mark);
    add("pol_space_release", &pol_space_release);
    add("pol_space_reset", &pol_space_reset);
    add("pol_space_retract", &pol_space_retract);
    add("pol_space_trim", &pol_space_trim);
    add("pol_space_watermark", &pol_space_watermark);
    add("pol_thread_heap", &pol_thread_heap);
    return symbols;
  });
}

static llvm::Expected<std::unique_ptr<ExecutionEngine>>
createEngine(ModuleOp module, unsigned optLevel) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  auto level = static_cast<llvm::CodeGenOptLevel>(optLevel);
  builder->setCodeGenOptLevel(level);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();

  // The options only refer to the transformer: it has to live until create
  // returns.
  auto transformer =
      makeOptimizingTransformer(optLevel, /*sizeLevel=*/0, machine->get());
  ExecutionEngineOptions options;
  options.transformer = transformer;
  options.jitCodeGenOptLevel = level;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  return ExecutionEngine::create(module, options, std::move(*machine));
}

namespace {
/// Notes how long each step takes, from the end of the one before.
class PhaseTimer {
public:
  explicit PhaseTimer(std::vector<CompilePhase> &phases) : phases(phases) {}
  void end(const char *name) {
    Clock::time_point now = Clock::now();
    phases.push_back(
        {name, std::chrono::duration<double>(now - begin).count()});
    begin = now;
  }

private:
  using Clock = std::chrono::steady_clock;
  std::vector<CompilePhase> &phases;
  Clock::time_point begin = Clock::now();
};
} // namespace

llvm::Expected<CompiledEntry>
CompiledEntry::compile(ModuleOp module, llvm::StringRef name,
                       const CompileOptions &options) {
  pol::PipelineOptions pipeline;
  pipeline.strict = options.strict;
  pipeline.openmp = options.openmp;
  pipeline.checks = options.checks;
  pipeline.maxStackBytes = options.maxStackBytes;
  pipeline.placement = options.placement;
  pipeline.expansion =
      options.isReference ? pol::Expansion::Linalg : pol::Expansion::Vector;
  pipeline.cpu = options.cpu;
  pipeline.maxWorkers = options.maxWorkers;

  CompiledEntry entry;
  PhaseTimer timer(entry.phases);
  pipeline.onPlan = [&](const pol::ModulePlan &plan) { entry.plan = plan; };
  // The entry is looked for first: nothing else may be worth compiling.
  llvm::Expected<func::FuncOp> function = findEntry(module, name);
  if (!function)
    return function.takeError();
  entry.name = function->getSymName().str();
  if (llvm::Error error = keepOnly(module, *function))
    return std::move(error);

  if (llvm::Error error = runPipeline(module, [&](OpPassManager &pm) {
        pol::buildDescribeStage(pm, pipeline);
        pol::buildMaterializeStage(pm, pipeline);
        pol::buildPlaceStage(pm, pipeline);
      }))
    return std::move(error);
  timer.end("place");
  entry.type = module.lookupSymbol<func::FuncOp>(entry.name).getFunctionType();
  entry.stack = collectStack(module);
  if (options.planOnly)
    return entry;

  if (llvm::Error error = runPipeline(module, [&](OpPassManager &pm) {
        pol::buildExpandStage(pm, pipeline);
      }))
    return std::move(error);
  timer.end("expand");
  if (llvm::Error error = runPipeline(module, [&](OpPassManager &pm) {
        pol::buildTargetStage(pm, pipeline);
      }))
    return std::move(error);
  timer.end("lower");
  auto engine = createEngine(module, options.optLevel);
  if (!engine)
    return engine.takeError();
  entry.engine = std::move(*engine);
  timer.end("optimize");
  registerRuntime(*entry.engine);
  auto packed = entry.engine->lookupPacked("pol_entry_" + entry.name);
  if (!packed)
    return packed.takeError();
  entry.function = *packed;
  timer.end("assemble");
  return entry;
}
