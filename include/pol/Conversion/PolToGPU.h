//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The CUDA toolkit that kernels are compiled with.

#ifndef POL_CONVERSION_POLTOGPU_H
#define POL_CONVERSION_POLTOGPU_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::pol {

/// The folder of the CUDA toolkit: the one given, else that which CUDA_ROOT,
/// CUDA_HOME or CUDA_PATH names, else the usual one. Empty if there is none
/// with a libdevice.
std::string findCUDAToolkit(llvm::StringRef given);

/// What gpu-module-to-binary calls a format.
std::string getGPUBinaryFormat(llvm::StringRef format);

} // namespace mlir::pol

#endif // POL_CONVERSION_POLTOGPU_H
