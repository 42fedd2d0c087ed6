/** Picks the instance of a handler template for a PTX type. Null where the type is not one the operation has. */
#pragma once
#include "lanes.hpp"
#include "scalar.hpp"

namespace ptxsim {

/** Shapes: how many registers of the same type an operation reads. */
template <class F, class T>
struct Unary {
  static constexpr Handler handler = map<F, T, T>;
};
template <class F, class T>
struct Binary {
  static constexpr Handler handler = map<F, T, T, T>;
};
template <class F, class T>
struct Ternary {
  static constexpr Handler handler = map<F, T, T, T, T>;
};
template <class F, class T>
struct ShiftShape {
  static constexpr Handler handler = map<F, T, T, u32>;
};
template <class F, class T>
struct CountShape {
  static constexpr Handler handler = map<F, u32, T>;
};

/** For operations whose result does not depend on the sign. */
template <template <class, class> class Shape, class F>
Handler pickBits(Type type) {
  if (!type.integer()) return nullptr;
  switch (type.size) {
    case 2: return Shape<F, u16>::handler;
    case 4: return Shape<F, u32>::handler;
    case 8: return Shape<F, u64>::handler;
    default: return nullptr;
  }
}

/** As pickBits, of 32 and 64 bits only. */
template <template <class, class> class Shape, class F>
Handler pickWideBits(Type type) {
  return type.size == 4 ? Shape<F, u32>::handler : type.size == 8 ? Shape<F, u64>::handler : nullptr;
}

template <template <class, class> class Shape, class F>
Handler pickInteger(Type type) {
  if (type.kind != Type::Signed) return pickBits<Shape, F>(type);
  switch (type.size) {
    case 2: return Shape<F, s16>::handler;
    case 4: return Shape<F, s32>::handler;
    case 8: return Shape<F, s64>::handler;
    default: return nullptr;
  }
}

template <template <class, class> class Shape, class F>
Handler pickWideInteger(Type type) {
  if (type.kind != Type::Signed) return pickWideBits<Shape, F>(type);
  return type.size == 4 ? Shape<F, s32>::handler : type.size == 8 ? Shape<F, s64>::handler : nullptr;
}

template <template <class, class> class Shape, class F>
Handler pickFloat(Type type) {
  return type.isFloat(4) ? Shape<F, float>::handler : type.isFloat(8) ? Shape<F, double>::handler : nullptr;
}

}  // namespace ptxsim
