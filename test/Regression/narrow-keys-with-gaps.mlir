// RUN: pol-opt %s --pol-set-target=cpu=x86-64-v4 --convert-pol-to-vector \
// RUN:   | FileCheck %s

// Rows of bf16 are converted as vectors before they are multiplied: also those
// whose columns are apart were, which vectors cannot be loaded of.

!apart = memref<1x2x64x64xbf16, strided<[16384, 8192, 128, 2]>>

// CHECK-LABEL: func.func @apart(
// CHECK:         memref.load %{{.+}} : memref<1x2x64x64xbf16, strided<[16384, 8192, 128, 2]>>
// CHECK:         vector.fma
// CHECK-NOT:     pol.attention
func.func @apart(%q: memref<1x2x64x64xbf16>, %k: !apart,
                 %o: memref<1x2x64x64xbf16>, %w: memref<?x?xf32>) {
  pol.attention ins(%q, %k, %k : memref<1x2x64x64xbf16>, !apart, !apart)
      outs(%o : memref<1x2x64x64xbf16>)
      scratch(workspace = %w : memref<?x?xf32>)
  return
}

// CHECK-LABEL: func.func @side_by_side(
// CHECK:         memref.alloca() {alignment = 64 : i64} : memref<4x128xf32>
// CHECK:         vector.load %{{.+}} : memref<1x2x64x64xbf16>, vector<16xbf16>
func.func @side_by_side(%q: memref<1x2x64x64xbf16>, %k: memref<1x2x64x64xbf16>,
                        %o: memref<1x2x64x64xbf16>, %w: memref<?x?xf32>) {
  pol.attention ins(%q, %k, %k : memref<1x2x64x64xbf16>, memref<1x2x64x64xbf16>,
                    memref<1x2x64x64xbf16>)
      outs(%o : memref<1x2x64x64xbf16>)
      scratch(workspace = %w : memref<?x?xf32>)
  return
}
