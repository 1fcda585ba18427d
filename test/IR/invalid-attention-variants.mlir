// RUN: pol-test-opt %s --test-pol-attention-variants --split-input-file --verify-diagnostics

// expected-error @+1 {{expected capture 1 for ids, but got 1 captures}}
func.func private @no_capture(index, index, index, index, tensor<?xi32>) -> i1
    attributes {test.mask = ["document", 0, 1]}

// -----

// expected-error @+1 {{expected capture 0 for ids to be of integers, of rank 1 to 2, but got 'tensor<?xf32>'}}
func.func private @floats(index, index, index, index, tensor<?xf32>) -> i1
    attributes {test.mask = ["or", ["document", 0, 0], ["causal"]]}

// -----

// expected-error @+1 {{expected ids of queries and keys to be of one type, but got 'i32' and 'i64'}}
func.func private @two_types(index, index, index, index, tensor<?xi32>, tensor<?xi64>) -> i1
    attributes {test.mask = ["document", 0, 1]}

// -----

// expected-error @+1 {{expected capture 0 for slopes to be of floats, of rank 1, but got 'f32'}}
func.func private @number(f32, index, index, index, index, f32) -> f32
    attributes {test.score = ["compose", ["alibi", 0], ["softcap", 2.0]]}

// -----

// expected-error @+1 {{expected points of one static size up to 64, but got 'tensor<?x?xf32>' and 'tensor<?x?xf32>'}}
func.func private @dynamic_points(f32, index, index, index, index, tensor<?x?xf32>, f32) -> f32
    attributes {test.score = ["rbf", 0, 0, 1]}
