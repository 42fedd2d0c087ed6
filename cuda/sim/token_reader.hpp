/** A place in the tokens of a module, and what all statements are made of: words, numbers, operands. */
#pragma once
#include <algorithm>
#include <string>
#include <vector>
#include "lexer.hpp"
#include "source.hpp"

namespace ptxsim {

class TokenReader {
 public:
  explicit TokenReader(const std::string& text) : tokens_(tokenize(text)) {}

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(index_ + ahead, tokens_.size() - 1)]; }
  Token take() { return tokens_[index_ + 1 < tokens_.size() ? index_++ : index_]; }
  bool accept(const char* text) { return peek().is(text) ? (take(), true) : false; }
  void expect(const char* text);
  u64 integer();
  Operand operand();
  /** Operands in parentheses. */
  std::vector<Operand> list();

  size_t index() const { return index_; }
  /** The token that was taken last. */
  const Token& last() const { return tokens_[index_ - 1]; }
  /** The statement since `start`, on one line. */
  std::string textFrom(size_t start) const;
  [[noreturn]] void fail(const std::string& why) const;

 private:
  void literal(Operand& o);
  void named(Operand& o);

  std::vector<Token> tokens_;
  size_t index_ = 0;
};

}  // namespace ptxsim
