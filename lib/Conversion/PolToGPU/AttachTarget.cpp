//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Says what kernels are compiled for, and checks that they can be.

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "pol/Conversion/Passes.h"
#include "pol/Conversion/PolToGPU.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Triple.h"

namespace mlir::pol {
#define GEN_PASS_DEF_ATTACHNVVMTARGET
#include "pol/Conversion/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";

//===----------------------------------------------------------------------===//
// The CUDA toolkit
//===----------------------------------------------------------------------===//

/// Whether a folder has the library of functions that PTX has no instruction
/// for, where MLIR looks for it.
static bool hasLibdevice(StringRef toolkit) {
  SmallString<128> path(toolkit);
  llvm::sys::path::append(path, "nvvm", "libdevice", "libdevice.10.bc");
  return llvm::sys::fs::exists(path);
}

std::string mlir::pol::findCUDAToolkit(StringRef given) {
  if (!given.empty())
    return given.str();
  for (const char *variable : {"CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"})
    if (const char *path = std::getenv(variable); path && hasLibdevice(path))
      return path;
  StringRef usual = "/usr/local/cuda";
  return hasLibdevice(usual) ? usual.str() : std::string();
}

std::string mlir::pol::getGPUBinaryFormat(StringRef format) {
  return format == "offload" ? "llvm" : format.str();
}

static bool hasTool(StringRef toolkit, StringRef name) {
  SmallString<128> folder(toolkit);
  llvm::sys::path::append(folder, "bin");
  return (!toolkit.empty() &&
          llvm::sys::findProgramByName(name, {StringRef(folder)})) ||
         llvm::sys::findProgramByName(name);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct AttachNVVMTarget : pol::impl::AttachNVVMTargetBase<AttachNVVMTarget> {
  using AttachNVVMTargetBase::AttachNVVMTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyChip()) || failed(verifyOptions()))
      return signalPassFailure();
    MLIRContext *context = &getContext();
    if (module.getOps<gpu::GPUModuleOp>().empty())
      emitWarning(module.getLoc())
          << "expected work on memory in #gpu.address_space<global>, but got "
             "none: there is nothing for a GPU to run";
    auto target =
        NVVM::NVVMTargetAttr::get(context, optLevel, kTriple, chip, features);
    for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
      if (failed(verifyLibdevice(kernels)))
        return signalPassFailure();
      kernels.setTargetsAttr(ArrayAttr::get(context, target));
    }
  }

  InFlightDiagnostic error() { return emitError(getOperation().getLoc()); }

  LogicalResult verifyChip() {
    NVVM::SerializeGPUModuleBase::init();
    llvm::Triple triple(kTriple);
    std::string reason;
    const llvm::Target *target =
        llvm::TargetRegistry::lookupTarget(triple, reason);
    if (!target)
      return error() << "expected an LLVM with the target NVPTX, but got one "
                        "without it";
    std::unique_ptr<llvm::MCSubtargetInfo> info(
        target->createMCSubtargetInfo(triple, "", ""));
    if (!info || !info->isCPUStringValid(chip))
      return error() << "expected chip to be one that LLVM knows, such as "
                        "sm_80, but got '"
                     << chip << "'";
    SmallVector<StringRef> wanted;
    StringRef(features).split(wanted, ',', -1, /*KeepEmpty=*/false);
    for (StringRef feature : wanted)
      if (llvm::none_of(info->getAllProcessorFeatures(),
                        [&](const llvm::SubtargetFeatureKV &known) {
                          return feature.drop_front() == known.Key;
                        }) ||
          !StringRef("+-").contains(feature.front()))
        return error() << "expected features to be ones that LLVM knows, such "
                          "as +ptx80, but got '"
                       << feature << "'";
    return verifyPTXVersion(wanted);
  }

  /// LLVM ends the process where a version of PTX is too old for a chip.
  LogicalResult verifyPTXVersion(ArrayRef<StringRef> wanted) {
    unsigned architecture = 0;
    StringRef digits = StringRef(chip);
    if (!digits.consume_front("sm_") || digits.consumeInteger(10, architecture))
      return success();
    // Of the chips from these on, the first version that has them.
    static constexpr std::pair<unsigned, unsigned> kFirst[] = {
        {120, 87}, {100, 86}, {89, 78}, {87, 74}, {86, 71}, {80, 70},
        {75, 63},  {72, 61},  {70, 60}, {60, 50}, {53, 42}, {52, 41}};
    const auto *first = llvm::find_if(
        kFirst, [&](auto known) { return architecture >= known.first; });
    for (StringRef feature : wanted) {
      unsigned version = 0;
      if (!feature.consume_front("+ptx") || feature.getAsInteger(10, version) ||
          first == std::end(kFirst) || version >= first->second)
        continue;
      return error() << "expected features to have ptx" << first->second
                     << " or later for " << chip << ", but got '+ptx" << version
                     << "'";
    }
    return success();
  }

  LogicalResult verifyOptions() {
    if (optLevel < 0 || optLevel > 3)
      return error() << "expected opt-level to be between 0 and 3, but got "
                     << optLevel.getValue();
    if (!llvm::is_contained({"isa", "bin", "fatbin", "llvm", "offload"},
                            StringRef(format)))
      return error() << "expected format to be isa, bin, fatbin, llvm or "
                        "offload, but got '"
                     << format << "'";
    std::string toolkit = findCUDAToolkit(toolkitPath);
    if (!toolkitPath.empty() && !hasLibdevice(toolkit))
      return error() << "expected toolkit to be the folder of a CUDA toolkit, "
                        "with nvvm/libdevice/libdevice.10.bc in it, but got '"
                     << toolkitPath << "'";
    SmallVector<StringRef> tools;
    if (format == "bin" || format == "fatbin")
      tools.push_back("ptxas");
    if (format == "fatbin")
      tools.push_back("fatbinary");
    for (StringRef tool : tools)
      if (!hasTool(toolkit, tool))
        return error() << "expected " << tool
                       << " in the CUDA toolkit or on the PATH, as format="
                       << format << " takes it, but got neither";
    return success();
  }

  /// Without the library its functions would stay undefined, and nothing else
  /// would say so before the kernel is loaded.
  LogicalResult verifyLibdevice(gpu::GPUModuleOp kernels) {
    if (!findCUDAToolkit(toolkitPath).empty())
      return success();
    WalkResult result = kernels.walk([](LLVM::CallOp call) {
      std::optional<StringRef> callee = call.getCallee();
      if (!callee || !callee->starts_with("__nv_"))
        return WalkResult::advance();
      call.emitError("expected a CUDA toolkit, whose libdevice has '")
          << *callee
          << "', but got none: name its folder with the option toolkit, or in "
             "CUDA_ROOT, CUDA_HOME or CUDA_PATH";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
