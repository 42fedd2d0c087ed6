/** The CUDA driver calls the addon uses: devices, contexts, modules, memory and copies. See also driver_streams.cpp. */
#include "driver_api.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ptxsim;

static bool cpuSuffices() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

PTXSIM_API cuInit(unsigned) {
  Driver& d = driver();
  std::lock_guard<std::mutex> guard(d.lock);
  if (!cpuSuffices())
    return d.fail(NO_DEVICE, "the simulator was built for CPUs with AVX2 and FMA, and this one has not both");
  if (!d.initialized)
    if (Status status = controlsOfEnvironment(d)) return status;
  d.initialized = true;
  return d.mishaps.deviceCount == 0 ? d.fail(NO_DEVICE, errorText(NO_DEVICE)) : SUCCESS;
}

PTXSIM_API cuDriverGetVersion(int* version) {
  return call([&](Driver& d) { return *version = static_cast<int>(d.mishaps.driverVersion), SUCCESS; });
}

PTXSIM_API cuDeviceGetCount(int* count) {
  return call([&](Driver& d) { return *count = static_cast<int>(d.mishaps.deviceCount), SUCCESS; });
}

PTXSIM_API cuDeviceGet(int* device, int ordinal) {
  return call([&](Driver&) { return ordinal == 0 ? (*device = 0, SUCCESS) : INVALID_DEVICE; });
}

PTXSIM_API cuDeviceGetName(char* name, int bytes, int) {
  return call(
      [&](Driver&) { return std::snprintf(name, static_cast<size_t>(bytes), "PTX simulator (not a GPU)"), SUCCESS; });
}

PTXSIM_API cuDeviceTotalMem_v2(size_t* bytes, int) {
  return call([&](Driver& d) { return *bytes = d.engine.memory.limit(), SUCCESS; });
}

PTXSIM_API cuDeviceGetAttribute(int* value, int attribute, int) {
  return call([&](Driver& d) {
    switch (attribute) {
      case 1:
      case 2:
      case 3: *value = 1024; break;        // threads of a block, and by x and y
      case 4: *value = 64; break;          // by z
      case 5: *value = 0x7fffffff; break;  // grid by x
      case 6:
      case 7: *value = 65535; break;  // by y and z
      case 8: *value = static_cast<int>(SHARED_BYTES_MAX); break;
      case 10: *value = static_cast<int>(LANES); break;
      case 16: *value = 1; break;  // multiprocessors
      case 75: *value = static_cast<int>(d.capability / 10); break;
      case 76: *value = static_cast<int>(d.capability % 10); break;
      default: *value = 0;
    }
    return SUCCESS;
  });
}

PTXSIM_API cuDevicePrimaryCtxRetain(Context** context, int device) {
  return call([&](Driver& d) {
    return device != 0 ? INVALID_DEVICE : (++d.context.references, *context = &d.context, SUCCESS);
  });
}

PTXSIM_API cuDevicePrimaryCtxRelease_v2(int) {
  return call([&](Driver& d) { return d.context.references ? (--d.context.references, SUCCESS) : INVALID_CONTEXT; });
}

PTXSIM_API cuCtxSetCurrent(Context* context) {
  return call([&](Driver&) { return currentContext = context, SUCCESS; });
}

PTXSIM_API cuCtxSynchronize() {
  return contextCall([](Driver& d) { return d.drainAll(); });
}

PTXSIM_API cuModuleLoadDataEx(Module** out, const void* image, unsigned count, int* options, void** values) {
  constexpr int ERROR_LOG = 5, ERROR_LOG_BYTES = 6;
  return contextCall([&](Driver& d) -> Status {
    try {
      if (int status = static_cast<int>(d.mishaps.moduleLoadStatus))
        throw Fault(static_cast<Status>(status), errorText(status));
      std::unique_ptr<Module> module =
          loadModule(static_cast<const char*>(image), d.engine.memory, {d.capability, d.mishaps.ptxVersionMax()});
      *out = module.get();
      for (auto& [name, kernel] : module->kernels) d.kernels[kernel.get()] = module.get();
      d.modules[module.get()] = std::move(module);
      return SUCCESS;
    } catch (const Fault& problem) {
      char* log = nullptr;
      size_t bytes = 0;
      for (unsigned k = 0; k < count; ++k) {
        if (options[k] == ERROR_LOG) log = static_cast<char*>(values[k]);
        if (options[k] == ERROR_LOG_BYTES) bytes = reinterpret_cast<size_t>(values[k]);
      }
      if (log && bytes) std::snprintf(log, bytes, "%s", problem.what());
      return d.fail(problem);
    }
  });
}

PTXSIM_API cuModuleUnload(Module* module) {
  return contextCall([&](Driver& d) -> Status {
    auto found = d.modules.find(module);
    if (found == d.modules.end()) return d.fail(INVALID_HANDLE, "this is not a loaded module");
    if (Status status = d.drainAll()) return status;
    for (auto& [name, kernel] : module->kernels) d.kernels.erase(kernel.get());
    unloadModule(*module, d.engine.memory);
    d.modules.erase(found);
    return SUCCESS;
  });
}

