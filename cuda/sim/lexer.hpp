/** Splits PTX text into words and punctuation, each with its line. */
#pragma once
#include <string>
#include <vector>

namespace ptxsim {

struct Token {
  enum Kind { Word, Number, Text, Punctuation, End };
  Kind kind = End;
  std::string text;
  int line = 0;

  bool is(const char* other) const { return kind != Text && text == other; }
};

/** A word is an identifier, a directive (`.entry`) or a dotted opcode (`ld.global.f32`). The last token is End. */
std::vector<Token> tokenize(const std::string& source);

}  // namespace ptxsim
