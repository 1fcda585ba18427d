// RUN: pol-opt %s --pol-attach-nvvm-target | FileCheck %s
// RUN: pol-opt %s --pol-attach-nvvm-target="chip=sm_90 features=+ptx80 opt-level=3 format=llvm" \
// RUN:   | FileCheck %s --check-prefix=OPTIONS
// RUN: not pol-opt %s --pol-attach-nvvm-target=chip=sm_81 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CHIP
// RUN: not pol-opt %s --pol-attach-nvvm-target=features=+ptx80,+fast 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FEATURE
// RUN: not pol-opt %s --pol-attach-nvvm-target="chip=sm_90 features=+ptx70" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OLD
// RUN: not pol-opt %s --pol-attach-nvvm-target=format=ptx 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FORMAT
// RUN: not pol-opt %s --pol-attach-nvvm-target=opt-level=4 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LEVEL
// RUN: not pol-opt %s --pol-attach-nvvm-target=toolkit=%t.none 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TOOLKIT
// RUN: echo "module {}" | pol-opt --pol-attach-nvvm-target 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTHING

// NOTHING: warning: expected work on memory in #gpu.address_space<global>, but got none: there is nothing for a GPU to run
// CHECK: gpu.module @kernels [#nvvm.target<chip = "sm_80">]
// OPTIONS: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx80">]
// CHIP: error: expected chip to be one that LLVM knows, such as sm_80, but got 'sm_81'
// FEATURE: error: expected features to be ones that LLVM knows, such as +ptx80, but got '+fast'
// OLD: error: expected features to have ptx78 or later for sm_90, but got '+ptx70'
// FORMAT: error: expected format to be isa, bin, fatbin, llvm or offload, but got 'ptx'
// LEVEL: error: expected opt-level to be between 0 and 3, but got 4
// TOOLKIT: error: expected toolkit to be the folder of a CUDA toolkit, with nvvm/libdevice/libdevice.10.bc in it, but got '{{.*}}.none'
gpu.module @kernels {
}
