/** Device memory, pinned host memory and copies. */
#include "later.h"

namespace cuda {

namespace {

Value alloc(const Info& info) {
  Address address = 0;
  if (!check(info.Env(), table.cuMemAlloc_v2(&address, numberAt(info, 0)), "cuMemAlloc")) return info.Env().Undefined();
  return numberOf(info.Env(), static_cast<double>(address));
}

Value release(const Info& info) {
  check(info.Env(), table.cuMemFree_v2(numberAt(info, 0)), "cuMemFree");
  return info.Env().Undefined();
}

/** memoryInfo(): [free, total] bytes. */
Value memoryInfo(const Info& info) {
  Napi::Env env = info.Env();
  size_t free = 0, total = 0;
  if (!check(env, table.cuMemGetInfo_v2(&free, &total), "cuMemGetInfo")) return env.Undefined();
  Napi::Array pair = Napi::Array::New(env, 2);
  pair.Set(0u, numberOf(env, static_cast<double>(free)));
  pair.Set(1u, numberOf(env, static_cast<double>(total)));
  return pair;
}

/** hostAlloc(bytes): pinned memory as an ArrayBuffer. It lives until hostFree: the collector does not own it. */
Value hostAlloc(const Info& info) {
  constexpr unsigned PORTABLE = 1;
  Napi::Env env = info.Env();
  void* memory = nullptr;
  size_t bytes = numberAt(info, 0);
  if (!check(env, table.cuMemHostAlloc(&memory, bytes, PORTABLE), "cuMemHostAlloc")) return env.Undefined();
  return Napi::ArrayBuffer::New(env, memory, bytes);
}

/** hostFree(buffer): detaches the ArrayBuffer, then frees the memory behind it. */
Value hostFree(const Info& info) {
  Napi::ArrayBuffer buffer = info[0].As<Napi::ArrayBuffer>();
  void* memory = buffer.Data();
  buffer.Detach();
  if (memory) check(info.Env(), table.cuMemFreeHost(memory), "cuMemFreeHost");
  return info.Env().Undefined();
}

Value hostRegister(const Info& info) {
  constexpr unsigned PORTABLE = 1;
  Bytes bytes;
  if (bytesAt(info, 0, bytes))
    check(info.Env(), table.cuMemHostRegister_v2(bytes.data, bytes.size, PORTABLE), "cuMemHostRegister");
  return info.Env().Undefined();
}

Value hostUnregister(const Info& info) {
  Bytes bytes;
  if (bytesAt(info, 0, bytes)) check(info.Env(), table.cuMemHostUnregister(bytes.data), "cuMemHostUnregister");
  return info.Env().Undefined();
}

/**
 * copyToDevice(to, from). From pageable memory cuMemcpyHtoD returns when the bytes have been read, not when they have
 * landed, and no other stream waits for the default stream: so this does.
 */
Value copyToDevice(const Info& info) {
  Bytes bytes;
  if (bytesAt(info, 1, bytes) &&
      check(info.Env(), table.cuMemcpyHtoD_v2(numberAt(info, 0), bytes.data, bytes.size), "cuMemcpyHtoD"))
    check(info.Env(), table.cuStreamSynchronize(nullptr), "cuStreamSynchronize");
  return info.Env().Undefined();
}

Value copyToDeviceAsync(const Info& info) {
  Bytes bytes;
  if (bytesAt(info, 1, bytes))
    check(info.Env(), table.cuMemcpyHtoDAsync_v2(numberAt(info, 0), bytes.data, bytes.size, handleAt(info, 2)),
          "cuMemcpyHtoDAsync");
  return info.Env().Undefined();
}

Value copyToHost(const Info& info) {
  Bytes bytes;
  if (bytesAt(info, 0, bytes))
    check(info.Env(), table.cuMemcpyDtoH_v2(bytes.data, numberAt(info, 1), bytes.size), "cuMemcpyDtoH");
  return info.Env().Undefined();
}

Value copyToHostAsync(const Info& info) {
  Bytes bytes;
  if (bytesAt(info, 0, bytes))
    check(info.Env(), table.cuMemcpyDtoHAsync_v2(bytes.data, numberAt(info, 1), bytes.size, handleAt(info, 2)),
          "cuMemcpyDtoHAsync");
  return info.Env().Undefined();
}

/** copyToHostLater(to, from): a promise of a copy that is made when all streams are done. */
Value copyToHostLater(const Info& info) {
  Bytes bytes;
  if (!bytesAt(info, 0, bytes)) return info.Env().Undefined();
  Address from = numberAt(info, 1);
  return Later::start(
      info, "cuMemcpyDtoH",
      [bytes, from] {
        Result result = table.cuCtxSynchronize();
        return result == 0 ? table.cuMemcpyDtoH_v2(bytes.data, from, bytes.size) : result;
      },
      info[0]);
}

/** copyOnDevice(to, from, bytes, stream) */
Value copyOnDevice(const Info& info) {
  check(info.Env(),
        table.cuMemcpyDtoDAsync_v2(numberAt(info, 0), numberAt(info, 1), numberAt(info, 2), handleAt(info, 3)),
        "cuMemcpyDtoDAsync");
  return info.Env().Undefined();
}

/** fillBytes(address, value, count, stream) */
Value fillBytes(const Info& info) {
  check(info.Env(),
        table.cuMemsetD8Async(numberAt(info, 0), static_cast<unsigned char>(numberAt(info, 1)), numberAt(info, 2),
                              handleAt(info, 3)),
        "cuMemsetD8Async");
  return info.Env().Undefined();
}

/** fillWords(address, value, count, stream) */
Value fillWords(const Info& info) {
  check(info.Env(),
        table.cuMemsetD32Async(numberAt(info, 0), static_cast<unsigned>(numberAt(info, 1)), numberAt(info, 2),
                               handleAt(info, 3)),
        "cuMemsetD32Async");
  return info.Env().Undefined();
}

}  // namespace

void addMemoryCalls(Napi::Env env, Napi::Object exports) {
  exports.Set("alloc", Napi::Function::New(env, alloc));
  exports.Set("free", Napi::Function::New(env, release));
  exports.Set("memoryInfo", Napi::Function::New(env, memoryInfo));
  exports.Set("hostAlloc", Napi::Function::New(env, hostAlloc));
  exports.Set("hostFree", Napi::Function::New(env, hostFree));
  exports.Set("hostRegister", Napi::Function::New(env, hostRegister));
  exports.Set("hostUnregister", Napi::Function::New(env, hostUnregister));
  exports.Set("copyToDevice", Napi::Function::New(env, copyToDevice));
  exports.Set("copyToDeviceAsync", Napi::Function::New(env, copyToDeviceAsync));
  exports.Set("copyToHost", Napi::Function::New(env, copyToHost));
  exports.Set("copyToHostAsync", Napi::Function::New(env, copyToHostAsync));
  exports.Set("copyToHostLater", Napi::Function::New(env, copyToHostLater));
  exports.Set("copyOnDevice", Napi::Function::New(env, copyOnDevice));
  exports.Set("fillBytes", Napi::Function::New(env, fillBytes));
  exports.Set("fillWords", Napi::Function::New(env, fillWords));
}

}  // namespace cuda
