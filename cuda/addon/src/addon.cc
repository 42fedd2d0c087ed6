/** The addon: opening the driver, devices, contexts, modules. Decisions are taken in src/runtime/backends/cuda. */
#include "calls.h"

namespace cuda {

thread_local Handle threadContext = nullptr;

namespace {

/** open(path): the driver's path, version and whether it is the simulator. Throws an Error with what was tried. */
Value open(const Info& info) {
  Napi::Env env = info.Env();
  std::string reason = openDriver(textAt(info, 0));
  if (!reason.empty()) {
    napi_throw_error(env, nullptr, reason.c_str());
    return env.Undefined();
  }
  if (!check(env, table.cuInit(0), "cuInit")) return env.Undefined();
  int version = 0;
  if (!check(env, table.cuDriverGetVersion(&version), "cuDriverGetVersion")) return env.Undefined();
  Napi::Object opened = Napi::Object::New(env);
  opened.Set("path", table.path);
  opened.Set("version", version);
  opened.Set("simulated", table.simulated());
  return opened;
}

Value deviceCount(const Info& info) {
  int count = 0;
  if (!check(info.Env(), table.cuDeviceGetCount(&count), "cuDeviceGetCount")) return info.Env().Undefined();
  return numberOf(info.Env(), count);
}

/** device(index): what a device says of itself. */
Value device(const Info& info) {
  constexpr int MULTIPROCESSORS = 16, MAJOR = 75, MINOR = 76, THREADS_PER_BLOCK = 1, SHARED_PER_BLOCK = 8;
  Napi::Env env = info.Env();
  int handle = 0;
  char name[256] = {0};
  size_t bytes = 0;
  if (!check(env, table.cuDeviceGet(&handle, static_cast<int>(numberAt(info, 0))), "cuDeviceGet"))
    return env.Undefined();
  if (!check(env, table.cuDeviceGetName(name, sizeof name, handle), "cuDeviceGetName")) return env.Undefined();
  if (!check(env, table.cuDeviceTotalMem_v2(&bytes, handle), "cuDeviceTotalMem")) return env.Undefined();
  auto attribute = [&](int which) {
    int value = 0;
    table.cuDeviceGetAttribute(&value, which, handle);
    return value;
  };
  Napi::Object found = Napi::Object::New(env);
  found.Set("name", name);
  found.Set("memoryBytes", static_cast<double>(bytes));
  found.Set("computeCapability", attribute(MAJOR) * 10 + attribute(MINOR));
  found.Set("multiprocessors", attribute(MULTIPROCESSORS));
  found.Set("threadsPerBlockMax", attribute(THREADS_PER_BLOCK));
  found.Set("sharedBytesPerBlockMax", attribute(SHARED_PER_BLOCK));
  return found;
}

/** use(index): makes the primary context of a device current on the calling thread. */
Value use(const Info& info) {
  Napi::Env env = info.Env();
  Handle context = nullptr;
  if (!check(env, primaryContext(static_cast<int>(numberAt(info, 0)), &context), "cuDevicePrimaryCtxRetain"))
    return env.Undefined();
  if (check(env, table.cuCtxSetCurrent(context), "cuCtxSetCurrent")) threadContext = context;
  return env.Undefined();
}

Value moduleLoad(const Info& info) {
  constexpr int ERROR_LOG = 5, ERROR_LOG_BYTES = 6;
  Napi::Env env = info.Env();
  std::string ptx = textAt(info, 0);
  char log[8192] = {0};
  int options[] = {ERROR_LOG, ERROR_LOG_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  Handle module = nullptr;
  Result result = table.cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values);
  if (result == 0) return ownedOf(env, Kind::MODULE, numberOf(module));
  throwFailure(env, "cuModuleLoadDataEx", result, log[0] ? log : detailOf(result));
  return env.Undefined();
}

Value moduleUnload(const Info& info) {
  giveBack(info.Env(), Kind::MODULE, numberAt(info, 0), "cuModuleUnload",
           [&] { return table.cuModuleUnload(handleAt(info, 0)); });
  return info.Env().Undefined();
}

Value moduleFunction(const Info& info) {
  Handle function = nullptr;
  if (!check(info.Env(), table.cuModuleGetFunction(&function, handleAt(info, 0), textAt(info, 1).c_str()),
             "cuModuleGetFunction"))
    return info.Env().Undefined();
  return ownedOf(info.Env(), Kind::KERNEL, numberOf(function), numberAt(info, 0));
}

/** moduleGlobal(module, name): [address, bytes] of a variable. */
Value moduleGlobal(const Info& info) {
  Napi::Env env = info.Env();
  Address address = 0;
  size_t bytes = 0;
  if (!check(env, table.cuModuleGetGlobal_v2(&address, &bytes, handleAt(info, 0), textAt(info, 1).c_str()),
             "cuModuleGetGlobal"))
    return env.Undefined();
  return pairOf(env, static_cast<double>(address), static_cast<double>(bytes));
}

Value functionAttribute(const Info& info) {
  int value = 0;
  if (!check(info.Env(), table.cuFuncGetAttribute(&value, static_cast<int>(numberAt(info, 1)), handleAt(info, 0)),
             "cuFuncGetAttribute"))
    return info.Env().Undefined();
  return numberOf(info.Env(), value);
}

const Call CALLS[] = {
    {"open", "s", open, false},
    {"deviceCount", "", deviceCount},
    {"device", "n", device},
    {"use", "n", use},
    {"moduleLoad", "s", moduleLoad},
    {"moduleUnload", "M", moduleUnload},
    {"moduleFunction", "Ms", moduleFunction},
    {"moduleGlobal", "Ms", moduleGlobal},
    {"functionAttribute", "Fn", functionAttribute},
};

}  // namespace

static napi_value start(napi_env env, napi_value exports) {
  addCalls(env, exports, CALLS);
  addMemoryCalls(env, exports);
  addStreamCalls(env, exports);
  addSimulatorCalls(env, exports);
  giveBackAtEnd(env);
  return exports;
}

}  // namespace cuda

NAPI_MODULE_INIT() { return cuda::start(env, exports); }
