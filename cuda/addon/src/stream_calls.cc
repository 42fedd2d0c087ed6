/** Streams, events and launches. */
#include "later.h"

namespace cuda {

namespace {

constexpr Result NOT_READY = 600;

/** True for done, false for not yet; undefined with an exception pending for a failure. */
Value readiness(Napi::Env env, Result result, const char* call) {
  if (result == NOT_READY) return Napi::Boolean::New(env, false);
  if (!check(env, result, call)) return env.Undefined();
  return Napi::Boolean::New(env, true);
}

/** Streams do not wait for the default stream, nor it for them. */
Value streamCreate(const Info& info) {
  constexpr unsigned NON_BLOCKING = 1;
  Handle stream = nullptr;
  if (!check(info.Env(), table.cuStreamCreate(&stream, NON_BLOCKING), "cuStreamCreate")) return info.Env().Undefined();
  return handleOf(info.Env(), stream);
}

Value streamDestroy(const Info& info) {
  check(info.Env(), table.cuStreamDestroy_v2(handleAt(info, 0)), "cuStreamDestroy");
  return info.Env().Undefined();
}

Value streamSynchronize(const Info& info) {
  check(info.Env(), table.cuStreamSynchronize(handleAt(info, 0)), "cuStreamSynchronize");
  return info.Env().Undefined();
}

Value streamQuery(const Info& info) {
  return readiness(info.Env(), table.cuStreamQuery(handleAt(info, 0)), "cuStreamQuery");
}

Value streamWait(const Info& info) {
  check(info.Env(), table.cuStreamWaitEvent(handleAt(info, 0), handleAt(info, 1), 0), "cuStreamWaitEvent");
  return info.Env().Undefined();
}

Value contextSynchronize(const Info& info) {
  check(info.Env(), table.cuCtxSynchronize(), "cuCtxSynchronize");
  return info.Env().Undefined();
}

/** streamFinished(stream): a promise of its end. */
Value streamFinished(const Info& info) {
  Handle stream = handleAt(info, 0);
  return Later::start(info, "cuStreamSynchronize", [stream] { return table.cuStreamSynchronize(stream); });
}

/** eventFinished(event): a promise that what it marks is done. */
Value eventFinished(const Info& info) {
  Handle event = handleAt(info, 0);
  return Later::start(info, "cuEventSynchronize", [event] { return table.cuEventSynchronize(event); });
}

Value eventCreate(const Info& info) {
  constexpr unsigned DISABLE_TIMING = 2;
  Handle event = nullptr;
  unsigned flags = info[0].ToBoolean() ? 0 : DISABLE_TIMING;
  if (!check(info.Env(), table.cuEventCreate(&event, flags), "cuEventCreate")) return info.Env().Undefined();
  return handleOf(info.Env(), event);
}

Value eventDestroy(const Info& info) {
  check(info.Env(), table.cuEventDestroy_v2(handleAt(info, 0)), "cuEventDestroy");
  return info.Env().Undefined();
}

Value eventRecord(const Info& info) {
  check(info.Env(), table.cuEventRecord(handleAt(info, 0), handleAt(info, 1)), "cuEventRecord");
  return info.Env().Undefined();
}

Value eventQuery(const Info& info) {
  return readiness(info.Env(), table.cuEventQuery(handleAt(info, 0)), "cuEventQuery");
}

Value eventSynchronize(const Info& info) {
  check(info.Env(), table.cuEventSynchronize(handleAt(info, 0)), "cuEventSynchronize");
  return info.Env().Undefined();
}

Value eventElapsed(const Info& info) {
  float milliseconds = 0;
  if (!check(info.Env(), table.cuEventElapsedTime(&milliseconds, handleAt(info, 0), handleAt(info, 1)),
             "cuEventElapsedTime"))
    return info.Env().Undefined();
  return numberOf(info.Env(), milliseconds);
}

/** launch(function, Uint32Array of grid x y z, block x y z, shared bytes; stream; packed arguments) */
Value launch(const Info& info) {
  constexpr size_t BUFFER_POINTER = 1, BUFFER_BYTES = 2, DIMENSIONS = 7;
  Bytes config, params;
  if (!bytesAt(info, 1, config) || !bytesAt(info, 3, params)) return info.Env().Undefined();
  if (config.size != DIMENSIONS * sizeof(uint32_t)) {
    Napi::TypeError::New(info.Env(), "seven dimensions are needed").ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  const uint32_t* d = reinterpret_cast<const uint32_t*>(config.data);
  void* extra[] = {reinterpret_cast<void*>(BUFFER_POINTER), params.data, reinterpret_cast<void*>(BUFFER_BYTES),
                   &params.size, nullptr};
  check(info.Env(),
        table.cuLaunchKernel(handleAt(info, 0), d[0], d[1], d[2], d[3], d[4], d[5], d[6], handleAt(info, 2), nullptr,
                             extra),
        "cuLaunchKernel");
  return info.Env().Undefined();
}

}  // namespace

void addStreamCalls(Napi::Env env, Napi::Object exports) {
  exports.Set("streamCreate", Napi::Function::New(env, streamCreate));
  exports.Set("streamDestroy", Napi::Function::New(env, streamDestroy));
  exports.Set("streamSynchronize", Napi::Function::New(env, streamSynchronize));
  exports.Set("streamFinished", Napi::Function::New(env, streamFinished));
  exports.Set("streamQuery", Napi::Function::New(env, streamQuery));
  exports.Set("streamWait", Napi::Function::New(env, streamWait));
  exports.Set("contextSynchronize", Napi::Function::New(env, contextSynchronize));
  exports.Set("eventCreate", Napi::Function::New(env, eventCreate));
  exports.Set("eventDestroy", Napi::Function::New(env, eventDestroy));
  exports.Set("eventRecord", Napi::Function::New(env, eventRecord));
  exports.Set("eventQuery", Napi::Function::New(env, eventQuery));
  exports.Set("eventSynchronize", Napi::Function::New(env, eventSynchronize));
  exports.Set("eventFinished", Napi::Function::New(env, eventFinished));
  exports.Set("eventElapsed", Napi::Function::New(env, eventElapsed));
  exports.Set("launch", Napi::Function::New(env, launch));
}

}  // namespace cuda
