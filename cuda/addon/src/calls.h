/** What the files of calls share: values from and to JavaScript, and failures with what the driver says. */
#pragma once
#include <napi.h>
#include <string>
#include "driver_table.h"

namespace cuda {

using Info = Napi::CallbackInfo;
using Value = Napi::Value;

/** Throws an Error with the fields call, status, errorName and detail. */
void throwFailure(Napi::Env env, const char* call, Result result, const std::string& detail = "");

/** True when a call succeeded; else the exception is pending. */
inline bool check(Napi::Env env, Result result, const char* call) {
  if (result == 0) return true;
  throwFailure(env, call, result);
  return false;
}

/** Handles and device addresses are numbers below 2^53. */
inline uint64_t numberAt(const Info& info, size_t index) {
  return static_cast<uint64_t>(info[index].As<Napi::Number>().DoubleValue());
}
inline Handle handleAt(const Info& info, size_t index) { return reinterpret_cast<Handle>(numberAt(info, index)); }
inline std::string textAt(const Info& info, size_t index) { return info[index].As<Napi::String>().Utf8Value(); }
inline Value numberOf(Napi::Env env, double value) { return Napi::Number::New(env, value); }
inline Value handleOf(Napi::Env env, Handle handle) {
  return numberOf(env, static_cast<double>(reinterpret_cast<uintptr_t>(handle)));
}

/** Bytes behind a typed array or DataView, over an ArrayBuffer or a SharedArrayBuffer. */
struct Bytes {
  uint8_t* data = nullptr;
  size_t size = 0;
};
/** False with an exception pending when the argument is no view. */
bool bytesAt(const Info& info, size_t index, Bytes& bytes);

/** The context that `use` made current on the calling thread. */
extern thread_local Handle threadContext;

void addMemoryCalls(Napi::Env env, Napi::Object exports);
void addStreamCalls(Napi::Env env, Napi::Object exports);
void addSimulatorCalls(Napi::Env env, Napi::Object exports);

}  // namespace cuda
