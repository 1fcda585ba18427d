// RUN: pol-test-opt %s --split-input-file --verify-diagnostics \
// RUN:   --allow-unregistered-dialect --pol-expand-apply \
// RUN:   --pol-resolve-descriptions --pol-flatten-bundles

// What the passes of the stage report, beyond what verifiers do.

func.func private @k(tensor<4xf32>, tensor<4xf32>)
pol.description for @k(%x: tensor<4xf32>) {
  // expected-error @below {{'pol.outputs' op expected a description that does not ask for itself, but that of @k does}}
  %b = pol.outputs @k(%x) : (tensor<4xf32>) -> !pol.bundle<{y: !pol.undef<4xf32>}>
  %y = pol.get %b, "y" : !pol.bundle<{y: !pol.undef<4xf32>}>
  pol.describe outputs {y(1) = %y : !pol.undef<4xf32>}
}

// -----

// Two that ask each other.
func.func private @a(tensor<4xf32>, tensor<4xf32>)
func.func private @b(tensor<4xf32>, tensor<4xf32>)
pol.description for @a(%x: tensor<4xf32>) {
  %b = pol.outputs @b(%x) : (tensor<4xf32>) -> !pol.bundle<{y: !pol.undef<4xf32>}>
  %y = pol.get %b, "y" : !pol.bundle<{y: !pol.undef<4xf32>}>
  pol.describe outputs {y(1) = %y : !pol.undef<4xf32>}
}
pol.description for @b(%x: tensor<4xf32>) {
  // expected-error @below {{expected a description that does not ask for itself, but that of @a does}}
  %b = pol.outputs @a(%x) : (tensor<4xf32>) -> !pol.bundle<{y: !pol.undef<4xf32>}>
  %y = pol.get %b, "y" : !pol.bundle<{y: !pol.undef<4xf32>}>
  pol.describe outputs {y(1) = %y : !pol.undef<4xf32>}
}

// -----

func.func @op_results(%x: tensor<4xf32>, %o: !pol.bundle<{y: tensor<4xf32>}>) -> f32 {
  // expected-error @below {{'pol.call' op expected the results of "pol.rms_norm" to be ('tensor<4xf32>'), but got ('f32')}}
  %0 = pol.call "pol.rms_norm"(%x) outputs(%o) : (tensor<4xf32>), !pol.bundle<{y: tensor<4xf32>}> -> f32
  return %0 : f32
}

// -----

