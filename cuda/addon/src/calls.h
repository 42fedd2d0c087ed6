/**
 * What the files of calls share: a table of calls with what each takes, values from and to JavaScript, and failures
 * with what the driver says.
 *
 * A call is made only with arguments of the right kinds: anything else is a TypeError, or a failure for a handle that
 * is none. Errors are made by the C functions of Node-API and their statuses looked at, because a thread that is being
 * ended can make none, and the C++ wrapper ends the process then.
 */
#pragma once
#include <napi.h>
#include <string>
#include "driver_table.h"
#include "owned.h"

namespace cuda {

using Info = Napi::CallbackInfo;
using Value = Napi::Value;

/**
 * A function of the addon. `takes` has a letter for each argument: n a whole number from 0 to 2^53 - 1, s text, b a
 * boolean, v a typed array or DataView, a an ArrayBuffer, and handles: S a stream or 0, E an event, M a module, F a
 * kernel.
 */
struct Call {
  const char* name;
  const char* takes;
  Value (*make)(const Info&);
  bool needsDriver = true;
};

/** Makes the calls functions of `exports`. */
void addCalls(napi_env env, napi_value exports, const Call* calls, size_t count);
template <size_t N>
void addCalls(napi_env env, napi_value exports, const Call (&calls)[N]) {
  addCalls(env, exports, calls, N);
}

/** What the driver says of a failure. */
std::string detailOf(Result result);

/** An Error with the fields call, status, errorName and detail; null where no object can be made any more. */
napi_value failureOf(napi_env env, const char* call, Result result, const std::string& detail);
void throwFailure(napi_env env, const char* call, Result result, const std::string& detail);

/** True when a call succeeded; else the exception is pending. */
inline bool check(napi_env env, Result result, const char* call) {
  if (result == 0) return true;
  throwFailure(env, call, result, detailOf(result));
  return false;
}

/** Arguments that `takes` has named; handles and device addresses are numbers below 2^53. */
inline uint64_t numberAt(const Info& info, size_t index) {
  double value = 0;
  napi_get_value_double(info.Env(), info[index], &value);
  return static_cast<uint64_t>(value);
}
inline Handle handleAt(const Info& info, size_t index) { return reinterpret_cast<Handle>(numberAt(info, index)); }
inline std::string textAt(const Info& info, size_t index) { return info[index].As<Napi::String>().Utf8Value(); }
inline Value numberOf(Napi::Env env, double value) { return Napi::Number::New(env, value); }
inline uint64_t numberOf(Handle handle) { return reinterpret_cast<uintptr_t>(handle); }

/** The number of a handle that belongs to the calling environment from now on. */
inline Value ownedOf(Napi::Env env, Kind kind, uint64_t handle, uint64_t parent = 0) {
  own(env, kind, handle, parent);
  return numberOf(env, static_cast<double>(handle));
}

/**
 * Gives a handle back by `release`. It is forgotten before: another thread may be given the same number as soon as the
 * driver has it back. A driver that refuses leaves it with the environment.
 */
template <class F>
bool giveBack(napi_env env, Kind kind, uint64_t handle, const char* call, F release) {
  disown(kind, handle);
  Result result = release();
  if (result != 0) own(env, kind, handle);
  return check(env, result, call);
}

/** Two numbers as an array. */
Value pairOf(napi_env env, double first, double second);

/** Bytes behind a typed array or DataView, over an ArrayBuffer or a SharedArrayBuffer. */
struct Bytes {
  uint8_t* data = nullptr;
  size_t size = 0;
};
Bytes bytesAt(const Info& info, size_t index);

/** The context that `use` made current on the calling thread. */
extern thread_local Handle threadContext;

void addMemoryCalls(napi_env env, napi_value exports);
void addStreamCalls(napi_env env, napi_value exports);
void addSimulatorCalls(napi_env env, napi_value exports);

}  // namespace cuda
