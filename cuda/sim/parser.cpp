/** The PTX parser: recursive descent over the tokens of one module. */
#include "token_reader.hpp"

namespace ptxsim {

Type typeOf(const std::string& name) {
  static const struct {
    const char* name;
    Type type;
  } NAMES[] = {
      {"pred", {Type::Predicate, 0}}, {"u8", {Type::Unsigned, 1}},  {"u16", {Type::Unsigned, 2}},
      {"u32", {Type::Unsigned, 4}},   {"u64", {Type::Unsigned, 8}}, {"s8", {Type::Signed, 1}},
      {"s16", {Type::Signed, 2}},     {"s32", {Type::Signed, 4}},   {"s64", {Type::Signed, 8}},
      {"b8", {Type::Bits, 1}},        {"b16", {Type::Bits, 2}},     {"b32", {Type::Bits, 4}},
      {"b64", {Type::Bits, 8}},       {"f16", {Type::Float, 2}},    {"f32", {Type::Float, 4}},
      {"f64", {Type::Float, 8}},      {"bf16", {Type::BFloat, 2}},  {"f16x2", {Type::Packed, 4}},
  };
  for (auto& entry : NAMES)
    if (name == entry.name) return entry.type;
  return {};
}

namespace {

std::vector<std::string> splitDots(const std::string& word) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= word.size();) {
    size_t end = word.find('.', start);
    if (end == std::string::npos) end = word.size();
    if (end > start) parts.push_back(word.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

class Parser : TokenReader {
 public:
  explicit Parser(const std::string& text) : TokenReader(text) {}

  SourceModule run() {
    SourceModule module;
    while (peek().kind != Token::End) topLevel(module);
    if (module.version.empty()) throw Fault(INVALID_PTX, "this is not PTX: it has no .version");
    return module;
  }

 private:
  void topLevel(SourceModule& module) {
    const Token& token = peek();
    if (accept(".version")) module.version = take().text;
    else if (accept(".target")) {
      module.target = take().text;
      while (accept(",")) take();
    } else if (accept(".address_size")) {
      if (take().text != "64") fail("only 64-bit modules run");
    } else if (token.is(".file") || token.is(".section")) skipDebug();
    else if (accept(";")) return;
    else linkable(module);
  }

  /** `.file` stands on one line; `.section` has a block of data. Neither is needed to run. */
  void skipDebug() {
    bool section = peek().is(".section");
    int line = peek().line;
    while (peek().kind != Token::End && (section ? !peek().is("}") : peek().line == line)) take();
    if (section) expect("}");
  }

  /** A variable or a function, with the words in front of it. */
  void linkable(SourceModule& module) {
    bool isExtern = false;
    while (peek().is(".visible") || peek().is(".weak") || peek().is(".extern") || peek().is(".common"))
      isExtern |= take().is(".extern");
    if (accept(".entry")) module.functions.push_back(function(true));
    else if (accept(".func")) module.functions.push_back(function(false));
    else {
      SourceVariable declared = variable();
      declared.isExtern = isExtern;
      expect(";");
      module.variables.push_back(std::move(declared));
    }
  }

  SourceFunction function(bool isEntry) {
    SourceFunction f;
    f.isEntry = isEntry;
    f.line = peek().line;
    if (peek().is("(")) f.returns = parameters();
    f.name = take().text;
    if (peek().is("(")) f.params = parameters();
    while (!peek().is("{") && !peek().is(";")) functionDirective(f);
    if (accept(";")) return f;
    f.hasBody = true;
    body(f.body);
    return f;
  }

  void functionDirective(SourceFunction& f) {
    bool exact = peek().is(".reqntid");
    if (accept(".maxntid") || accept(".reqntid")) {
      u64 threads = integer();
      while (accept(",")) threads *= integer();
      f.maxThreads = static_cast<u32>(threads);
      f.exactThreads = exact;
    } else if (accept(".minnctapersm") || accept(".maxnctapersm") || accept(".maxnreg")) integer();
    else if (accept(".noreturn")) return;
    else fail("directive of a function that is not supported");
  }

  std::vector<SourceVariable> parameters() {
    std::vector<SourceVariable> list;
    expect("(");
    while (!peek().is(")")) {
      list.push_back(variable());
      if (!accept(",")) break;
    }
    expect(")");
    return list;
  }

  static bool spaceOf(const std::string& word, Space& space) {
    static const struct {
      const char* name;
      Space space;
    } NAMES[] = {
        {".global", Space::Global}, {".shared", Space::Shared}, {".local", Space::Local},
        {".const", Space::Const},   {".param", Space::Param},   {".reg", Space::Register},
    };
    for (auto& entry : NAMES)
      if (word == entry.name) return space = entry.space, true;
    return false;
  }

  /** `.space .align n .type name[count] = {...}`; the words of a pointer parameter (`.ptr .global`) are passed over. */
  SourceVariable variable() {
    SourceVariable v;
    v.line = peek().line;
    if (!spaceOf(peek().text, v.space)) fail("this is not supported here");
    take();
    while (peek().text[0] == '.') {
      std::string word = take().text;
      Space ignored;
      if (word == ".align") v.align = static_cast<u32>(integer());
      else if (Type type = typeOf(word.substr(1))) v.type = type;
      else if (word != ".ptr" && !spaceOf(word, ignored)) fail("attribute " + word + " is not supported");
    }
    if (!v.type) fail("a declaration needs a type");
    if (!v.align) v.align = v.type.size ? v.type.size : 1;
    v.name = take().text;
    if (accept("[")) {
      v.isArray = true;
      v.count = peek().is("]") ? 0 : integer();
      expect("]");
    }
    if (accept("=")) initializer(v);
    return v;
  }

  void initializer(SourceVariable& v) {
    if (!accept("{")) return v.init.push_back(operand());
    while (!peek().is("}")) {
      v.init.push_back(operand());
      if (!accept(",")) break;
    }
    expect("}");
  }

  void body(std::vector<SourceItem>& items) {
    expect("{");
    int depth = 1;
    while (depth > 0) {
      SourceItem item;
      item.line = peek().line;
      size_t start = index();
      if (peek().kind == Token::End) fail("a body has no end");
      if (accept(";")) continue;
      if (accept("{")) item.kind = SourceItem::ScopeOpen, ++depth;
      else if (accept("}")) {
        if (--depth == 0) return;
        item.kind = SourceItem::ScopeClose;
      } else if (peek().is(".loc") || peek().is(".file")) {
        for (int line = peek().line; peek().line == line && peek().kind != Token::End;) take();
        continue;
      } else if (accept(".pragma")) {
        take();
        expect(";");
        continue;
      } else if (peek().text[0] == '.') {
        declaration(item, items);
        continue;
      } else if (peek().kind == Token::Word && peek(1).is(":")) {
        item.kind = SourceItem::Label;
        item.text = take().text;
        expect(":");
        items.push_back(std::move(item));
        continue;
      } else instruction(item.instruction);
      item.text = textFrom(start);
      items.push_back(std::move(item));
    }
  }

  /** `.reg .b32 %r<9>;`, `.local .align 16 .b8 depot[64];`, `.reg .f16 low, high;`: one item per name. */
  void declaration(SourceItem item, std::vector<SourceItem>& items) {
    item.variable = variable();
    bool isRegister = item.variable.space == Space::Register;
    item.kind = isRegister ? SourceItem::Register : SourceItem::Variable;
    do {
      if (last().is(",")) item.variable.name = take().text;
      item.registerCount = 0;
      if (accept("<")) {
        item.registerCount = static_cast<u32>(integer());
        expect(">");
      }
      item.text = item.variable.name;
      items.push_back(item);
    } while (isRegister && accept(","));
    expect(";");
  }

  void instruction(SourceInstruction& out) {
    if (accept("@")) {
      out.guardNegated = accept("!");
      out.guard = take().text;
    }
    if (peek().kind != Token::Word) fail("expected an instruction");
    out.opcode = splitDots(take().text);
    if (out.opcode[0] == "call") return call(out);
    while (!peek().is(";")) {
      out.operands.push_back(operand());
      if (!accept(",")) break;
    }
    expect(";");
  }

  /** `call.uni (r0), name, (p0, p1);` Calls through a register have a fourth operand, which is refused. */
  void call(SourceInstruction& out) {
    if (peek().is("(")) {
      out.returns = list();
      expect(",");
    }
    out.callee = take().text;
    if (out.callee[0] == '%') fail("indirect calls are not supported");
    if (accept(",")) out.operands = list();
    expect(";");
  }
};

}  // namespace

SourceModule parsePtx(const std::string& text) { return Parser(text).run(); }

}  // namespace ptxsim
