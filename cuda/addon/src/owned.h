/**
 * What the driver has given out, and to which environment: the main thread of Node or a worker.
 *
 * Handles are numbers in JavaScript, and a driver that is given a wrong one may end the process: only those that are
 * known here get to it. When an environment ends, for whatever reason, what it has not given back is given back.
 */
#pragma once
#include <node_api.h>
#include <cstddef>
#include <cstdint>

namespace cuda {

/** In the order in which they are given back. */
enum class Kind : uint8_t { STREAM, REGISTERED, EVENT, MEMORY, KERNEL, MODULE };

/** Notes what an environment was given. Of a kernel `parent` is its module. */
void own(napi_env env, Kind kind, uint64_t handle, uint64_t parent = 0);
bool isOwned(Kind kind, uint64_t handle);
/** Forgets what was given back, and the kernels of a module with it. */
void disown(Kind kind, uint64_t handle);

/** From now on what `env` has is given back when it ends. */
void giveBackAtEnd(napi_env env);

}  // namespace cuda
