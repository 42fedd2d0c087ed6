/**
 * Basic types of the simulated driver: integers, the fault that carries a driver status, PTX types.
 *
 * The simulator runs PTX on the CPU, one warp at a time, all lanes of an instruction together. It checks what a GPU
 * would let pass. It is not a GPU, says nothing about the speed of one, and refuses what it cannot run exactly.
 */
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace ptxsim {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;

constexpr u32 LANES = 32;
constexpr u32 FULL_MASK = 0xffffffffu;

/** Numbers of the CUDA driver API (CUresult), as far as the simulator answers with them. */
enum Status : int {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_CONTEXT = 201,
  NO_BINARY_FOR_GPU = 209,
  INVALID_PTX = 218,
  JIT_COMPILER_NOT_FOUND = 221,
  UNSUPPORTED_PTX_VERSION = 222,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_OUT_OF_RESOURCES = 701,
  LAUNCH_TIMEOUT = 702,
  HOST_MEMORY_ALREADY_REGISTERED = 712,
  HOST_MEMORY_NOT_REGISTERED = 713,
  MISALIGNED_ADDRESS = 716,
  LAUNCH_FAILED = 719,
};

/** A failure with the status the driver call answers. */
struct Fault : std::runtime_error {
  Status status;
  Fault(Status status, const std::string& message) : std::runtime_error(message), status(status) {}
};

/** A PTX type such as `.f32`. `size` is in bytes; a predicate has none. */
struct Type {
  enum Kind : char {
    None = 0,
    Unsigned = 'u',
    Signed = 's',
    Bits = 'b',
    Float = 'f',
    Predicate = 'p',
    BFloat = 'B',
    Packed = 'H'
  };
  Kind kind = None;
  u8 size = 0;

  bool integer() const { return kind == Unsigned || kind == Signed || kind == Bits; }
  bool isFloat(int bytes) const { return kind == Float && size == bytes; }
  explicit operator bool() const { return kind != None; }
};

/** The type of a name without its dot (`f32`), or a Type of kind None. `f16` is Float of 2 bytes, `f16x2` Packed of 4.
 */
Type typeOf(const std::string& name);

/** Where a variable or an access lives. */
enum class Space : u8 { Global, Shared, Local, Const, Param, Generic, Register };

/** `a` up to the next multiple of `unit`, a power of two. */
constexpr u64 alignUp(u64 a, u64 unit) { return (a + unit - 1) & ~(unit - 1); }

}  // namespace ptxsim
