/**
 * The CUDA driver as a table of functions, opened at run time: no CUDA header, no link-time dependency.
 *
 * One driver per process, shared by all threads. The types of the driver API are written out here as far as they are
 * used: handles are pointers, device addresses 64-bit integers.
 */
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace cuda {

using Result = int;
using Handle = void*;
using Address = unsigned long long;

struct DriverTable {
  std::string path;

  Result (*cuInit)(unsigned);
  Result (*cuDriverGetVersion)(int*);
  Result (*cuDeviceGetCount)(int*);
  Result (*cuDeviceGet)(int*, int);
  Result (*cuDeviceGetName)(char*, int, int);
  Result (*cuDeviceTotalMem_v2)(size_t*, int);
  Result (*cuDeviceGetAttribute)(int*, int, int);
  Result (*cuDevicePrimaryCtxRetain)(Handle*, int);
  Result (*cuCtxSetCurrent)(Handle);
  Result (*cuCtxSynchronize)();
  Result (*cuModuleLoadDataEx)(Handle*, const void*, unsigned, int*, void**);
  Result (*cuModuleUnload)(Handle);
  Result (*cuModuleGetFunction)(Handle*, Handle, const char*);
  Result (*cuModuleGetGlobal_v2)(Address*, size_t*, Handle, const char*);
  Result (*cuFuncGetAttribute)(int*, int, Handle);
  Result (*cuMemAlloc_v2)(Address*, size_t);
  Result (*cuMemFree_v2)(Address);
  Result (*cuMemGetInfo_v2)(size_t*, size_t*);
  Result (*cuMemHostAlloc)(void**, size_t, unsigned);
  Result (*cuMemFreeHost)(void*);
  Result (*cuMemHostRegister_v2)(void*, size_t, unsigned);
  Result (*cuMemHostUnregister)(void*);
  Result (*cuMemcpyHtoD_v2)(Address, const void*, size_t);
  Result (*cuMemcpyDtoH_v2)(void*, Address, size_t);
  Result (*cuMemcpyHtoDAsync_v2)(Address, const void*, size_t, Handle);
  Result (*cuMemcpyDtoHAsync_v2)(void*, Address, size_t, Handle);
  Result (*cuMemcpyDtoDAsync_v2)(Address, Address, size_t, Handle);
  Result (*cuMemsetD8Async)(Address, unsigned char, size_t, Handle);
  Result (*cuMemsetD32Async)(Address, unsigned, size_t, Handle);
  Result (*cuStreamCreate)(Handle*, unsigned);
  Result (*cuStreamDestroy_v2)(Handle);
  Result (*cuStreamSynchronize)(Handle);
  Result (*cuStreamQuery)(Handle);
  Result (*cuStreamWaitEvent)(Handle, Handle, unsigned);
  Result (*cuEventCreate)(Handle*, unsigned);
  Result (*cuEventDestroy_v2)(Handle);
  Result (*cuEventRecord)(Handle, Handle);
  Result (*cuEventQuery)(Handle);
  Result (*cuEventSynchronize)(Handle);
  Result (*cuEventElapsedTime)(float*, Handle, Handle);
  Result (*cuLaunchKernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                           void**);
  Result (*cuGetErrorName)(Result, const char**);
  Result (*cuGetErrorString)(Result, const char**);

  // Of the simulated driver only; null on a real one.
  Result (*ptxsimSet)(const char*, uint64_t);
  Result (*ptxsimGet)(const char*, uint64_t*);
  int (*ptxsimCounters)(Handle, uint64_t*, int);
  Result (*ptxsimResetCounters)(Handle);
  Result (*ptxsimReset)();
  int (*ptxsimLastFault)(char*, int);

  bool simulated() const { return ptxsimSet != nullptr; }
};

/** The driver of this process; valid once openDriver has succeeded. */
extern DriverTable table;

/** Whether a driver is open. */
bool isOpen();

/** Opens `path`, or the usual names when it is empty. Returns what is wrong, or an empty string. */
std::string openDriver(const std::string& path);

/** The primary context of a device, retained once for the process. */
Result primaryContext(int device, Handle* context);

}  // namespace cuda
