/** Helpers of the exported calls: the lock, the order in which calls must come, and faults as statuses. */
#pragma once
#include "driver_state.hpp"

#define PTXSIM_API extern "C" __attribute__((visibility("default"))) int

namespace ptxsim {

/** A call that needs cuInit only. */
template <class F>
int call(F body) {
  Driver& d = driver();
  std::lock_guard<std::mutex> guard(d.lock);
  if (!d.initialized) return d.fail(NOT_INITIALIZED, "cuInit was not called");
  try {
    return body(d);
  } catch (const Fault& problem) {
    return d.fail(problem);
  }
}

/** A call that needs a context on the calling thread, and no fault before it. */
template <class F>
int contextCall(F body) {
  return call([&](Driver& d) -> Status {
    if (!currentContext) return d.fail(INVALID_CONTEXT, "this thread has no current context");
    if (d.sticky != SUCCESS) return d.sticky;
    return body(d);
  });
}

}  // namespace ptxsim