func.func @attribute_of_op(%x: tensor<4xf32>, %o: !pol.bundle<{y: tensor<4xf32>}>) -> tensor<4xf32> {
  // expected-error @below {{pol.rms_norm: attribute 'eps' failed to satisfy constraint: 64-bit float attribute}}
  %0 = pol.call "pol.rms_norm"(%x) {eps = 1.0 : f32} outputs(%o) : (tensor<4xf32>), !pol.bundle<{y: tensor<4xf32>}> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @offset_of_op(%x: tensor<4xf32>, %o: !pol.bundle<{y: tensor<4xf32>}>) -> tensor<4xf32> {
  // expected-error @below {{pol.rms_norm: attribute 'offset' failed to satisfy constraint: 64-bit float attribute}}
  %0 = pol.call "pol.rms_norm"(%x) {offset = "1"} outputs(%o) : (tensor<4xf32>), !pol.bundle<{y: tensor<4xf32>}> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @memory_space(%x: tensor<4xf32>, %arena: !pol.arena<1>) {
  // expected-error @below {{expected a buffer in memory space 1 : i64 of '!pol.arena<1 : i64>', but got 'tensor<4xf32>'}}
  %0 = pol.outputs "pol.rms_norm"(%x) in %arena : (tensor<4xf32>), !pol.arena<1> -> !pol.bundle<{y: tensor<4xf32>}>
  return
}

// -----

func.func @layout(%x: tensor<4xf32>, %arena: !pol.arena) {
  // expected-error @below {{expected a contiguous memref, but got 'memref<4xf32, strided<[2]>>'}}
  %0 = pol.outputs "pol.rms_norm"(%x) in %arena : (tensor<4xf32>), !pol.arena -> !pol.bundle<{y: memref<4xf32, strided<[2]>>}>
  return
}

//===----------------------------------------------------------------------===//
// Kernels of others that answer wrongly
//===----------------------------------------------------------------------===//

// -----

func.func @no_shapes(%x: tensor<?xf32>) {
  // expected-error @below {{test_pol.broken has no shapes}}
  %0 = pol.outputs "test_pol.broken"(%x) {how = "shapes"} : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
  return
}

// -----

func.func @too_few_shapes(%x: tensor<?xf32>) {
  // expected-error @below {{expected test_pol.broken to give a shape for each of 1 buffers, but got 0}}
  %0 = pol.outputs "test_pol.broken"(%x) {how = "count"} : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
  return
}

// -----

func.func @too_few_extents(%x: tensor<?xf32>) {
  // expected-error @below {{expected test_pol.broken to give 1 extents for "y", but got 0}}
  %0 = pol.outputs "test_pol.broken"(%x) {how = "rank"} : (tensor<?xf32>) -> !pol.bundle<{y: !pol.undef<?xf32>}>
  return
}

// -----

func.func @no_kernel(%x: tensor<4xf32>, %arena: !pol.arena) -> tensor<4xf32> {
  // expected-error @below {{test_pol.broken builds nothing}}
  %0 = pol.apply "test_pol.broken"(%x) {how = "build"} in %arena : (tensor<4xf32>), !pol.arena -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @too_few_results(%x: tensor<4xf32>, %arena: !pol.arena) -> tensor<4xf32> {
  // expected-error @below {{'pol.call' op expected the results of "test_pol.broken" to be (), but got ('tensor<4xf32>')}}
  %0 = pol.apply "test_pol.broken"(%x) {how = "results"} in %arena : (tensor<4xf32>), !pol.arena -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//===----------------------------------------------------------------------===//
// Where bundles cannot go
//===----------------------------------------------------------------------===//

// -----

func.func @unregistered(%b: !pol.bundle<{}>) {
  // expected-error @below {{'test.op' op expected no bundles or descriptions here: they pass through functions, calls, scf, cf, arith.select, frames and captures only}}
  "test.op"(%b) : (!pol.bundle<{}>) -> ()
  return
}

// -----

func.func @result(%c: i1) {
  // expected-error @below {{'ub.poison' op expected no bundles or descriptions here}}
  %0 = ub.poison : !pol.undef<4xf32>
  return
}

// -----

func.func @block_argument() {
  // expected-error @below {{'test.op' op expected no bundles or descriptions here}}
  "test.op"() ({
  ^bb0(%b: !pol.undef<4xf32>):
    "test.end"() : () -> ()
  }) : () -> ()
  return
}

//===----------------------------------------------------------------------===//
// Where duplicated values cannot go
//===----------------------------------------------------------------------===//

// -----

func.func @duplicated_unregistered(%d: !pol.duplicated<tensor<4xf32>>) {
  // expected-error @below {{'test.op' op expected no duplicated values here: they pass through functions, calls, scf, cf, arith.select, frames and captures, and into kernels, only}}
  "test.op"(%d) : (!pol.duplicated<tensor<4xf32>>) -> ()
  return
}

// -----

func.func @duplicated_argument_of_kernel(%x: tensor<4xf32>) {
  // expected-error @below {{'test_pol.pullback' op expected no duplicated values here}}
  %0 = test_pol.pullback %x, %x : tensor<4xf32>, tensor<4xf32> outs(%x : tensor<4xf32>) {
  ^bb0(%d: !pol.duplicated<tensor<4xf32>>):
    test_pol.fold_yield
  } -> tensor<4xf32>
  return
}

// -----

func.func @description_as_primal(%x: tensor<4xf32>, %d: !pol.duplicated<!pol.undef<4xf32>>) {
  // expected-error @below {{'test_pol.pullback' op expected the primal of operand 0 to be a tensor or memref, but got '!pol.undef<4xf32>'}}
  %0 = test_pol.pullback %d, %x : !pol.duplicated<!pol.undef<4xf32>>, tensor<4xf32> outs(%x : tensor<4xf32>) {
  } -> tensor<4xf32>
  return
}

// -----

func.func @description_as_shadow(%x: tensor<4xf32>, %d: !pol.duplicated<tensor<4xf32>, !pol.undef<?xf32>>) {
  // expected-error @below {{'test_pol.pullback' op expected the shadow of operand 1 to be a tensor or memref, but got '!pol.undef<?xf32>'}}
  %0 = test_pol.pullback %d, %d : !pol.duplicated<tensor<4xf32>, !pol.undef<?xf32>>, !pol.duplicated<tensor<4xf32>, !pol.undef<?xf32>> outs(%x : tensor<4xf32>) {
  } -> tensor<4xf32>
  return
}
