// RUN: pol-test-opt %s --test-pol-attention-variants --split-input-file | FileCheck %s

// Named masks: batch, head, query, key, captures.

// CHECK-LABEL: func.func private @full(
// CHECK:         %[[TRUE:.*]] = arith.constant true
// CHECK:         return %[[TRUE]]
func.func private @full(index, index, index, index) -> i1 attributes {test.mask = ["full"]}

// CHECK-LABEL: func.func private @causal(
// CHECK-SAME:    index, %{{.*}}: index, %[[Q:.*]]: index, %[[K:.*]]: index)
// CHECK-NEXT:    %[[KEPT:.*]] = arith.cmpi sle, %[[K]], %[[Q]]
// CHECK-NEXT:    return %[[KEPT]]
func.func private @causal(index, index, index, index) -> i1 attributes {test.mask = ["causal"]}

// CHECK-LABEL: func.func private @window(
// CHECK-SAME:    index, %{{.*}}: index, %[[Q:.*]]: index, %[[K:.*]]: index)
// CHECK-NEXT:    %[[DISTANCE:.*]] = arith.subi %[[Q]], %[[K]]
// CHECK-NEXT:    %[[C3:.*]] = arith.constant 3
// CHECK-NEXT:    %[[NEAR:.*]] = arith.cmpi sle, %[[DISTANCE]], %[[C3]]
// CHECK-NEXT:    %[[CAUSAL:.*]] = arith.cmpi sle, %[[K]], %[[Q]]
// CHECK-NEXT:    arith.andi %[[NEAR]], %[[CAUSAL]]
func.func private @window(index, index, index, index) -> i1 attributes {test.mask = ["window", 3]}

// CHECK-LABEL: func.func private @prefix_lm(
// CHECK-SAME:    index, %{{.*}}: index, %[[Q:.*]]: index, %[[K:.*]]: index)
// CHECK-NEXT:    %[[C4:.*]] = arith.constant 4
// CHECK-NEXT:    %[[PREFIX:.*]] = arith.cmpi slt, %[[K]], %[[C4]]
// CHECK-NEXT:    %[[CAUSAL:.*]] = arith.cmpi sle, %[[K]], %[[Q]]
// CHECK-NEXT:    arith.ori %[[PREFIX]], %[[CAUSAL]]
func.func private @prefix_lm(index, index, index, index) -> i1 attributes {test.mask = ["prefix_lm", 4]}

// CHECK-LABEL: func.func private @prefix_of(
// CHECK-SAME:    %[[B:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[K:.*]]: index, %[[LENGTHS:.*]]: tensor<?xi32>)
// CHECK-NEXT:    %[[LENGTH:.*]] = tensor.extract %[[LENGTHS]][%[[B]]]
// CHECK-NEXT:    %[[INDEX:.*]] = arith.index_cast %[[LENGTH]]
// CHECK-NEXT:    arith.cmpi slt, %[[K]], %[[INDEX]]
func.func private @prefix_of(index, index, index, index, tensor<?xi32>) -> i1
    attributes {test.mask = ["prefix_of", 0]}

// CHECK-LABEL: func.func private @not_document(
// CHECK-SAME:    %[[B:.*]]: index, %{{.*}}: index, %[[Q:.*]]: index, %[[K:.*]]: index, %[[QS:.*]]: memref<?x?xi64>, %[[KS:.*]]: memref<?xi64>)
// CHECK-NEXT:    %[[QUERY:.*]] = memref.load %[[QS]][%[[B]], %[[Q]]]
// CHECK-NEXT:    %[[KEY:.*]] = memref.load %[[KS]][%[[K]]]
// CHECK-NEXT:    %[[SAME:.*]] = arith.cmpi eq, %[[QUERY]], %[[KEY]]
// CHECK-NEXT:    %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT:    arith.xori %[[SAME]], %[[TRUE]]
func.func private @not_document(index, index, index, index, memref<?x?xi64>, memref<?xi64>) -> i1
    attributes {test.mask = ["not", ["document", 0, 1]]}

// CHECK-LABEL: func.func private @both(
// CHECK:         %[[A:.*]] = arith.cmpi sle
// CHECK:         %[[PREFIX:.*]] = arith.cmpi slt
// CHECK:         %[[CAUSAL:.*]] = arith.cmpi sle
// CHECK:         %[[B:.*]] = arith.ori %[[PREFIX]], %[[CAUSAL]]
// CHECK:         arith.andi %[[A]], %[[B]]
func.func private @both(index, index, index, index, i64) -> i1
    attributes {test.mask = ["and", ["causal"], ["prefix_lm_of", 0]]}

// Named scores: the score, batch, head, query, key, captures.

// CHECK-LABEL: func.func private @plain(
// CHECK-SAME:    %[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index)
// CHECK-NEXT:    return %[[S]]
func.func private @plain(f32, index, index, index, index) -> f32 attributes {test.score = ["plain"]}

