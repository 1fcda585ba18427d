//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Reports buffers and copies that the expansion of kernels adds.

#include "../HiddenBuffers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "pol/Analysis/Provenance.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::pol {
#define GEN_PASS_DEF_REPORTHIDDEN
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// What kernels may have on the stack of a function, or of each worker, without
/// a pol.alloc: tiles of a size that is known.
static constexpr uint64_t kTileBytes = 16 * 1024;

/// The kernel that pol-mark-known-buffers left in a location; empty if none.
static StringRef getKernel(FusedLoc loc) {
  auto mark = dyn_cast_or_null<DictionaryAttr>(loc.getMetadata());
  auto name = mark ? mark.getAs<StringAttr>(kKernelKey) : StringAttr();
  return name ? name.getValue() : "";
}

/// What a location is the expansion of.
static std::string getCause(Location loc) {
  StringRef kernel;
  loc->walk([&](Location part) {
    if (auto fused = dyn_cast<FusedLoc>(part))
      kernel = getKernel(fused);
    return kernel.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return kernel.empty() ? "expansion"
                        : ("the expansion of '" + kernel + "'").str();
}

static Type getType(Operation *op) {
  return op->getNumResults() ? op->getResult(0).getType()
                             : op->getOperand(0).getType();
}

namespace {
class Reporter {
public:
  explicit Reporter(HiddenBuffers &hidden) : hidden(hidden) {}
  void visit(Operation *op);

private:
  bool isTile(memref::AllocaOp alloca);

  HiddenBuffers &hidden;
  /// Of each function and body of a parallel loop: bytes of tiles.
  DenseMap<Operation *, uint64_t> tileBytes;
};
} // namespace

/// Whether a stack buffer is one of the few tiles that a worker may have. In a
/// loop there would be one for each trip.
bool Reporter::isTile(memref::AllocaOp alloca) {
  Operation *worker = getEnclosingParallel(alloca);
  auto function = alloca->getParentOfType<FunctionOpInterface>();
  if (!worker || (function && !function->isAncestor(worker)))
    worker = function;
  FailureOr<std::optional<int64_t>> bytes = getStaticBytes(alloca.getType());
  if (!worker || failed(bytes) || !*bytes || mayRepeatWithin(alloca, worker))
    return false;
  uint64_t &sum = tileBytes[worker];
  sum = llvm::SaturatingAdd(sum, static_cast<uint64_t>(**bytes));
  return sum <= kTileBytes;
}

void Reporter::visit(Operation *op) {
  if (op->removeAttr(kKnownAttr) || !isBufferOrCopy(op))
    return;
  std::string what = getCause(op->getLoc()) + " adds a ";
  if (auto alloca = dyn_cast<memref::AllocaOp>(op)) {
    if (op->hasAttr("pol.buffer") || isTile(alloca))
      return;
    what += "stack buffer";
  } else if (isa<AllocOp, CarveOp>(op)) {
    auto role = op->getAttrOfType<BufferRoleAttr>("role");
    if (role && role.getValue() != BufferRole::Hidden)
      return;
    what += "buffer";
  } else {
    what += op->getNumResults() ? "buffer" : "copy";
  }
  llvm::raw_string_ostream(what) << " of type " << getType(op);
  if (isa<memref::AllocaOp>(op))
    llvm::raw_string_ostream(what) << ", which is none of at most "
                                   << kTileBytes << " bytes of static tiles";
  hidden.note(op->getLoc(), what);
}

namespace {
struct ReportHidden : pol::impl::ReportHiddenBase<ReportHidden> {
  using ReportHiddenBase::ReportHiddenBase;

  void runOnOperation() override {
    HiddenBuffers hidden{strict, /*report=*/true};
    Reporter reporter(hidden);
    getOperation().walk([&](Operation *op) { reporter.visit(op); });
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](FusedLoc loc) -> std::optional<Attribute> {
      if (getKernel(loc).empty())
        return std::nullopt;
      return FusedLoc::get(loc.getLocations(), Attribute(), &getContext());
    });
    replacer.recursivelyReplaceElementsIn(
        getOperation(), /*replaceAttrs=*/false, /*replaceLocs=*/true,
        /*replaceTypes=*/false);
    if (hidden.failed)
      signalPassFailure();
  }
};
} // namespace
