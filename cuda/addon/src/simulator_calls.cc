/** Controls and counters of the simulated driver. On a real driver these calls fail; backends/cuda does not offer
 * them. */
#include "calls.h"

namespace cuda {

namespace {

/** False with an exception pending on a real driver. */
bool needSimulator(const Info& info) {
  if (table.simulated()) return true;
  napi_throw_error(info.Env(), nullptr, "the driver is not the simulator");
  return false;
}

Value simulatorSet(const Info& info) {
  if (needSimulator(info)) check(info.Env(), table.ptxsimSet(textAt(info, 0).c_str(), numberAt(info, 1)), "ptxsimSet");
  return info.Env().Undefined();
}

Value simulatorGet(const Info& info) {
  uint64_t value = 0;
  if (!needSimulator(info) || !check(info.Env(), table.ptxsimGet(textAt(info, 0).c_str(), &value), "ptxsimGet"))
    return info.Env().Undefined();
  return numberOf(info.Env(), static_cast<double>(value));
}

/** simulatorCounters(function, BigUint64Array): fills the array; how many counters there are, or -1. */
Value simulatorCounters(const Info& info) {
  if (!needSimulator(info)) return info.Env().Undefined();
  Bytes out = bytesAt(info, 1);
  return numberOf(info.Env(), table.ptxsimCounters(handleAt(info, 0), reinterpret_cast<uint64_t*>(out.data),
                                                   static_cast<int>(out.size / sizeof(uint64_t))));
}

Value simulatorResetCounters(const Info& info) {
  if (needSimulator(info)) check(info.Env(), table.ptxsimResetCounters(handleAt(info, 0)), "ptxsimResetCounters");
  return info.Env().Undefined();
}

Value simulatorReset(const Info& info) {
  if (needSimulator(info)) check(info.Env(), table.ptxsimReset(), "ptxsimReset");
  return info.Env().Undefined();
}

const Call CALLS[] = {
    {"simulatorSet", "sn", simulatorSet},           {"simulatorGet", "s", simulatorGet},
    {"simulatorCounters", "Fv", simulatorCounters}, {"simulatorResetCounters", "F", simulatorResetCounters},
    {"simulatorReset", "", simulatorReset},
};

}  // namespace

void addSimulatorCalls(napi_env env, napi_value exports) { addCalls(env, exports, CALLS); }

}  // namespace cuda