PTXSIM_API cuModuleGetFunction(Kernel** out, Module* module, const char* name) {
  return contextCall([&](Driver& d) -> Status {
    if (!d.modules.count(module)) return d.fail(INVALID_HANDLE, "this is not a loaded module");
    auto found = module->kernels.find(name);
    if (found == module->kernels.end()) return d.fail(NOT_FOUND, std::string("the module has no kernel ") + name);
    return *out = found->second.get(), SUCCESS;
  });
}

PTXSIM_API cuModuleGetGlobal_v2(u64* address, size_t* bytes, Module* module, const char* name) {
  return contextCall([&](Driver& d) -> Status {
    if (!d.modules.count(module)) return d.fail(INVALID_HANDLE, "this is not a loaded module");
    auto found = module->globals.find(name);
    if (found == module->globals.end()) return d.fail(NOT_FOUND, std::string("the module has no variable ") + name);
    if (address) *address = found->second.address;
    if (bytes) *bytes = found->second.bytes;
    return SUCCESS;
  });
}

PTXSIM_API cuFuncGetAttribute(int* value, int attribute, Kernel* kernel) {
  return contextCall([&](Driver& d) -> Status {
    if (!d.kernels.count(kernel)) return d.fail(INVALID_HANDLE, "this is not a kernel of a loaded module");
    switch (attribute) {
      case 0: *value = static_cast<int>(kernel->maxThreads); break;
      case 1: *value = static_cast<int>(kernel->staticShared); break;
      case 3: *value = static_cast<int>(kernel->localBytes); break;
      default: *value = 0;  // registers and the like: the simulator has none to tell of
    }
    return SUCCESS;
  });
}

PTXSIM_API cuMemAlloc_v2(u64* address, size_t bytes) {
  return contextCall([&](Driver& d) { return *address = d.engine.memory.allocate(bytes), SUCCESS; });
}

PTXSIM_API cuMemFree_v2(u64 address) {
  return contextCall([&](Driver& d) -> Status {
    if (address == 0) return SUCCESS;
    if (Status status = d.drainAll()) return status;
    d.engine.memory.release(address);
    return SUCCESS;
  });
}

PTXSIM_API cuMemGetInfo_v2(size_t* free, size_t* total) {
  return contextCall([&](Driver& d) {
    *total = d.engine.memory.limit();
    *free = *total - std::min<u64>(*total, d.engine.memory.used());
    return SUCCESS;
  });
}

/** Notes a range of host memory as pinned; ranges must not overlap. */
static Status pin(Driver& d, u8* start, size_t bytes) {
  auto next = d.pinned.lower_bound(start + bytes);
  if (next != d.pinned.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second > start)
      return d.fail(HOST_MEMORY_ALREADY_REGISTERED, "part of this memory is pinned already");
  }
  d.pinned[start] = bytes;
  d.pinnedBytes += bytes;
  return SUCCESS;
}

/** Forgets a pinned range; false when there is none that starts there. */
static bool unpin(Driver& d, void* start) {
  auto found = d.pinned.find(static_cast<u8*>(start));
  if (found == d.pinned.end()) return false;
  d.pinnedBytes -= found->second;
  d.pinned.erase(found);
  return true;
}

PTXSIM_API cuMemHostAlloc(void** out, size_t bytes, unsigned) {
  return contextCall([&](Driver& d) -> Status {
    if (bytes == 0) return d.fail(INVALID_VALUE, "an allocation of 0 bytes");
    if (d.pinnedBytes + bytes > d.mishaps.pinnedBytes) {
      return d.fail(OUT_OF_MEMORY, std::to_string(bytes) + " bytes were asked for, " + std::to_string(d.pinnedBytes) +
                                       " of " + std::to_string(d.mishaps.pinnedBytes) + " are pinned");
    }
    *out = std::aligned_alloc(4096, alignUp(bytes, 4096));
    return *out ? pin(d, static_cast<u8*>(*out), bytes) : OUT_OF_MEMORY;
  });
}

PTXSIM_API cuMemFreeHost(void* start) {
  return contextCall([&](Driver& d) -> Status {
    if (!unpin(d, start)) return d.fail(INVALID_VALUE, "this is not pinned memory of the driver");
    d.drainAll();
    std::free(start);
    return SUCCESS;
  });
}

PTXSIM_API cuMemHostRegister_v2(void* start, size_t bytes, unsigned) {
  return contextCall([&](Driver& d) { return pin(d, static_cast<u8*>(start), bytes); });
}

PTXSIM_API cuMemHostUnregister(void* start) {
  return contextCall([&](Driver& d) -> Status {
    if (!unpin(d, start)) return d.fail(HOST_MEMORY_NOT_REGISTERED, "this memory was not registered");
    return d.drainAll();
  });
}

PTXSIM_API cuGetErrorName(int status, const char** name) { return *name = errorName(status), SUCCESS; }
PTXSIM_API cuGetErrorString(int status, const char** text) { return *text = errorText(status), SUCCESS; }
