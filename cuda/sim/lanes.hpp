/** One operation over the lanes of a warp: the shape all arithmetic handlers share. */
#pragma once
#include <cstring>
#include <type_traits>
#include <utility>
#include "machine.hpp"

namespace ptxsim {

/** An operation marked so is done for active lanes only; others are done for all lanes, which the compiler vectorises.
 */
struct Costly {
  static constexpr bool costly = true;
};
template <class F, class = void>
struct isCostly : std::false_type {};
template <class F>
struct isCostly<F, std::enable_if_t<F::costly>> : std::true_type {};

template <class F, class D, class... S, size_t... K>
inline void mapLanes(Warp& warp, const Instruction& i, u32 mask, std::index_sequence<K...>) {
  D* d = warp.reg<D>(i.d[0]);
  // Results are gathered apart from the registers: a destination may be a source as well.
  alignas(64) D out[LANES];
  if (mask == FULL_MASK) {
    for (u32 l = 0; l < LANES; ++l) out[l] = F::f(warp.reg<S>(i.s[K])[l]...);
    std::memcpy(d, out, sizeof out);
  } else if (isCostly<F>::value) {
    for (u32 l : lanesOf(mask)) d[l] = F::f(warp.reg<S>(i.s[K])[l]...);
  } else {
    for (u32 l = 0; l < LANES; ++l) out[l] = F::f(warp.reg<S>(i.s[K])[l]...);
    for (u32 l = 0; l < LANES; ++l) d[l] = (mask >> l & 1) ? out[l] : d[l];
  }
}

/** d = F::f(s0, s1, ...) with the registers of type D and S... */
template <class F, class D, class... S>
void map(Warp& warp, const Instruction& i, u32 mask) {
  mapLanes<F, D, S...>(warp, i, mask, std::index_sequence_for<S...>{});
}

template <class F, class T>
constexpr Handler unary() {
  return map<F, T, T>;
}
template <class F, class T>
constexpr Handler binary() {
  return map<F, T, T, T>;
}
template <class F, class T>
constexpr Handler ternary() {
  return map<F, T, T, T, T>;
}

/** Predicates are masks of lanes: writes the bits of `mask`, keeps the others. */
inline void writeMask(u32& destination, u32 value, u32 mask) { destination = (destination & ~mask) | (value & mask); }

}  // namespace ptxsim