// CHECK-LABEL: func.func private @softcap_alibi(
// CHECK-SAME:    %[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %[[Q:.*]]: index, %[[K:.*]]: index, %[[SLOPES:.*]]: tensor<8xbf16>)
// CHECK-NEXT:    %[[CAP:.*]] = arith.constant 3.000000e+01
// CHECK-NEXT:    %[[PART:.*]] = arith.divf %[[S]], %[[CAP]]
// CHECK-NEXT:    %[[TANH:.*]] = math.tanh %[[PART]]
// CHECK-NEXT:    %[[CAPPED:.*]] = arith.mulf %[[TANH]], %[[CAP]]
// CHECK-NEXT:    %[[SLOPE:.*]] = tensor.extract %[[SLOPES]][%[[H]]]
// CHECK-NEXT:    %[[WIDE:.*]] = arith.extf %[[SLOPE]]
// CHECK-NEXT:    %[[DISTANCE:.*]] = arith.subi %[[K]], %[[Q]]
// CHECK-NEXT:    %[[INTEGER:.*]] = arith.index_cast %[[DISTANCE]]
// CHECK-NEXT:    %[[FLOAT:.*]] = arith.sitofp %[[INTEGER]]
// CHECK-NEXT:    %[[BIAS:.*]] = arith.mulf %[[WIDE]], %[[FLOAT]]
// CHECK-NEXT:    arith.addf %[[CAPPED]], %[[BIAS]]
func.func private @softcap_alibi(f32, index, index, index, index, tensor<8xbf16>) -> f32
    attributes {test.score = ["compose", ["softcap", 30.0], ["alibi", 0]]}

// CHECK-LABEL: func.func private @bias(
// CHECK-SAME:    %[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %[[Q:.*]]: index, %[[K:.*]]: index, %[[ALL:.*]]: memref<?x?x?xf64>)
// CHECK-NEXT:    %[[WIDE:.*]] = memref.load %[[ALL]][%[[H]], %[[Q]], %[[K]]]
// CHECK-NEXT:    %[[BIAS:.*]] = arith.truncf %[[WIDE]]
// CHECK-NEXT:    arith.addf %[[S]], %[[BIAS]]
func.func private @bias(f32, index, index, index, index, memref<?x?x?xf64>) -> f32
    attributes {test.score = ["bias", 0]}

// CHECK-LABEL: func.func private @relative(
// CHECK-SAME:    %[[S:.*]]: f32, %{{.*}}: index, %[[H:.*]]: index, %[[Q:.*]]: index, %[[K:.*]]: index, %[[TABLE:.*]]: memref<?x5xf32>)
// CHECK-NEXT:    %[[DISTANCE:.*]] = arith.subi %[[K]], %[[Q]]
// CHECK-NEXT:    %[[LEAST:.*]] = arith.constant -2
// CHECK-NEXT:    %[[LOW:.*]] = arith.maxsi %[[DISTANCE]], %[[LEAST]]
// CHECK-NEXT:    %[[MOST:.*]] = arith.constant 2
// CHECK-NEXT:    %[[CLAMPED:.*]] = arith.minsi %[[LOW]], %[[MOST]]
// CHECK-NEXT:    %[[REACH:.*]] = arith.constant 2
// CHECK-NEXT:    %[[ENTRY:.*]] = arith.addi %[[CLAMPED]], %[[REACH]]
// CHECK-NEXT:    %[[BIAS:.*]] = memref.load %[[TABLE]][%[[H]], %[[ENTRY]]]
// CHECK-NEXT:    arith.addf %[[S]], %[[BIAS]]
func.func private @relative(f32, index, index, index, index, memref<?x5xf32>) -> f32
    attributes {test.score = ["relative", 0, 2]}

// CHECK-LABEL: func.func private @rbf(
// CHECK-SAME:    %[[S:.*]]: f32, %[[B:.*]]: index, %{{.*}}: index, %[[Q:.*]]: index, %[[K:.*]]: index, %[[X:.*]]: tensor<?x?x2xf32>, %[[GAMMA:.*]]: f32)
// CHECK:         tensor.extract %[[X]][%[[B]], %[[Q]], %{{.*}}]
// CHECK:         tensor.extract %[[X]][%[[B]], %[[K]], %{{.*}}]
// CHECK:         %[[SQUARE0:.*]] = arith.mulf
// CHECK:         %[[SQUARE1:.*]] = arith.mulf
// CHECK:         %[[SUM:.*]] = arith.addf %[[SQUARE0]], %[[SQUARE1]]
// CHECK:         %[[PENALTY:.*]] = arith.mulf %[[GAMMA]], %[[SUM]]
// CHECK:         arith.subf %[[S]], %[[PENALTY]]
func.func private @rbf(f32, index, index, index, index, tensor<?x?x2xf32>, f32) -> f32
    attributes {test.score = ["rbf", 0, 0, 1]}
