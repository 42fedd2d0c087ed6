/** Streams, events and launches. */
#include <cstring>
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
  return ownedOf(info.Env(), Kind::STREAM, numberOf(stream));
}

Value streamDestroy(const Info& info) {
  giveBack(info.Env(), Kind::STREAM, numberAt(info, 0), "cuStreamDestroy",
           [&] { return table.cuStreamDestroy_v2(handleAt(info, 0)); });
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
  return startLater(info, "cuStreamSynchronize", [stream] { return table.cuStreamSynchronize(stream); });
}

/** eventFinished(event): a promise that what it marks is done. */
Value eventFinished(const Info& info) {
  Handle event = handleAt(info, 0);
  return startLater(info, "cuEventSynchronize", [event] { return table.cuEventSynchronize(event); });
}

Value eventCreate(const Info& info) {
  constexpr unsigned DISABLE_TIMING = 2;
  Handle event = nullptr;
  unsigned flags = info[0].As<Napi::Boolean>().Value() ? 0 : DISABLE_TIMING;
  if (!check(info.Env(), table.cuEventCreate(&event, flags), "cuEventCreate")) return info.Env().Undefined();
  return ownedOf(info.Env(), Kind::EVENT, numberOf(event));
}

Value eventDestroy(const Info& info) {
  giveBack(info.Env(), Kind::EVENT, numberAt(info, 0), "cuEventDestroy",
           [&] { return table.cuEventDestroy_v2(handleAt(info, 0)); });
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
  constexpr size_t BUFFER_POINTER = 1, BUFFER_BYTES = 2;
  Bytes config = bytesAt(info, 1), params = bytesAt(info, 3);
  uint32_t d[7];
  if (config.size != sizeof d) {
    napi_throw_type_error(info.Env(), "ERR_INVALID_ARG_VALUE", "launch: seven dimensions are needed");
    return info.Env().Undefined();
  }
  std::memcpy(d, config.data, sizeof d);
  void* extra[] = {reinterpret_cast<void*>(BUFFER_POINTER), params.data, reinterpret_cast<void*>(BUFFER_BYTES),
                   &params.size, nullptr};
  check(info.Env(),
        table.cuLaunchKernel(handleAt(info, 0), d[0], d[1], d[2], d[3], d[4], d[5], d[6], handleAt(info, 2), nullptr,
                             extra),
        "cuLaunchKernel");
  return info.Env().Undefined();
}

const Call CALLS[] = {
    {"streamCreate", "", streamCreate},
    {"streamDestroy", "S", streamDestroy},
    {"streamSynchronize", "S", streamSynchronize},
    {"streamFinished", "S", streamFinished},
    {"streamQuery", "S", streamQuery},
    {"streamWait", "SE", streamWait},
    {"contextSynchronize", "", contextSynchronize},
    {"eventCreate", "b", eventCreate},
    {"eventDestroy", "E", eventDestroy},
    {"eventRecord", "ES", eventRecord},
    {"eventQuery", "E", eventQuery},
    {"eventSynchronize", "E", eventSynchronize},
    {"eventFinished", "E", eventFinished},
    {"eventElapsed", "EE", eventElapsed},
    {"launch", "FvSv", launch},
};

}  // namespace

void addStreamCalls(napi_env env, napi_value exports) { addCalls(env, exports, CALLS); }

}  // namespace cuda
