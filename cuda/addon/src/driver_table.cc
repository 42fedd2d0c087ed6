#include "driver_table.h"
#include <dlfcn.h>
#include <atomic>
#include <map>
#include <mutex>
#include <vector>

namespace cuda {

DriverTable table = {};

namespace {

std::mutex lock;
std::atomic<bool> opened{false};
std::map<int, Handle> contexts;

/** Fills one entry; false when the library has no such symbol. */
template <class F>
bool load(void* library, const char* name, F& entry) {
  entry = reinterpret_cast<F>(dlsym(library, name));
  return entry != nullptr;
}

/** Fills the table. Returns the name of the first symbol that is missing, or null. */
const char* fill(void* library, DriverTable& t) {
#define CUDA_LOAD(NAME) \
  if (!load(library, #NAME, t.NAME)) return #NAME;
  CUDA_LOAD(cuInit)
  CUDA_LOAD(cuDriverGetVersion)
  CUDA_LOAD(cuDeviceGetCount)
  CUDA_LOAD(cuDeviceGet)
  CUDA_LOAD(cuDeviceGetName)
  CUDA_LOAD(cuDeviceTotalMem_v2)
  CUDA_LOAD(cuDeviceGetAttribute)
  CUDA_LOAD(cuDevicePrimaryCtxRetain)
  CUDA_LOAD(cuCtxSetCurrent)
  CUDA_LOAD(cuCtxSynchronize)
  CUDA_LOAD(cuModuleLoadDataEx)
  CUDA_LOAD(cuModuleUnload)
  CUDA_LOAD(cuModuleGetFunction)
  CUDA_LOAD(cuModuleGetGlobal_v2)
  CUDA_LOAD(cuFuncGetAttribute)
  CUDA_LOAD(cuMemAlloc_v2)
  CUDA_LOAD(cuMemFree_v2)
  CUDA_LOAD(cuMemGetInfo_v2)
  CUDA_LOAD(cuMemHostAlloc)
  CUDA_LOAD(cuMemFreeHost)
  CUDA_LOAD(cuMemHostRegister_v2)
  CUDA_LOAD(cuMemHostUnregister)
  CUDA_LOAD(cuMemcpyHtoD_v2)
  CUDA_LOAD(cuMemcpyDtoH_v2)
  CUDA_LOAD(cuMemcpyHtoDAsync_v2)
  CUDA_LOAD(cuMemcpyDtoHAsync_v2)
  CUDA_LOAD(cuMemcpyDtoDAsync_v2)
  CUDA_LOAD(cuMemsetD8Async)
  CUDA_LOAD(cuMemsetD32Async)
  CUDA_LOAD(cuStreamCreate)
  CUDA_LOAD(cuStreamDestroy_v2)
  CUDA_LOAD(cuStreamSynchronize)
  CUDA_LOAD(cuStreamQuery)
  CUDA_LOAD(cuStreamWaitEvent)
  CUDA_LOAD(cuEventCreate)
  CUDA_LOAD(cuEventDestroy_v2)
  CUDA_LOAD(cuEventRecord)
  CUDA_LOAD(cuEventQuery)
  CUDA_LOAD(cuEventSynchronize)
  CUDA_LOAD(cuEventElapsedTime)
  CUDA_LOAD(cuLaunchKernel)
  CUDA_LOAD(cuGetErrorName)
  CUDA_LOAD(cuGetErrorString)
#undef CUDA_LOAD
  load(library, "ptxsimSet", t.ptxsimSet);
  load(library, "ptxsimGet", t.ptxsimGet);
  load(library, "ptxsimCounters", t.ptxsimCounters);
  load(library, "ptxsimResetCounters", t.ptxsimResetCounters);
  load(library, "ptxsimReset", t.ptxsimReset);
  load(library, "ptxsimLastFault", t.ptxsimLastFault);
  return nullptr;
}

}  // namespace

bool isOpen() { return opened; }

std::string openDriver(const std::string& path) {
  std::lock_guard<std::mutex> guard(lock);
  if (opened)
    return path.empty() || path == table.path ? "" : "this process has opened the driver " + table.path + " already";
  std::vector<std::string> names = {path};
  if (path.empty()) names = {"libcuda.so.1", "libcuda.so"};
  std::string reasons;
  for (const std::string& name : names) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
      continue;
    }
    DriverTable found = {};
    if (const char* missing = fill(library, found)) {
      dlclose(library);
      reasons +=
          (reasons.empty() ? "" : "; ") + name + " has no " + missing + ": it is not a CUDA driver, or an old one";
      continue;
    }
    found.path = name;
    table = found;
    opened = true;
    return "";
  }
  return reasons;
}

Result primaryContext(int device, Handle* context) {
  std::lock_guard<std::mutex> guard(lock);
  auto known = contexts.find(device);
  if (known != contexts.end()) return *context = known->second, 0;
  int handle = 0;
  if (Result result = table.cuDeviceGet(&handle, device)) return result;
  if (Result result = table.cuDevicePrimaryCtxRetain(context, handle)) return result;
  contexts[device] = *context;
  return 0;
}

}  // namespace cuda
