// RUN: pol-opt %s --pol-describe-stage --pol-materialize-stage --pol-place-stage=placement=carve \
// RUN:   --convert-pol-to-linalg --split-input-file | FileCheck %s

// From pairs and verbs down to loops: what is duplicated gets its gradient, into
// its shadow and nowhere else; what is bare is a constant, and nothing is left
// of the work for it, nor of its scratch.

// The weight's gradient alone: sums over rows, through scratch that fits on the
// stack. No other buffer is made, and nothing of x's shape is written.

// CHECK-LABEL: func.func @weight_alone(
// CHECK-SAME:    %[[ARENA:[^ ]+]]: !pol.arena, %[[X:.+]]: memref<70x48xf32>, %[[DY:.+]]: memref<70x48xf32>, %[[W:[^ ]+]]: memref<48xbf16>, %[[DW:[^ ]+]]: memref<48xf32>, %[[RSTD:[^ ]+]]: memref<70xf32>
// CHECK-NOT:     pol.carve
// CHECK:         %[[P:.+]] = memref.alloca() {{.+}} : memref<2x48xf32>
// CHECK-NOT:     pol.carve
// CHECK-NOT:     memref.load %[[W]]
// CHECK:         scf.parallel
// CHECK-NOT:       memref.store %{{.+}} : memref<70x48xf32>
// CHECK:           memref.store %{{.+}}, %[[P]][
// CHECK-NOT:     memref.store %{{.+}} : memref<70x48xf32>
// CHECK:         scf.parallel
// CHECK:           memref.load %[[P]][
// CHECK:           memref.store %{{.+}}, %[[DW]][%{{.+}}] : memref<48xf32>
// CHECK-NOT:     memref.store
// CHECK-NOT:     scf.parallel
// CHECK-NOT:     memref.load %[[W]]
// CHECK:         return
func.func @weight_alone(%arena: !pol.arena, %x: tensor<70x48xf32>,
    %dy: tensor<70x48xf32>, %w: tensor<48xbf16>, %dw: tensor<48xf32>,
    %rstd: tensor<70xf32>) -> tensor<48xf32> {
  %p = pol.duplicated %w, %dw : tensor<48xbf16>, tensor<48xf32>
  %0 = pol.apply "pol.rms_norm_grad"(%x, %dy, %p, %rstd) in %arena
      : (tensor<70x48xf32>, tensor<70x48xf32>,
         !pol.duplicated<tensor<48xbf16>, tensor<48xf32>>, tensor<70xf32>),
        !pol.arena -> tensor<48xf32>
  return %0 : tensor<48xf32>
}

// -----

// x alone: one loop over rows, into the shadow, and neither scratch nor mark.

// CHECK-LABEL: func.func @x_alone(
// CHECK-SAME:    %[[ARENA:[^ ]+]]: !pol.arena, %[[X:.+]]: memref<70x48xf32>, %[[DX:.+]]: memref<70x48xf32>, %[[DY:.+]]: memref<70x48xf32>, %[[W:[^ ]+]]: memref<48xf32>, %[[B:[^ ]+]]: memref<48xf32>,
// CHECK-NOT:     %[[ARENA]]
// CHECK-NOT:     memref.alloca
// CHECK:         scf.parallel
// CHECK-NOT:       memref.load %[[B]]
// CHECK:           memref.store %{{.+}}, %[[DX]]
// CHECK-NOT:     scf.parallel
// CHECK-NOT:     memref.store
// CHECK-NOT:     %[[ARENA]]
// CHECK:         return
func.func @x_alone(%arena: !pol.arena, %x: tensor<70x48xf32>,
    %dx: tensor<70x48xf32>, %dy: tensor<70x48xf32>, %w: tensor<48xf32>,
    %b: tensor<48xf32>, %mean: tensor<70xf32>, %rstd: tensor<70xf32>)
    -> tensor<70x48xf32> {
  %p = pol.duplicated %x, %dx : tensor<70x48xf32>, tensor<70x48xf32>
  %0 = pol.apply "pol.layer_norm_grad"(%p, %dy, %w, %b, %mean, %rstd) in %arena
      : (!pol.duplicated<tensor<70x48xf32>>, tensor<70x48xf32>,
         tensor<48xf32>, tensor<48xf32>, tensor<70xf32>, tensor<70xf32>),
        !pol.arena -> tensor<70x48xf32>
  return %0 : tensor<70x48xf32>
}

