/** The addon: opening the driver, devices, contexts, modules. No decision is taken here; src/runtime/cuda has those. */
#include "calls.h"

namespace cuda {

thread_local Handle threadContext = nullptr;

void throwFailure(Napi::Env env, const char* call, Result result, const std::string& detail) {
  const char* name = nullptr;
  const char* text = nullptr;
  table.cuGetErrorName(result, &name);
  table.cuGetErrorString(result, &text);
  std::string why = detail;
  if (why.empty() && table.ptxsimLastFault) {
    char fault[2048];
    table.ptxsimLastFault(fault, sizeof fault);
    why = fault;
  }
  if (why.empty() && text) why = text;
  Napi::Error error = Napi::Error::New(env, std::string(call) + ": " + why);
  error.Set("call", Napi::String::New(env, call));
  error.Set("status", Napi::Number::New(env, result));
  error.Set("errorName", Napi::String::New(env, name ? name : "unknown error"));
  error.Set("detail", Napi::String::New(env, why));
  error.ThrowAsJavaScriptException();
}

bool bytesAt(const Info& info, size_t index, Bytes& bytes) {
  static const size_t ELEMENT_BYTES[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8};
  napi_env env = info.Env();
  napi_value value = info[index];
  bool isView = false;
  void* data = nullptr;
  napi_value buffer;
  size_t offset = 0, length = 0;
  napi_is_typedarray(env, value, &isView);
  if (isView) {
    napi_typedarray_type type;
    if (napi_get_typedarray_info(env, value, &type, &length, &data, &buffer, &offset) == napi_ok) {
      bytes.data = static_cast<uint8_t*>(data);
      bytes.size = length * ELEMENT_BYTES[type];
      return true;
    }
  } else {
    napi_is_dataview(env, value, &isView);
    if (isView && napi_get_dataview_info(env, value, &length, &data, &buffer, &offset) == napi_ok) {
      bytes.data = static_cast<uint8_t*>(data);
      bytes.size = length;
      return true;
    }
  }
  Napi::TypeError::New(info.Env(), "a typed array or DataView is needed").ThrowAsJavaScriptException();
  return false;
}

namespace {

/** open(path): the driver's path, version and whether it is the simulator. Throws an Error with what was tried. */
Value open(const Info& info) {
  Napi::Env env = info.Env();
  std::string reason = openDriver(textAt(info, 0));
  if (!reason.empty()) {
    Napi::Error::New(env, reason).ThrowAsJavaScriptException();
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
  if (result == 0) return handleOf(env, module);
  throwFailure(env, "cuModuleLoadDataEx", result, log);
  return env.Undefined();
}

Value moduleUnload(const Info& info) {
  check(info.Env(), table.cuModuleUnload(handleAt(info, 0)), "cuModuleUnload");
  return info.Env().Undefined();
}

Value moduleFunction(const Info& info) {
  Handle function = nullptr;
  if (!check(info.Env(), table.cuModuleGetFunction(&function, handleAt(info, 0), textAt(info, 1).c_str()),
             "cuModuleGetFunction"))
    return info.Env().Undefined();
  return handleOf(info.Env(), function);
}

/** moduleGlobal(module, name): [address, bytes] of a variable. */
Value moduleGlobal(const Info& info) {
  Napi::Env env = info.Env();
  Address address = 0;
  size_t bytes = 0;
  if (!check(env, table.cuModuleGetGlobal_v2(&address, &bytes, handleAt(info, 0), textAt(info, 1).c_str()),
             "cuModuleGetGlobal"))
    return env.Undefined();
  Napi::Array pair = Napi::Array::New(env, 2);
  pair.Set(0u, numberOf(env, static_cast<double>(address)));
  pair.Set(1u, numberOf(env, static_cast<double>(bytes)));
  return pair;
}

Value functionAttribute(const Info& info) {
  int value = 0;
  if (!check(info.Env(), table.cuFuncGetAttribute(&value, static_cast<int>(numberAt(info, 1)), handleAt(info, 0)),
             "cuFuncGetAttribute"))
    return info.Env().Undefined();
  return numberOf(info.Env(), value);
}

}  // namespace

static Napi::Object start(Napi::Env env, Napi::Object exports) {
  exports.Set("open", Napi::Function::New(env, open));
  exports.Set("deviceCount", Napi::Function::New(env, deviceCount));
  exports.Set("device", Napi::Function::New(env, device));
  exports.Set("use", Napi::Function::New(env, use));
  exports.Set("moduleLoad", Napi::Function::New(env, moduleLoad));
  exports.Set("moduleUnload", Napi::Function::New(env, moduleUnload));
  exports.Set("moduleFunction", Napi::Function::New(env, moduleFunction));
  exports.Set("moduleGlobal", Napi::Function::New(env, moduleGlobal));
  exports.Set("functionAttribute", Napi::Function::New(env, functionAttribute));
  addMemoryCalls(env, exports);
  addStreamCalls(env, exports);
  addSimulatorCalls(env, exports);
  return exports;
}

}  // namespace cuda

using cuda::start;
NODE_API_MODULE(cuda_driver, start)
