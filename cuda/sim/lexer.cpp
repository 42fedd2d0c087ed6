#include "lexer.hpp"
#include <cctype>
#include "base.hpp"

namespace ptxsim {

static bool isWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
}

namespace {

class Lexer {
 public:
  explicit Lexer(const std::string& source) : source_(source) {}

  std::vector<Token> run() {
    while (skipBlank()) next();
    tokens_.push_back({Token::End, "", line_});
    return std::move(tokens_);
  }

 private:
  char at(size_t index) const { return index < source_.size() ? source_[index] : '\0'; }

  /** Moves to the next token; false at the end of the text. */
  bool skipBlank() {
    while (position_ < source_.size()) {
      char c = source_[position_];
      if (c == '\n') ++line_, ++position_;
      else if (std::isspace(static_cast<unsigned char>(c))) ++position_;
      else if (c == '/' && at(position_ + 1) == '/')
        while (position_ < source_.size() && source_[position_] != '\n') ++position_;
      else if (c == '/' && at(position_ + 1) == '*') skipComment();
      else return true;
    }
    return false;
  }

  void skipComment() {
    size_t end = source_.find("*/", position_ + 2);
    if (end == std::string::npos) end = source_.size();
    for (; position_ < end && position_ < source_.size(); ++position_) line_ += source_[position_] == '\n';
    position_ = end + 2;
  }

  void next() {
    size_t start = position_;
    char c = source_[position_];
    if (c == '"') {
      size_t end = source_.find('"', position_ + 1);
      if (end == std::string::npos)
        throw Fault(INVALID_PTX, "PTX line " + std::to_string(line_) + ": text without an end");
      position_ = end + 1;
      return push(Token::Text, source_.substr(start + 1, end - start - 1));
    }
    if (!isWordChar(c)) {
      ++position_;
      return push(Token::Punctuation, std::string(1, c));
    }
    // `shared::cta` is one modifier; a single colon ends a label.
    while (isWordChar(at(position_)) || (at(position_) == ':' && at(position_ + 1) == ':')) {
      position_ += at(position_) == ':' ? 2 : 1;
    }
    bool number = std::isdigit(static_cast<unsigned char>(c));
    push(number ? Token::Number : Token::Word, source_.substr(start, position_ - start));
  }

  void push(Token::Kind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }

  const std::string& source_;
  size_t position_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(const std::string& source) { return Lexer(source).run(); }

}  // namespace ptxsim
