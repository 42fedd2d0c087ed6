/** Device memory, pinned host memory and copies. */
#include <map>
#include <mutex>
#include "later.h"

namespace cuda {

namespace {

constexpr unsigned PORTABLE = 1;
constexpr Result INVALID_VALUE = 1;

Value alloc(const Info& info) {
  Address address = 0;
  if (!check(info.Env(), table.cuMemAlloc_v2(&address, numberAt(info, 0)), "cuMemAlloc")) return info.Env().Undefined();
  return ownedOf(info.Env(), Kind::MEMORY, address);
}

Value release(const Info& info) {
  Address address = numberAt(info, 0);
  // Another number is for the driver to refuse, and nobody's afterwards either.
  if (isOwned(Kind::MEMORY, address))
    giveBack(info.Env(), Kind::MEMORY, address, "cuMemFree", [&] { return table.cuMemFree_v2(address); });
  else check(info.Env(), table.cuMemFree_v2(address), "cuMemFree");
  return info.Env().Undefined();
}

/** memoryInfo(): [free, total] bytes. */
Value memoryInfo(const Info& info) {
  size_t free = 0, total = 0;
  if (!check(info.Env(), table.cuMemGetInfo_v2(&free, &total), "cuMemGetInfo")) return info.Env().Undefined();
  return pairOf(info.Env(), static_cast<double>(free), static_cast<double>(total));
}

/** Pinned memory of an ArrayBuffer, as long as the buffer has it. */
struct Pinned {
  bool freed = false;
};
std::mutex pinnedLock;
std::map<void*, Pinned*> pinned;

/** Forgets pinned memory; null when there is none at this address. */
Pinned* takePinned(void* memory) {
  std::lock_guard<std::mutex> guard(pinnedLock);
  auto found = pinned.find(memory);
  if (found == pinned.end()) return nullptr;
  Pinned* taken = found->second;
  pinned.erase(found);
  return taken;
}

/** The buffer was collected, its environment has ended, or hostFree was first; the driver waits for copies under way.
 */
void collected(napi_env, void* memory, void* data) {
  Pinned* state = static_cast<Pinned*>(data);
  if (!state->freed) {
    takePinned(memory);
    if (threadContext && table.cuCtxSetCurrent(threadContext) == 0) table.cuMemFreeHost(memory);
  }
  delete state;
}

/** hostAlloc(bytes): pinned memory as an ArrayBuffer. It lives until hostFree, or as long as the buffer. */
Value hostAlloc(const Info& info) {
  napi_env env = info.Env();
  void* memory = nullptr;
  size_t bytes = numberAt(info, 0);
  if (!check(env, table.cuMemHostAlloc(&memory, bytes, PORTABLE), "cuMemHostAlloc")) return info.Env().Undefined();
  Pinned* state = new Pinned;
  {
    std::lock_guard<std::mutex> guard(pinnedLock);
    pinned[memory] = state;
  }
  napi_value buffer = nullptr;
  if (napi_create_external_arraybuffer(env, memory, bytes, collected, state, &buffer) == napi_ok)
    return Value(env, buffer);
  delete takePinned(memory);
  table.cuMemFreeHost(memory);
  napi_throw_error(env, nullptr, "hostAlloc: this engine makes no ArrayBuffer of such memory");
  return info.Env().Undefined();
}

/** hostFree(buffer): detaches the ArrayBuffer, then frees the memory behind it. */
Value hostFree(const Info& info) {
  napi_env env = info.Env();
  void* memory = nullptr;
  size_t bytes = 0;
  napi_get_arraybuffer_info(env, info[0], &memory, &bytes);
  // A buffer that is detached was freed before.
  if (!memory) return info.Env().Undefined();
  Pinned* state = takePinned(memory);
  if (!state) {
    throwFailure(env, "hostFree", INVALID_VALUE, "this is not pinned memory of the driver");
    return info.Env().Undefined();
  }
  state->freed = true;
  napi_detach_arraybuffer(env, info[0]);
  check(env, table.cuMemFreeHost(memory), "cuMemFreeHost");
  return info.Env().Undefined();
}

/** Views of registered memory, which must not be collected. */
std::mutex registeredLock;
std::map<void*, std::pair<napi_env, napi_ref>> registered;

Value hostRegister(const Info& info) {
  napi_env env = info.Env();
  Bytes bytes = bytesAt(info, 0);
  std::lock_guard<std::mutex> guard(registeredLock);
  if (!check(env, table.cuMemHostRegister_v2(bytes.data, bytes.size, PORTABLE), "cuMemHostRegister"))
    return info.Env().Undefined();
  own(env, Kind::REGISTERED, numberOf(bytes.data));
  napi_ref view = nullptr;
  if (napi_create_reference(env, info[0], 1, &view) != napi_ok) return info.Env().Undefined();
  registered[bytes.data] = {env, view};
  return info.Env().Undefined();
}

Value hostUnregister(const Info& info) {
  napi_env env = info.Env();
  Bytes bytes = bytesAt(info, 0);
  uint64_t start = numberOf(bytes.data);
  auto unregister = [&] { return table.cuMemHostUnregister(bytes.data); };
  std::lock_guard<std::mutex> guard(registeredLock);
  if (!isOwned(Kind::REGISTERED, start)) {
    check(env, unregister(), "cuMemHostUnregister");
    return info.Env().Undefined();
  }
  auto found = registered.find(bytes.data);
  if (!giveBack(env, Kind::REGISTERED, start, "cuMemHostUnregister", unregister) || found == registered.end())
    return info.Env().Undefined();
  // A reference of another thread goes with that thread.
  if (found->second.first == env) napi_delete_reference(env, found->second.second);
  registered.erase(found);
  return info.Env().Undefined();
}

/**
 * copyToDevice(to, from). From pageable memory cuMemcpyHtoD returns when the bytes have been read, not when they have
 * landed, and no other stream waits for the default stream: so this does.
 */
Value copyToDevice(const Info& info) {
  Bytes bytes = bytesAt(info, 1);
  if (check(info.Env(), table.cuMemcpyHtoD_v2(numberAt(info, 0), bytes.data, bytes.size), "cuMemcpyHtoD"))
    check(info.Env(), table.cuStreamSynchronize(nullptr), "cuStreamSynchronize");
  return info.Env().Undefined();
}

Value copyToDeviceAsync(const Info& info) {
  Bytes bytes = bytesAt(info, 1);
  check(info.Env(), table.cuMemcpyHtoDAsync_v2(numberAt(info, 0), bytes.data, bytes.size, handleAt(info, 2)),
        "cuMemcpyHtoDAsync");
  return info.Env().Undefined();
}

Value copyToHost(const Info& info) {
  Bytes bytes = bytesAt(info, 0);
  check(info.Env(), table.cuMemcpyDtoH_v2(bytes.data, numberAt(info, 1), bytes.size), "cuMemcpyDtoH");
  return info.Env().Undefined();
}

Value copyToHostAsync(const Info& info) {
  Bytes bytes = bytesAt(info, 0);
  check(info.Env(), table.cuMemcpyDtoHAsync_v2(bytes.data, numberAt(info, 1), bytes.size, handleAt(info, 2)),
        "cuMemcpyDtoHAsync");
  return info.Env().Undefined();
}

/** copyToHostLater(to, from): a promise of a copy that is made when all streams are done. */
Value copyToHostLater(const Info& info) {
  Bytes bytes = bytesAt(info, 0);
  Address from = numberAt(info, 1);
  return startLater(
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

const Call CALLS[] = {
    {"alloc", "n", alloc},
    {"free", "n", release},
    {"memoryInfo", "", memoryInfo},
    {"hostAlloc", "n", hostAlloc},
    {"hostFree", "a", hostFree},
    {"hostRegister", "v", hostRegister},
    {"hostUnregister", "v", hostUnregister},
    {"copyToDevice", "nv", copyToDevice},
    {"copyToDeviceAsync", "nvS", copyToDeviceAsync},
    {"copyToHost", "vn", copyToHost},
    {"copyToHostAsync", "vnS", copyToHostAsync},
    {"copyToHostLater", "vn", copyToHostLater},
    {"copyOnDevice", "nnnS", copyOnDevice},
    {"fillBytes", "nnnS", fillBytes},
    {"fillWords", "nnnS", fillWords},
};

}  // namespace

void addMemoryCalls(napi_env env, napi_value exports) { addCalls(env, exports, CALLS); }

}  // namespace cuda
