/** Modules: variables get memory, kernels are decoded. */
#include <cstring>
#include "decoder.hpp"

namespace ptxsim {

namespace {

[[noreturn]] void refuse(const SourceVariable& variable, const std::string& why) {
  throw Fault(INVALID_PTX, "PTX line " + std::to_string(variable.line) + ": variable " + variable.name + " " + why);
}

/** Variables of modules are written: zero where there is no initial value. */
void initialize(const SourceVariable& variable, u64 address, Memory& memory) {
  u8* at = memory.host(address);
  std::memset(at, 0, variable.bytes());
  if (variable.init.size() > variable.count) refuse(variable, "has more values than elements");
  for (const Operand& value : variable.init) {
    bool isNumber = value.kind == Operand::Integer || value.kind == Operand::Float32 || value.kind == Operand::Float64;
    if (!isNumber) refuse(variable, "has an initial value that is not a number");
    std::memcpy(at, &value.bits, variable.type.size);
    at += variable.type.size;
  }
  Allocation* allocation = memory.find(address, variable.bytes());
  allocation->written = true;
  allocation->readOnly = variable.space == Space::Const;
}

void allocateVariables(const SourceModule& source, Module& module, Memory& memory) {
  for (const SourceVariable& variable : source.variables) {
    if (variable.space == Space::Shared) continue;
    if (variable.space != Space::Global && variable.space != Space::Const)
      refuse(variable, "is in a space that modules cannot have");
    if (variable.isExtern || variable.count == 0) refuse(variable, "is not defined in this module");
    if (variable.align > 256) refuse(variable, "needs more alignment than 256 bytes");
    Module::Global global{memory.allocate(variable.bytes()), variable.bytes()};
    initialize(variable, global.address, memory);
    module.globals[variable.name] = global;
  }
}

}  // namespace

std::unique_ptr<Module> loadModule(const std::string& ptx, Memory& memory, const PtxLimits& limits) {
  SourceModule source = parsePtx(ptx);
  u32 capability = limits.capability;
  if (std::stod(source.version) * 10 > limits.versionMax + 0.1) {
    throw Fault(UNSUPPORTED_PTX_VERSION, "PTX of version " + source.version + ", this driver reads up to " +
                                             std::to_string(limits.versionMax / 10) + "." +
                                             std::to_string(limits.versionMax % 10));
  }
  if (source.target.rfind("sm_", 0) != 0) throw Fault(INVALID_PTX, "unknown target " + source.target);
  u32 target = static_cast<u32>(std::strtoul(source.target.c_str() + 3, nullptr, 10));
  if (target > capability) {
    throw Fault(INVALID_PTX, "PTX for " + source.target + ", the simulated device has compute capability " +
                                 std::to_string(capability / 10) + "." + std::to_string(capability % 10));
  }
  auto module = std::make_unique<Module>();
  try {
    allocateVariables(source, *module, memory);
    for (const SourceFunction& function : source.functions) {
      if (!function.isEntry) continue;
      auto kernel = std::make_unique<Kernel>();
      Decoder(source, module->globals, *kernel).run(function);
      module->kernels[function.name] = std::move(kernel);
    }
  } catch (...) {
    unloadModule(*module, memory);
    throw;
  }
  return module;
}

void unloadModule(Module& module, Memory& memory) {
  for (auto& [name, global] : module.globals) memory.release(global.address);
  module.globals.clear();
}

}  // namespace ptxsim
