//===- Npy.h - NumPy's .npy files -------------------------------*- C++ -*-===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes NumPy's .npy files. A file is not trusted: whatever its
// bytes, reading gives an array or one line of error, and allocates no more
// than a small multiple of the file's size.
//
//   descr                      element type
//   <f2 <f4 <f8                f16, f32, f64
//   |b1                        i1 (any byte but 0 is read as 1)
//   |i1 <i2 <i4 <i8            i8, i16, i32, i64
//   |u1 <u2 <u4 <u8            the same, bit for bit: pol's integers carry no
//                              sign. Written back, they are signed.
//   <V2 |V2                    bf16: what numpy.save writes for the bfloat16 of
//                              ml_dtypes, and what is written here. NumPy gives
//                              it back as raw bytes: .view(ml_dtypes.bfloat16)
//
// Byte order '<', '|' and '=' all mean little-endian; '>' is refused.
//
//===----------------------------------------------------------------------===//

#ifndef POL_TOOLS_POL_RUN_NPY_H
#define POL_TOOLS_POL_RUN_NPY_H

#include "Array.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace pol_run {

struct NpyReadOptions {
  /// Take '<u2' for bf16, which programs without ml_dtypes write it as.
  bool u2IsBF16 = false;
};

/// Read a file of format version 1.0, 2.0 or 3.0. Fortran order becomes C
/// order. Errors start with the path.
llvm::Expected<Array> readNpy(llvm::StringRef path,
                              const NpyReadOptions &options = {});

/// The same for the contents of a file; `name` stands for the path.
llvm::Expected<Array> parseNpy(llvm::StringRef contents, llvm::StringRef name,
                               const NpyReadOptions &options = {});

/// Write a file as numpy.save would, byte for byte. The file appears complete
/// or not at all: it is written beside `path` and renamed. Only where `path` is
/// a device or a pipe is it written in place.
llvm::Error writeNpy(llvm::StringRef path, const Array &array);

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_NPY_H
