// RUN: pol-opt %s --pol-to-llvm=strict --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s
// RUN: pol-opt %s --pol-to-nvvm=strict --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s
// RUN: pol-opt %s --pol-to-llvm --dump-pass-pipeline -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: pol-opt %s --pol-to-nvvm="strict report-hidden=false" --dump-pass-pipeline -o /dev/null 2>&1 \
// RUN:   | FileCheck %s
// RUN: pol-opt %s --pol-to-llvm=report-hidden=false --dump-pass-pipeline -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SILENT
// RUN: pol-opt %s --pol-to-nvvm=report-hidden=false --dump-pass-pipeline -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SILENT
// RUN: pol-opt %S/Inputs/gpu-kernels.mlir --pol-describe-stage --pol-materialize-stage \
// RUN:   --pol-place-stage --pol-expand-gpu-stage 2>&1 \
// RUN:   | FileCheck %s --check-prefix=KERNELS --implicit-check-not=remark:

// Hidden buffers are looked for twice: when tensors become memrefs and, with
// nothing in between that could take the marks or the copies away, when kernels
// become loops.

// CHECK:      pol-bufferize{{.*}} strict=true
// CHECK:      pol-mark-known-buffers
// CHECK-NEXT: convert-pol-to-{{vector|linalg}}
// CHECK-NEXT: pol-report-hidden{strict=true}

// REMARK:      pol-bufferize{{.*}} strict=false
// REMARK:      pol-mark-known-buffers
// REMARK-NEXT: convert-pol-to-{{vector|linalg}}
// REMARK-NEXT: pol-report-hidden{strict=false}

// SILENT-NOT:  pol-mark-known-buffers
// SILENT:      convert-pol-to-{{vector|linalg}}
// SILENT-NOT:  pol-report-hidden

// No kernel adds any.

// KERNELS:         gpu.launch
// KERNELS-COUNT-9: func.func @
