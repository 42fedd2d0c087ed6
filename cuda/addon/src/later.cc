#include "later.h"
#include <memory>

namespace cuda {

namespace {

struct Later {
  const char* call = nullptr;
  std::function<Result()> work;
  Handle context = nullptr;
  napi_async_work job = nullptr;
  napi_deferred deferred = nullptr;
  napi_ref kept = nullptr;
  Result result = 0;
  std::string detail;
};

/** On a thread of the pool. What the driver says of a failure is asked here, before another call fails. */
void execute(napi_env, void* data) {
  Later& later = *static_cast<Later*>(data);
  later.result = table.cuCtxSetCurrent(later.context);
  if (later.result == 0) later.result = later.work();
  if (later.result != 0) later.detail = detailOf(later.result);
}

/** On the thread of the environment, which may be at its end. */
void complete(napi_env env, napi_status, void* data) {
  std::unique_ptr<Later> later(static_cast<Later*>(data));
  napi_value answer = nullptr;
  if (later->result == 0) {
    if (napi_get_undefined(env, &answer) == napi_ok) napi_resolve_deferred(env, later->deferred, answer);
  } else if ((answer = failureOf(env, later->call, later->result, later->detail))) {
    napi_reject_deferred(env, later->deferred, answer);
  }
  if (later->kept) napi_delete_reference(env, later->kept);
  napi_delete_async_work(env, later->job);
}

}  // namespace

Value startLater(const Info& info, const char* call, std::function<Result()> work, napi_value kept) {
  napi_env env = info.Env();
  auto later = std::make_unique<Later>();
  later->call = call;
  later->work = std::move(work);
  later->context = threadContext;
  napi_value promise, name;
  bool made = napi_create_string_utf8(env, call, NAPI_AUTO_LENGTH, &name) == napi_ok &&
              (!kept || napi_create_reference(env, kept, 1, &later->kept) == napi_ok) &&
              napi_create_async_work(env, nullptr, name, execute, complete, later.get(), &later->job) == napi_ok &&
              napi_create_promise(env, &later->deferred, &promise) == napi_ok &&
              napi_queue_async_work(env, later->job) == napi_ok;
  if (!made) {
    // The thread is being ended, or there is no memory: an exception says so where one can.
    if (later->job) napi_delete_async_work(env, later->job);
    if (later->kept) napi_delete_reference(env, later->kept);
    napi_throw_error(env, nullptr, "the call could not be put on a thread");
    return Napi::Env(env).Undefined();
  }
  later.release();
  return Value(env, promise);
}

}  // namespace cuda