// -----

// v alone, whose shadow is the arena's: o, v and delta have no part in it.

// CHECK-LABEL: func.func @v_alone(
// CHECK-SAME:    %[[ARENA:[^ ]+]]: !pol.arena, %[[Q:.+]]: memref<1x2x3x4xf32>, %[[K:.+]]: memref<1x1x5x4xf32>, %[[V:.+]]: memref<1x1x5x6xf32>, %[[O:.+]]: memref<1x2x3x6xf32>, %[[DO:.+]]: memref<1x2x3x6xf32>,
// CHECK-NOT:     memref.load %[[V]]
// CHECK-NOT:     memref.load %[[O]]
// CHECK:         %[[DV:[^ ,]+]], %{{.+}} = pol.carve %[[ARENA]]{{.*}}memref<1x1x5x6xf32>
// CHECK-NOT:     pol.carve
// CHECK:         scf.parallel
// CHECK:           memref.load %[[DO]]
// CHECK:           memref.store %{{.+}}, %[[DV]]
// CHECK-NOT:     scf.parallel
// CHECK-NOT:     memref.load %[[V]]
// CHECK-NOT:     memref.load %[[O]]
// CHECK:         return
func.func @v_alone(%arena: !pol.arena, %q: tensor<1x2x3x4xf32>,
    %k: tensor<1x1x5x4xf32>, %v: tensor<1x1x5x6xf32>, %o: tensor<1x2x3x6xf32>,
    %do: tensor<1x2x3x6xf32>, %max: tensor<1x2x3xf32>,
    %sum: tensor<1x2x3xf32>) -> tensor<1x1x5x6xf32> {
  %u = pol.duplicated %v : tensor<1x1x5x6xf32>
  %p = pol.alloc %arena, %u : !pol.arena,
      !pol.duplicated<tensor<1x1x5x6xf32>, !pol.undef<1x1x5x6xf32>>
      -> !pol.duplicated<tensor<1x1x5x6xf32>>
  %0 = pol.apply "pol.attention_grad"(%q, %k, %p, %o, %do, none, none, none,
      none, %max, %sum) in %arena
      : (tensor<1x2x3x4xf32>, tensor<1x1x5x4xf32>,
         !pol.duplicated<tensor<1x1x5x6xf32>>, tensor<1x2x3x6xf32>,
         tensor<1x2x3x6xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>),
        !pol.arena -> tensor<1x1x5x6xf32>
  return %0 : tensor<1x1x5x6xf32>
}

// -----

// In the place of dy, a pair stands for its shadow, and its primal is not read.

// CHECK-LABEL: func.func @pair_as_dy(
// CHECK-SAME:    %[[ARENA:[^ ]+]]: !pol.arena, %[[X:.+]]: memref<3x8xf32>, %[[DX:.+]]: memref<3x8xf32>, %[[OUT:.+]]: memref<3x8xf32>, %[[DOUT:.+]]: memref<3x8xf32>, %[[Y:[^ ,]+]]: memref<3x8xf32>
// CHECK-NOT:     memref.load %[[OUT]]
// CHECK-NOT:     memref.load %[[X]]
// CHECK:         memref.load %[[DOUT]]
// CHECK-NOT:     memref.load %[[OUT]]
// CHECK-NOT:     memref.load %[[X]]
// CHECK:         memref.store %{{.+}}, %[[DX]]
// CHECK-NOT:     memref.store
// CHECK:         return
func.func @pair_as_dy(%arena: !pol.arena, %x: tensor<3x8xf32>,
    %dx: tensor<3x8xf32>, %out: tensor<3x8xf32>, %dout: tensor<3x8xf32>,
    %y: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %p = pol.duplicated %x, %dx : tensor<3x8xf32>, tensor<3x8xf32>
  %d = pol.duplicated %out, %dout : tensor<3x8xf32>, tensor<3x8xf32>
  %0 = pol.apply "pol.softmax_grad"(%y, %d, %p) in %arena
      : (tensor<3x8xf32>, !pol.duplicated<tensor<3x8xf32>>,
         !pol.duplicated<tensor<3x8xf32>>), !pol.arena -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
