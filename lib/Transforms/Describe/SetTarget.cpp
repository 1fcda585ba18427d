//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/IR/BuiltinOps.h"
#include "pol/IR/Target.h"
#include "pol/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Threading.h"

namespace mlir::pol {
#define GEN_PASS_DEF_SETTARGET
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

static TargetAttr lookup(MLIRContext *context, StringRef cpu) {
  if (cpu == "host")
    return getHostTarget(context,
                         llvm::hardware_concurrency().compute_thread_count());
  return getNamedTarget(context, cpu);
}

namespace {
struct SetTarget : pol::impl::SetTargetBase<SetTarget> {
  using SetTargetBase::SetTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (cpu == "none")
      return setTarget(module, nullptr);
    MLIRContext *context = &getContext();
    Attribute entry = lookupTargetEntry(module);
    if (entry && !isa<TargetAttr>(entry)) {
      mlir::emitError(module.getLoc())
          << "expected pol.target of the device CPU to be a #pol.target, but "
             "got "
          << entry;
      return signalPassFailure();
    }
    TargetAttr target = cpu.empty() ? getTarget(module) : lookup(context, cpu);
    if (!target) {
      mlir::emitError(module.getLoc())
          << "expected the cpu to be " << llvm::join(getTargetNames(), ", ")
          << ", host or none, but got '" << cpu << "'";
      return signalPassFailure();
    }
    if (maxWorkers != 0)
      target = TargetAttr::getChecked(
          [&] { return mlir::emitError(module.getLoc()); }, context,
          target.getVectorBits(), target.getVectorRegisters(),
          target.getL1Bytes(), target.getL2Bytes(), target.getLlcBytes(),
          maxWorkers.getValue(), target.getF16(), target.getRowGroup());
    if (!target)
      return signalPassFailure();
    setTarget(module, target);
  }
};
} // namespace
