#include "calls.h"

namespace cuda {

namespace {

constexpr Result INVALID_HANDLE = 400;
constexpr double SAFE_MAX = 9007199254740991;

bool isNumber(napi_env env, napi_value value, uint64_t* number) {
  double given = 0;
  if (napi_get_value_double(env, value, &given) != napi_ok) return false;
  if (!(given >= 0 && given <= SAFE_MAX)) return false;
  *number = static_cast<uint64_t>(given);
  return static_cast<double>(*number) == given;
}

bool isOf(napi_env env, napi_value value, napi_valuetype wanted) {
  napi_valuetype type;
  return napi_typeof(env, value, &type) == napi_ok && type == wanted;
}

bool isView(napi_env env, napi_value value) {
  bool typed = false, data = false;
  napi_is_typedarray(env, value, &typed);
  if (!typed) napi_is_dataview(env, value, &data);
  return typed || data;
}

bool isArrayBuffer(napi_env env, napi_value value) {
  bool is = false;
  napi_is_arraybuffer(env, value, &is);
  return is;
}

/** What an argument has to be, when it is something else; null when it is right. */
const char* mismatch(napi_env env, char takes, napi_value value, uint64_t* number) {
  switch (takes) {
    case 's': return isOf(env, value, napi_string) ? nullptr : "text";
    case 'b': return isOf(env, value, napi_boolean) ? nullptr : "a boolean";
    case 'v': return isView(env, value) ? nullptr : "a typed array or DataView";
    case 'a': return isArrayBuffer(env, value) ? nullptr : "an ArrayBuffer";
    default: return isNumber(env, value, number) ? nullptr : "a whole number from 0 to 2^53 - 1";
  }
}

/** What a handle has to be, when it is nothing of the kind; null when it is right. */
const char* strange(char takes, uint64_t handle) {
  switch (takes) {
    case 'S': return handle == 0 || isOwned(Kind::STREAM, handle) ? nullptr : "a stream";
    case 'E': return isOwned(Kind::EVENT, handle) ? nullptr : "an event";
    case 'M': return isOwned(Kind::MODULE, handle) ? nullptr : "a loaded module";
    case 'F': return isOwned(Kind::KERNEL, handle) ? nullptr : "a kernel of a loaded module";
    default: return nullptr;
  }
}

/** False with an exception pending when an argument is not what the call takes. */
bool accepts(const Info& info, const Call& call) {
  for (size_t index = 0; call.takes[index]; ++index) {
    char takes = call.takes[index];
    uint64_t number = 0;
    if (const char* wanted = mismatch(info.Env(), takes, info[index], &number)) {
      std::string text = std::string(call.name) + ": argument " + std::to_string(index) + " must be " + wanted;
      napi_throw_type_error(info.Env(), "ERR_INVALID_ARG_TYPE", text.c_str());
      return false;
    }
    if (const char* wanted = strange(takes, number)) {
      throwFailure(info.Env(), call.name, INVALID_HANDLE, std::string("this is not ") + wanted);
      return false;
    }
  }
  return true;
}

napi_value dispatch(napi_env env, napi_callback_info raw) {
  Info info(env, raw);
  const Call& call = *static_cast<const Call*>(info.Data());
  if (call.needsDriver && !isOpen()) {
    std::string text = std::string(call.name) + ": no driver is open";
    napi_throw_error(env, "ERR_INVALID_STATE", text.c_str());
    return nullptr;
  }
  return accepts(info, call) ? static_cast<napi_value>(call.make(info)) : nullptr;
}

void setText(napi_env env, napi_value object, const char* name, const std::string& text) {
  napi_value value;
  if (napi_create_string_utf8(env, text.data(), text.size(), &value) == napi_ok)
    napi_set_named_property(env, object, name, value);
}

}  // namespace

void addCalls(napi_env env, napi_value exports, const Call* calls, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    napi_value function;
    if (napi_create_function(env, calls[k].name, NAPI_AUTO_LENGTH, dispatch, const_cast<Call*>(calls + k), &function) ==
        napi_ok)
      napi_set_named_property(env, exports, calls[k].name, function);
  }
}

std::string detailOf(Result result) {
  if (table.ptxsimLastFault) {
    char fault[2048];
    if (table.ptxsimLastFault(fault, sizeof fault) > 0) return fault;
  }
  const char* text = nullptr;
  table.cuGetErrorString(result, &text);
  return text ? text : "";
}

napi_value failureOf(napi_env env, const char* call, Result result, const std::string& detail) {
  const char* name = nullptr;
  table.cuGetErrorName(result, &name);
  std::string text = std::string(call) + ": " + detail;
  napi_value message, error, status;
  if (napi_create_string_utf8(env, text.data(), text.size(), &message) != napi_ok) return nullptr;
  if (napi_create_error(env, nullptr, message, &error) != napi_ok) return nullptr;
  setText(env, error, "call", call);
  setText(env, error, "errorName", name ? name : "unknown error");
  setText(env, error, "detail", detail);
  if (napi_create_int32(env, result, &status) == napi_ok) napi_set_named_property(env, error, "status", status);
  return error;
}

void throwFailure(napi_env env, const char* call, Result result, const std::string& detail) {
  if (napi_value error = failureOf(env, call, result, detail)) napi_throw(env, error);
}

Value pairOf(napi_env env, double first, double second) {
  napi_value pair = nullptr;
  if (napi_create_array_with_length(env, 2, &pair) != napi_ok) return Napi::Env(env).Undefined();
  napi_set_element(env, pair, 0, numberOf(env, first));
  napi_set_element(env, pair, 1, numberOf(env, second));
  return Value(env, pair);
}

Bytes bytesAt(const Info& info, size_t index) {
  static const size_t ELEMENT_BYTES[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8};
  napi_env env = info.Env();
  napi_value value = info[index];
  void* data = nullptr;
  size_t length = 0;
  bool typed = false;
  napi_is_typedarray(env, value, &typed);
  if (typed) {
    napi_typedarray_type type;
    if (napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr) != napi_ok) return {};
    return {static_cast<uint8_t*>(data), length * ELEMENT_BYTES[type]};
  }
  if (napi_get_dataview_info(env, value, &length, &data, nullptr, nullptr) != napi_ok) return {};
  return {static_cast<uint8_t*>(data), length};
}

}  // namespace cuda
