// RUN: pol-opt %s --pol-emit-entry-points --verify-diagnostics -o /dev/null

// expected-error@+1 {{expected a function that can fail to return a status last, as pol-thread-status leaves it}}
func.func @crashed() attributes {pol.fallible} {
  return
}
