/** What only the simulator has: controls, counters, the last fault. A real driver lacks these symbols. */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include "driver_api.hpp"

using namespace ptxsim;

/** Reads or writes one control; false for an unknown name. */
static bool control(Driver& d, const char* name, u64& value, bool write) {
  Controls& c = d.engine.controls;
  std::string key = name;
  auto number = [&](auto& field) {
    return write ? void(field = static_cast<std::decay_t<decltype(field)>>(value))
                 : void(value = static_cast<u64>(field)),
           true;
  };
  if (key == "seed") return number(c.seed);
  if (key == "residentBlocks") return number(c.residentBlocks);
  if (key == "quantum") return number(c.quantum);
  if (key == "counters") return number(c.counters);
  if (key == "checkRaces") return number(c.checkRaces);
  if (key == "checkUninitialized") return number(c.checkUninitialized);
  if (key == "splitLanes") return number(c.splitLanes);
  if (key == "warpInstructionsMax") return number(c.warpInstructionsMax);
  if (key == "computeCapability") return number(d.capability);
  if (key == "driverVersion") return number(d.mishaps.driverVersion);
  if (key == "deviceCount") return number(d.mishaps.deviceCount);
  if (key == "moduleLoadStatus") return number(d.mishaps.moduleLoadStatus);
  if (key == "launchesToFault") return number(d.mishaps.launchesToFault);
  if (key == "pinnedBytes") return number(d.mishaps.pinnedBytes);
  if (key == "memoryBytes") {
    if (write) d.engine.memory.setLimit(value);
    else value = d.engine.memory.limit();
    return true;
  }
  if (key == "lazyStreams") {
    if (write) d.drainAll();
    return number(d.lazyStreams);
  }
  if (key == "streamOrder") {
    if (write) d.drawn = value;
    return number(d.streamOrder);
  }
  return false;
}

Status ptxsim::controlsOfEnvironment(Driver& d) {
  const char* text = std::getenv("PTXSIM_CONTROLS");
  std::istringstream words(text ? text : "");
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    char* end = nullptr;
    u64 value = equals == std::string::npos ? 0 : std::strtoull(word.c_str() + equals + 1, &end, 10);
    if (!end || end == word.c_str() + equals + 1 || *end || !control(d, word.substr(0, equals).c_str(), value, true))
      return d.fail(INVALID_VALUE, "PTXSIM_CONTROLS: " + word + " is not a control and its number");
  }
  return SUCCESS;
}

PTXSIM_API ptxsimSet(const char* name, u64 value) {
  return call([&](Driver& d) {
    return control(d, name, value, true) ? SUCCESS : d.fail(INVALID_VALUE, std::string("there is no control ") + name);
  });
}

PTXSIM_API ptxsimGet(const char* name, u64* value) {
  return call([&](Driver& d) {
    return control(d, name, *value, false) ? SUCCESS
                                           : d.fail(INVALID_VALUE, std::string("there is no control ") + name);
  });
}

/** Copies up to `count` counters of a kernel in the order of struct Counters; returns how many there are, or -1. */
PTXSIM_API ptxsimCounters(Kernel* kernel, u64* out, int count) {
  Driver& d = driver();
  std::lock_guard<std::mutex> guard(d.lock);
  if (!d.kernels.count(kernel)) return -1;
  constexpr int all = sizeof(Counters) / sizeof(u64);
  std::memcpy(out, &kernel->counters, static_cast<size_t>(std::min(count, all)) * sizeof(u64));
  return all;
}

PTXSIM_API ptxsimResetCounters(Kernel* kernel) {
  return call(
      [&](Driver& d) { return d.kernels.count(kernel) ? (kernel->counters = Counters(), SUCCESS) : INVALID_HANDLE; });
}

/** Forgets a fault of a kernel and all work that waits. On a GPU only a new process does. */
PTXSIM_API ptxsimReset() {
  return call([](Driver& d) { return d.reset(), SUCCESS; });
}

/** Copies the sentence of the last failure; returns its length. */
PTXSIM_API ptxsimLastFault(char* out, int bytes) {
  Driver& d = driver();
  std::lock_guard<std::mutex> guard(d.lock);
  int length = std::min(bytes - 1, static_cast<int>(d.fault.size()));
  std::memcpy(out, d.fault.data(), static_cast<size_t>(length));
  out[length] = '\0';
  return length;
}
