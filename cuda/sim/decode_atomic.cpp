/** Atomic operations. */
#include <cstring>
#include "decoder.hpp"
#include "pick.hpp"

namespace ptxsim {

namespace {

// The new value of `old` and the operands.
struct AtomicAdd {
  template <class T>
  static T f(T old, T v, T) {
    return old + v;
  }
};
struct AtomicExchange {
  template <class T>
  static T f(T, T v, T) {
    return v;
  }
};
struct AtomicCompare {
  template <class T>
  static T f(T old, T expected, T v) {
    return old == expected ? v : old;
  }
};
struct AtomicMin {
  template <class T>
  static T f(T old, T v, T) {
    return v < old ? v : old;
  }
};
struct AtomicMax {
  template <class T>
  static T f(T old, T v, T) {
    return v > old ? v : old;
  }
};
struct AtomicAnd {
  template <class T>
  static T f(T old, T v, T) {
    return old & v;
  }
};
struct AtomicOr {
  template <class T>
  static T f(T old, T v, T) {
    return old | v;
  }
};
struct AtomicXor {
  template <class T>
  static T f(T old, T v, T) {
    return old ^ v;
  }
};
struct AtomicInc {
  template <class T>
  static T f(T old, T v, T) {
    return old >= v ? 0 : old + 1;
  }
};
struct AtomicDec {
  template <class T>
  static T f(T old, T v, T) {
    return old == 0 || old > v ? v : old - 1;
  }
};
/** In global memory the hardware flushes subnormal operands and results of a float addition. */
struct AtomicAddFlushed {
  static float f(float old, float v, float) { return flush(flush(old) + flush(v)); }
};

/** Lanes take turns; with a seed they begin at a random one, so that code which depends on the order shows itself. */
template <class F, class T>
void atomic(Warp& warp, const Instruction& i, u32 mask) {
  Reach reach;
  resolve(warp, i, mask, sizeof(T), Access::Atomic, reach);
  const T* first = warp.reg<T>(i.s[1]);
  const T* second = warp.reg<T>(i.s[2]);
  T* d = i.hasResult ? warp.reg<T>(i.d[0]) : nullptr;
  warp.kernel->counters.atomics += static_cast<u32>(__builtin_popcount(mask));
  u32 start = warp.engine->controls.seed ? warp.nextRandom() & 31 : 0;
  for (u32 k = 0; k < LANES; ++k) {
    u32 l = (k + start) & 31;
    if (!(mask >> l & 1)) continue;
    T old;
    std::memcpy(&old, reach.hosts[l], sizeof old);
    T value = F::f(old, first[l], second[l]);
    std::memcpy(reach.hosts[l], &value, sizeof value);
    if (d) d[l] = old;
  }
}
template <class F, class T>
struct AtomicShape {
  static constexpr Handler handler = atomic<F, T>;
};

Handler takeAtomic(Form& form, Type type, Space space) {
  if (form.take("add")) {
    if (type.isFloat(4)) return space == Space::Shared ? atomic<AtomicAdd, float> : atomic<AtomicAddFlushed, float>;
    return type.isFloat(8) ? atomic<AtomicAdd, double> : pickWideBits<AtomicShape, AtomicAdd>(type);
  }
  if (type.kind == Type::Float) return nullptr;
  if (form.take("min")) return pickWideInteger<AtomicShape, AtomicMin>(type);
  if (form.take("max")) return pickWideInteger<AtomicShape, AtomicMax>(type);
  if (form.take("exch")) return pickWideBits<AtomicShape, AtomicExchange>(type);
  if (form.take("cas")) return pickWideBits<AtomicShape, AtomicCompare>(type);
  if (form.take("and")) return pickWideBits<AtomicShape, AtomicAnd>(type);
  if (form.take("or")) return pickWideBits<AtomicShape, AtomicOr>(type);
  if (form.take("xor")) return pickWideBits<AtomicShape, AtomicXor>(type);
  if (type.size != 4) return nullptr;
  if (form.take("inc")) return atomic<AtomicInc, u32>;
  return form.take("dec") ? atomic<AtomicDec, u32> : nullptr;
}

template <bool RESULT>
void decodeAtomic(Decoder& decoder, Form& form, Instruction& i) {
  Type type = form.takeType();
  if (!(type.integer() || type.kind == Type::Float)) decoder.refuse("this type has no atomic operations");
  Space space = form.takeSpace();
  if (space != Space::Global && space != Space::Shared && space != Space::Generic)
    decoder.refuse("this space has no atomic operations");
  if (!form.take("relaxed") && !form.take("acquire") && !form.take("release")) form.take("acq_rel");
  form.takeScope();
  i.run = takeAtomic(form, type, space);
  i.isAtomic = true;
  i.hasResult = RESULT;
  const auto& operands = form.operands();
  size_t at = RESULT ? 1 : 0;
  bool isCompare = form.base() == "atom" && operands.size() == at + 3;
  if (operands.size() != at + (isCompare ? 3 : 2)) decoder.refuse("wrong number of operands");
  if (RESULT) i.d[0] = decoder.destination(operands[0], type.size);
  decoder.address(operands[at], i, space);
  i.s[1] = decoder.source(operands[at + 1], type.size);
  i.s[2] = isCompare ? decoder.source(operands[at + 2], type.size) : i.s[1];
}

const DecodeEntry TABLE[] = {{"atom", decodeAtomic<true>}, {"red", decodeAtomic<false>}};

}  // namespace

Decode atomicDecode(const std::string& opcode) { return findDecode(TABLE, opcode); }

}  // namespace ptxsim
