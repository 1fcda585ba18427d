// RUN: pol-opt %s --pol-erase-gpu-memory-spaces | FileCheck %s

// Outside of GPU modules the memory space is gone from every type; others stay.

// CHECK-LABEL: func.func @host(
// CHECK-SAME:    %[[A:.+]]: !pol.arena, %{{.+}}: !pol.heap, %{{.+}}: memref<*xf32>, %{{.+}}: memref<4xf32, 1>,
// CHECK-SAME:    %[[N:.+]]: index) -> memref<?xf32>
// CHECK:         %[[M:.+]], %{{.+}} = pol.carve %[[A]][%[[N]]] : !pol.arena -> memref<?xf32>
// CHECK:         return %[[M]] : memref<?xf32>
func.func @host(%a: !pol.arena<#gpu.address_space<global>>, %h: !pol.heap<#gpu.address_space<global>>, %u: memref<*xf32, #gpu.address_space<global>>, %o: memref<4xf32, 1>,
                %n: index) -> memref<?xf32, #gpu.address_space<global>> {
  %m, %ok = pol.carve %a[%n] : !pol.arena<#gpu.address_space<global>> -> memref<?xf32, #gpu.address_space<global>>
  return %m : memref<?xf32, #gpu.address_space<global>>
}

// CHECK-LABEL: gpu.func @kernel(
// CHECK-SAME:    memref<?xf32, #gpu.address_space<global>>
gpu.module @kernels {
  gpu.func @kernel(%m: memref<?xf32, #gpu.address_space<global>>) kernel {
    gpu.return
  }
}
