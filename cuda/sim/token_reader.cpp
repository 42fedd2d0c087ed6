#include "token_reader.hpp"
#include <cstdlib>
#include <cstring>

namespace ptxsim {

void TokenReader::fail(const std::string& why) const {
  throw Fault(INVALID_PTX, "PTX line " + std::to_string(peek().line) + ": " + why + " at '" + peek().text + "'");
}

void TokenReader::expect(const char* text) {
  if (!accept(text)) fail(std::string("expected '") + text + "'");
}

u64 TokenReader::integer() {
  if (peek().kind != Token::Number) fail("expected a number");
  return std::strtoull(take().text.c_str(), nullptr, 0);
}

std::vector<Operand> TokenReader::list() {
  std::vector<Operand> operands;
  expect("(");
  while (!peek().is(")")) {
    operands.push_back(operand());
    if (!accept(",")) break;
  }
  expect(")");
  return operands;
}

Operand TokenReader::operand() {
  Operand o;
  if (accept("!")) {
    o = operand();
    o.negated = true;
  } else if (accept("{")) {
    o.kind = Operand::Vector;
    do o.parts.push_back(operand());
    while (accept(","));
    expect("}");
  } else if (accept("[")) {
    o.kind = Operand::Memory;
    o.parts.push_back(operand());
    o.offset = o.parts[0].offset;
    if (o.parts[0].kind == Operand::Integer) o.offset = static_cast<s64>(o.parts[0].bits);
    expect("]");
  } else if (peek().kind == Token::Number || peek().is("-")) literal(o);
  else if (peek().kind == Token::Word) named(o);
  else fail("expected an operand");
  return o;
}

void TokenReader::literal(Operand& o) {
  bool minus = accept("-");
  if (peek().kind != Token::Number) fail("expected a number");
  std::string text = take().text;
  bool isHex = text.size() > 2 && text[0] == '0' && std::strchr("fFdD", text[1]) != nullptr;
  if (isHex && !minus) {
    o.kind = std::strchr("fF", text[1]) ? Operand::Float32 : Operand::Float64;
    o.bits = std::strtoull(text.c_str() + 2, nullptr, 16);
    if (text.size() != (o.kind == Operand::Float32 ? 10u : 18u)) fail("malformed floating-point constant " + text);
    return;
  }
  char* end = nullptr;
  o.kind = Operand::Integer;
  o.bits = std::strtoull(text.c_str(), &end, 0);
  if (*end != '\0' && std::strcmp(end, "U") != 0) fail("malformed number " + text);
  if (minus) o.bits = 0 - o.bits;
}

void TokenReader::named(Operand& o) {
  o.name = take().text;
  o.kind = o.name[0] == '%' ? Operand::Register : Operand::Symbol;
  if (accept("|")) o.pair = take().text;
  bool plus = accept("+");
  if (plus || peek().is("-")) {
    Operand offset;
    literal(offset);
    o.offset = static_cast<s64>(offset.bits);
  }
}

std::string TokenReader::textFrom(size_t start) const {
  std::string text;
  for (size_t i = start; i < index_ && !tokens_[i].is(";"); ++i) {
    const std::string& word = tokens_[i].text;
    bool tight = text.empty() || std::strchr(",;]>)", word[0]) || std::strchr("[<(@!-{", text.back());
    text += (tight ? "" : " ") + word;
  }
  return text;
}

}  // namespace ptxsim
