/** A driver call that waits, made on a thread of Node's pool, so that the JavaScript thread is free. */
#pragma once
#include <functional>
#include "calls.h"

namespace cuda {

/**
 * Makes `work` in the context of the calling thread and returns a promise of its end; `kept` stays alive until then.
 *
 * Node waits for it before it ends the environment. The promise cannot be settled then, and nobody is left to wait for
 * it: the statuses of what tries to are passed over.
 */
Value startLater(const Info& info, const char* call, std::function<Result()> work, napi_value kept = nullptr);

}  // namespace cuda
