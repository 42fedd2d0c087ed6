/** The opcode under work: which of its modifiers have been taken. */
#include "decoder.hpp"

namespace ptxsim {

bool Form::take(const char* modifier) {
  for (size_t k = 1; k < used_.size(); ++k) {
    if (!used_[k] && source_.opcode[k] == modifier) return used_[k] = true;
  }
  return false;
}

void Form::takeCacheHints() {
  static const char* const HINTS[] = {"nc",
                                      "ca",
                                      "cg",
                                      "cs",
                                      "lu",
                                      "wb",
                                      "wt",
                                      "weak",
                                      "L1::evict_first",
                                      "L1::evict_last",
                                      "L1::no_allocate",
                                      "L2::64B",
                                      "L2::128B",
                                      "L2::256B"};
  for (const char* hint : HINTS) take(hint);
}

Type Form::takeType() {
  for (size_t k = used_.size(); k-- > 1;) {
    if (used_[k]) continue;
    Type type = typeOf(source_.opcode[k]);
    if (type) used_[k] = true;
    return type;
  }
  return {};
}

std::string Form::leftOver() const {
  std::string names;
  for (size_t k = 1; k < used_.size(); ++k)
    if (!used_[k]) names += "." + source_.opcode[k];
  return names;
}

Space Form::takeSpace() {
  if (take("global")) return Space::Global;
  if (take("shared") || take("shared::cta")) return Space::Shared;
  if (take("local")) return Space::Local;
  if (take("const")) return Space::Const;
  if (take("param")) return Space::Param;
  return Space::Generic;
}

bool Form::takeScope() { return take("gpu") || take("sys") || take("cta"); }

}  // namespace ptxsim
