/** A driver call that waits, made on a thread of Node's pool, so that the JavaScript thread is free. */
#pragma once
#include <functional>
#include "calls.h"

namespace cuda {

class Later : public Napi::AsyncWorker {
 public:
  /** Makes `work` in the context of the calling thread; the promise settles with what it answers. `kept` stays alive. */
  static Value start(const Info& info, const char* call, std::function<Result()> work, Napi::Value kept = {}) {
    auto* later = new Later(info.Env(), call, std::move(work));
    if (!kept.IsEmpty()) later->kept_ = Napi::Persistent(kept.As<Napi::Object>());
    Napi::Promise promise = later->deferred_.Promise();
    later->Queue();
    return promise;
  }

 protected:
  void Execute() override {
    result_ = table.cuCtxSetCurrent(context_);
    if (result_ == 0) result_ = work_();
  }

  void OnOK() override {
    Napi::HandleScope scope(Env());
    if (result_ == 0) return deferred_.Resolve(Env().Undefined());
    throwFailure(Env(), call_, result_);
    deferred_.Reject(Env().GetAndClearPendingException().Value());
  }

 private:
  Later(Napi::Env env, const char* call, std::function<Result()> work)
      : Napi::AsyncWorker(env),
        call_(call),
        work_(std::move(work)),
        context_(threadContext),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  const char* call_;
  std::function<Result()> work_;
  Handle context_;
  Result result_ = 0;
  Napi::ObjectReference kept_;
  Napi::Promise::Deferred deferred_;
};

}  // namespace cuda
