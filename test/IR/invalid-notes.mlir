// RUN: pol-opt %s --split-input-file --verify-diagnostics

// Errors that point at another place too.

func.func private @k()
// expected-note @below {{another one is here}}
pol.description for @k() {
  pol.describe
}
// expected-error @below {{'pol.description' op expected one description of @k}}
pol.description for @k() {
  pol.describe
}

// -----

func.func private @k(memref<f32>)
// expected-error @below {{'pol.description' op expected a body without memory effects}}
pol.description for @k(%m: memref<f32>) {
  // expected-note @below {{'memref.load' may have some}}
  %v = memref.load %m[] : memref<f32>
  pol.describe
}

// -----

func.func private @k(tensor<f32>)
// expected-error @below {{'pol.description' op expected a body that looks only at shapes}}
pol.description for @k(%x: tensor<f32>) {
  // expected-note @below {{'tensor.extract' may read elements}}
  %v = tensor.extract %x[] : tensor<f32>
  pol.describe
}

// -----

func.func @nested() {
  // expected-note @below {{the outer one is here}}
  pol.capture {
    // expected-error @below {{'pol.capture' op expected no capture inside a capture}}
    pol.capture {
    }
  }
  return
}
