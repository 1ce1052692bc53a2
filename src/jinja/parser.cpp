#include "jinja/parser.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "jinja/builtins.hpp"
#include "jinja/lexer.hpp"
#include "jinja/limits.hpp"
#include "jinja/numbers.hpp"

namespace glassformer::jinja {
namespace {

using NodeKind = Expression::Kind;

// The levels of operators, from the loosest.
enum Precedence {
  or_level = 1,
  and_level,
  not_level,
  compare_level,
  add_level,
  concat_level,
  multiply_level,
  power_level,
  unary_level
};

struct OperatorToken {
  std::string_view text;
  Precedence level;
  Operator operation;
};
constexpr OperatorToken operator_tokens[] = {
    {"==", compare_level, Operator::equal},
    {"!=", compare_level, Operator::unequal},
    {"<", compare_level, Operator::less},
    {"<=", compare_level, Operator::less_equal},
    {">", compare_level, Operator::greater},
    {">=", compare_level, Operator::greater_equal},
    {"+", add_level, Operator::add},
    {"-", add_level, Operator::subtract},
    {"*", multiply_level, Operator::multiply},
    {"/", multiply_level, Operator::divide},
    {"//", multiply_level, Operator::floor_divide},
    {"%", multiply_level, Operator::modulo},
    {"**", power_level, Operator::power},
};

constexpr std::string_view refused_statements[] = {"extends", "include", "import", "from",
                                                   "autoescape"};

std::string described(const Token& token) {
  switch (token.kind) {
    case TokenKind::data:
      return "template data / text";
    case TokenKind::statement_begin:
      return "begin of statement block";
    case TokenKind::statement_end:
      return "end of statement block";
    case TokenKind::print_begin:
      return "begin of print statement";
    case TokenKind::print_end:
      return "end of print statement";
    case TokenKind::integer:
      return "integer";
    case TokenKind::real:
      return "float";
    case TokenKind::string:
      return "string";
    case TokenKind::end:
      return "end of template";
    case TokenKind::name:
    case TokenKind::symbol:
      break;
  }
  return token.text;
}

class Parser {
 public:
  Parser(std::string_view source, Program& program)
      : tokens_(tokenize(source)), program_(program) {}

  void run() {
    program_.body = parse_body({});
    if (!unknown_.empty()) fail_unknown(*unknown_.front());
  }

 private:
  using Ends = std::vector<std::string_view>;

  // Counts one more level of nesting, as long as it exists.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ <= max_nesting) return;
      throw_error(ErrorCode::too_large,
                  {"chat_template: line {}: expected at most {} levels of nesting, got more",
                   {parser_.peek().line, max_nesting}});
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --parser_.nesting_; }

   private:
    Parser& parser_;
  };

  // The state that a body of code which can be called starts with, restored at its end.
  class NewFunction {
   public:
    explicit NewFunction(Parser& parser) : parser_(parser), loops_(parser.loops_) {
      parser_.loops_ = 0;
    }
    NewFunction(const NewFunction&) = delete;
    NewFunction& operator=(const NewFunction&) = delete;
    ~NewFunction() { parser_.loops_ = loops_; }

   private:
    Parser& parser_;
    std::size_t loops_;
  };

  // Whether unknown filters are only an error if they are used, as in branches of an `if`.
  class Lenience {
   public:
    Lenience(Parser& parser, bool is_lenient)
        : parser_(parser), before_(std::exchange(parser.is_lenient_, is_lenient)) {}
    Lenience(const Lenience&) = delete;
    Lenience& operator=(const Lenience&) = delete;
    ~Lenience() { parser_.is_lenient_ = before_; }

   private:
    Parser& parser_;
    bool before_;
  };

  // --- Tokens

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool skip_symbol(std::string_view symbol) {
    if (!peek().is_symbol(symbol)) return false;
    next();
    return true;
  }
  bool skip_name(std::string_view name) {
    if (!peek().is_name(name)) return false;
    next();
    return true;
  }
  [[noreturn]] void fail(const Message& problem) const { fail_at(peek().line, problem); }
  [[noreturn]] void fail_expected(std::string_view what) const {
    if (peek().kind == TokenKind::end) {
      fail({"unexpected end of template, expected '{}'.", {what}});
    }
    fail({"expected token '{}', got '{}'", {what, described(peek())}});
  }
  void expect_symbol(std::string_view symbol) {
    if (!skip_symbol(symbol)) fail_expected(symbol);
  }
  void expect_name(std::string_view name) {
    if (!skip_name(name)) fail_expected(name);
  }
  const Token& expect_any_name() {
    if (peek().kind != TokenKind::name) fail_expected("name");
    return next();
  }
  void expect_statement_end() {
    if (peek().kind != TokenKind::statement_end) fail_expected("end of statement block");
    next();
  }

  // --- Nodes

  Expression* make(NodeKind kind, std::uint32_t line) {
    Expression& node = program_.expressions.emplace_back();
    node.kind = kind;
    node.line = line;
    node.depth = 1;
    return &node;
  }
  // Counts a part of a node, which is one level deeper.
  void contains(Expression* node, const Expression* part) {
    if (part) deepen(node, part->depth + std::size_t{1});
  }
  void deepen(Expression* node, std::size_t depth) {
    if (depth > max_nesting) {
      throw_error(ErrorCode::too_large,
                  {"chat_template: line {}: expected at most {} levels of nesting, got more",
                   {node->line, max_nesting}});
    }
    node->depth = std::max(node->depth, static_cast<std::uint16_t>(depth));
  }
  Expression* make_chain(NodeKind kind, std::uint32_t line, Expression* first) {
    Expression* node = make(kind, line);
    node->first = first;
    if (first) deepen(node, first->depth);
    return node;
  }
  Expression* make_binary(NodeKind kind, std::uint32_t line, Expression* first,
                          Expression* second) {
    Expression* node = make_chain(kind, line, first);
    node->second = second;
    contains(node, second);
    return node;
  }
  Expression* make_unary(NodeKind kind, std::uint32_t line, Expression* operand) {
    Expression* node = make(kind, line);
    node->second = operand;
    contains(node, operand);
    return node;
  }
  Expression* make_items(NodeKind kind, std::uint32_t line, std::vector<Expression*> items) {
    Expression* node = make(kind, line);
    for (const Expression* item : items) contains(node, item);
    node->items = std::move(items);
    return node;
  }

  std::uint32_t name_index(std::string_view name, std::uint32_t line) {
    const Value* known = name_indices_.find(name);
    if (known) return static_cast<std::uint32_t>(known->integer());
    if (program_.names.size() == max_names) {
      throw_error(ErrorCode::too_large,
                  {"chat_template: line {}: expected at most {} different variables, got more",
                   {line, max_names}});
    }
    const auto index = static_cast<std::uint32_t>(program_.names.size());
    program_.names.emplace_back(std::string(name));
    name_indices_.add(program_.names.back(), static_cast<std::int64_t>(index));
    return index;
  }

  Expression* make_variable(const Token& token, Expression::Use use) {
    if (token.text == "self") fail_at(token.line, "the variable 'self' is not supported");
    Expression* node = make(NodeKind::variable, token.line);
    node->use = use;
    node->name = name_index(token.text, token.line);
    program_.occurrences.push_back(node);
    return node;
  }

  Names names_since(std::size_t begin) const { return {begin, program_.occurrences.size()}; }
  std::size_t here() const { return program_.occurrences.size(); }

  // --- Statements

  Statement* make_statement(Statement::Kind kind) {
    Statement& statement = program_.statements.emplace_back();
    statement.kind = kind;
    statement.line = peek().line;
    return &statement;
  }

  // Parses up to one of the end tags, which becomes the current token, or to the end of the
  // template if there are none.
  std::vector<Statement*> parse_body(const Ends& ends) {
    const Nesting nesting(*this);
    std::vector<Statement*> body;
    for (;;) {
      const Token& token = peek();
      if (token.kind == TokenKind::end) {
        if (!ends.empty()) fail_unclosed(ends);
        return body;
      }
      if (token.kind == TokenKind::data) {
        Statement* statement = make_statement(Statement::Kind::data);
        statement->text = Value(token.text);
        body.push_back(statement);
        next();
      } else if (token.kind == TokenKind::print_begin) {
        next();
        Statement* statement = make_statement(Statement::Kind::output);
        const std::size_t begin = here();
        statement->value = parse_tuple();
        statement->value_names = names_since(begin);
        if (peek().kind != TokenKind::print_end) fail_expected("end of print statement");
        next();
        body.push_back(statement);
      } else {
        next();  // the beginning of a statement
        const auto is_end = [&](std::string_view end) { return peek().is_name(end); };
        if (std::any_of(ends.begin(), ends.end(), is_end)) return body;
        parse_statement(body, ends);
        expect_statement_end();
      }
    }
  }

  [[noreturn]] void fail_unclosed(const Ends& ends) const {
    std::string list;
    for (const std::string_view end : ends) {
      if (!list.empty()) list += " or ";
      list += '\'' + std::string(end) + '\'';
    }
    fail({"Unexpected end of template. Jinja was looking for the following tags: {}.", {list}});
  }

  // Parses the body of a statement behind its head.
  std::vector<Statement*> parse_inner(const Ends& ends) {
    skip_symbol(":");
    expect_statement_end();
    return parse_body(ends);
  }
  std::vector<Statement*> parse_last(std::string_view end) {
    std::vector<Statement*> body = parse_inner({end});
    next();
    return body;
  }

  void parse_statement(std::vector<Statement*>& body, const Ends& ends) {
    if (peek().kind != TokenKind::name) fail("tag name expected");
    const std::string_view name = peek().text;
    using Parse = void (Parser::*)(Statement*);
    struct Entry {
      std::string_view name;
      Statement::Kind kind;
      Parse parse;
    };
    static constexpr Entry entries[] = {
        {"if", Statement::Kind::condition, &Parser::parse_if},
        {"for", Statement::Kind::loop, &Parser::parse_for},
        {"set", Statement::Kind::assignment, &Parser::parse_set},
        {"macro", Statement::Kind::macro, &Parser::parse_macro},
        {"call", Statement::Kind::call_block, &Parser::parse_call_block},
        {"generation", Statement::Kind::generation, &Parser::parse_generation},
        {"filter", Statement::Kind::filter_block, &Parser::parse_filter_block},
        {"with", Statement::Kind::with, &Parser::parse_with},
        {"block", Statement::Kind::block, &Parser::parse_block},
        {"break", Statement::Kind::break_loop, &Parser::parse_jump},
        {"continue", Statement::Kind::continue_loop, &Parser::parse_jump},
    };
    if (name == "print") {
      next();
      parse_print(body);
      return;
    }
    for (const Entry& entry : entries) {
      if (entry.name != name) continue;
      Statement* statement = make_statement(entry.kind);
      next();
      (this->*entry.parse)(statement);
      body.push_back(statement);
      return;
    }
    if (std::find(std::begin(refused_statements), std::end(refused_statements), name) !=
        std::end(refused_statements)) {
      fail({"the statement '{}' is not supported", {name}});
    }
    if (ends.empty()) fail({"Encountered unknown tag '{}'.", {name}});
    fail({"Encountered unknown tag '{}'. Jinja was looking for '{}'.", {name, ends.back()}});
  }

  void parse_print(std::vector<Statement*>& body) {
    for (bool is_first = true; peek().kind != TokenKind::statement_end; is_first = false) {
      if (!is_first) expect_symbol(",");
      Statement* statement = make_statement(Statement::Kind::output);
      const std::size_t begin = here();
      statement->value = parse_expression();
      statement->value_names = names_since(begin);
      body.push_back(statement);
    }
  }

  void parse_if(Statement* statement) {
    const Lenience lenience(*this, true);
    for (Statement* branch = statement;;) {
      const std::size_t begin = here();
      branch->value = parse_tuple(false);
      branch->value_names = names_since(begin);
      branch->body = parse_inner({"elif", "else", "endif"});
      const Token& tag = next();
      if (tag.text == "elif") {
        branch = make_statement(Statement::Kind::condition);
        statement->branches.push_back(branch);
        continue;
      }
      if (tag.text == "else") statement->otherwise = parse_last("endif");
      return;
    }
  }

  void parse_for(Statement* statement) {
    const std::size_t begin = here();
    statement->target = parse_target("in");
    statement->target_names = names_since(begin);
    expect_name("in");
    const std::size_t value = here();
    statement->value = parse_tuple(false, "recursive");
    statement->value_names = names_since(value);
    const Lenience lenience(*this, false);
    if (skip_name("if")) {
      const std::size_t test = here();
      statement->test = parse_expression();
      statement->test_names = names_since(test);
    }
    statement->is_recursive = skip_name("recursive");
    const std::size_t body = here();
    {
      const std::size_t outer_loops = loops_;
      loops_ = statement->is_recursive ? 1 : loops_ + 1;
      statement->body = parse_inner({"endfor", "else"});
      loops_ = outer_loops;
    }
    statement->body_names = names_since(body);
    if (next().text == "else") {
      const std::size_t outer_loops = loops_;
      if (statement->is_recursive) loops_ = 0;
      statement->otherwise = parse_last("endfor");
      loops_ = outer_loops;
    }
    for (std::size_t i = begin; i < here(); ++i) {
      const Expression& variable = *program_.occurrences[i];
      if (variable.use == Expression::Use::store && is_named(variable, "loop")) {
        fail_at(variable.line, "Can't assign to special loop variable in for-loop target");
      }
    }
    statement->uses_loop = statement->is_recursive || uses(statement->body_names, "loop");
    if (statement->uses_loop) name_index("loop", statement->line);
  }

  bool is_named(const Expression& variable, std::string_view name) const {
    return program_.names[variable.name].string() == name;
  }

  // Returns whether the names contain a variable that is read before it is set.
  bool uses(Names names, std::string_view name) const {
    for (std::size_t i = names.begin; i < names.end; ++i) {
      const Expression& variable = *program_.occurrences[i];
      if (is_named(variable, name)) return variable.use == Expression::Use::load;
    }
    return false;
  }

  void parse_set(Statement* statement) {
    const std::size_t begin = here();
    statement->target = parse_target({}, true);
    statement->target_names = names_since(begin);
    const std::size_t value = here();
    if (skip_symbol("=")) {
      statement->value = parse_tuple();
      statement->value_names = names_since(value);
      return;
    }
    statement->kind = Statement::Kind::capture;
    const Lenience lenience(*this, false);
    statement->value = parse_filters(nullptr);
    statement->value_names = names_since(value);
    statement->body = parse_last("endset");
  }

  void parse_macro(Statement* statement) {
    const Token& name = expect_any_name();
    expect_assignable(name);
    statement->target = make_variable(name, Expression::Use::store);
    make_macro(statement, Value(name.text));
    parse_parameters(*statement->macro);
    parse_function_body(statement, "endmacro");
  }

  void parse_call_block(Statement* statement) {
    make_macro(statement, {});
    if (peek().is_symbol("(")) parse_parameters(*statement->macro);
    const std::size_t call = here();
    statement->value = parse_expression();
    statement->value_names = names_since(call);
    if (statement->value->kind != NodeKind::call) fail_at(statement->line, "expected call");
    parse_function_body(statement, "endcall");
  }

  void parse_generation(Statement* statement) {
    make_macro(statement, {});
    parse_function_body(statement, "endgeneration");
  }

  void make_macro(Statement* statement, Value name) {
    statement->macro = &program_.macros.emplace_back();
    statement->macro->name = std::move(name);
  }

  void parse_parameters(MacroCode& macro) {
    const Lenience lenience(*this, false);
    expect_symbol("(");
    while (!peek().is_symbol(")")) {
      if (!macro.parameters.empty()) expect_symbol(",");
      const Token& name = expect_any_name();
      expect_assignable(name);
      for (const Parameter& other : macro.parameters) {
        if (is_named(*other.variable, name.text)) {
          fail({"duplicate argument '{}'", {name.text}});
        }
      }
      Parameter parameter{make_variable(name, Expression::Use::parameter), nullptr, {}};
      const std::size_t begin = here();
      if (skip_symbol("=")) {
        parameter.fallback = parse_expression();
      } else if (!macro.parameters.empty() && macro.parameters.back().fallback) {
        fail("non-default argument follows default argument");
      }
      parameter.names = names_since(begin);
      macro.parameters.push_back(parameter);
    }
    expect_symbol(")");
  }

  void parse_function_body(Statement* statement, std::string_view end) {
    const NewFunction function(*this);
    const Lenience lenience(*this, false);
    const std::size_t body = here();
    statement->body = parse_last(end);
    statement->body_names = names_since(body);
    MacroCode& macro = *statement->macro;
    const auto parameter = [&](std::string_view name) -> const Parameter* {
      for (const Parameter& each : macro.parameters) {
        if (is_named(*each.variable, name)) return &each;
      }
      return nullptr;
    };
    const Parameter* caller = parameter("caller");
    macro.has_caller_parameter = caller != nullptr;
    const bool uses_caller = uses(statement->body_names, "caller");
    if (uses_caller && caller && !caller->fallback) {
      fail_at(statement->line,
              "When defining macros or call blocks the special \"caller\" argument must be omitted "
              "or be given a default.");
    }
    macro.takes_caller = uses_caller;
    macro.takes_keywords = !parameter("kwargs") && uses(statement->body_names, "kwargs");
    macro.takes_rest = !parameter("varargs") && uses(statement->body_names, "varargs");
    for (const std::string_view name : {"caller", "kwargs", "varargs"}) {
      name_index(name, statement->line);
    }
  }

  void parse_filter_block(Statement* statement) {
    const std::size_t begin = here();
    statement->value = parse_filters(nullptr, true);
    statement->value_names = names_since(begin);
    const Lenience lenience(*this, false);
    statement->body = parse_last("endfilter");
  }

  void parse_with(Statement* statement) {
    const std::size_t names = here();
    while (peek().kind != TokenKind::statement_end) {
      if (!statement->bindings.empty()) expect_symbol(",");
      const std::size_t begin = here();
      Expression* target = parse_target();
      for (std::size_t i = begin; i < here(); ++i) {
        program_.occurrences[i]->use = Expression::Use::parameter;
      }
      expect_symbol("=");
      statement->bindings.push_back({target, parse_expression()});
    }
    statement->value_names = names_since(names);
    const Lenience lenience(*this, false);
    statement->body = parse_last("endwith");
  }

  void parse_block(Statement* statement) {
    const Token& name = expect_any_name();
    for (const std::string_view mark : {"scoped", "required"}) {
      if (peek().is_name(mark)) fail({"blocks that are '{}' are not supported", {mark}});
    }
    if (std::find(blocks_.begin(), blocks_.end(), name.text) != blocks_.end()) {
      fail_at(statement->line, {"block '{}' defined twice", {name.text}});
    }
    blocks_.push_back(name.text);
    const NewFunction function(*this);
    const Lenience lenience(*this, false);
    const std::size_t body = here();
    statement->body = parse_last("endblock");
    if (uses(names_since(body), "super")) {
      fail_at(statement->line, "the function 'super' is not supported");
    }
    skip_name(name.text);
  }

  void parse_jump(Statement* statement) {
    if (loops_ == 0) fail_at(statement->line, "'break' and 'continue' need a loop around them");
  }

  // --- Expressions

  static bool is_literal_name(std::string_view name) {
    return name == "true" || name == "false" || name == "none" || name == "True" ||
           name == "False" || name == "None";
  }
  void expect_assignable(const Token& name) const {
    if (is_literal_name(name.text)) fail_at(name.line, {"can't assign to '{}'", {name.text}});
  }

  // Parses the target of an assignment: variables, attributes of namespaces, and tuples of them.
  Expression* parse_target(std::string_view end = {}, bool has_namespaces = false) {
    const std::uint32_t line = peek().line;
    std::vector<Expression*> items;
    bool is_tuple = false;
    while (!is_tuple_end(end)) {
      items.push_back(parse_target_item(has_namespaces));
      if (!skip_symbol(",")) break;
      is_tuple = true;
    }
    if (items.empty()) {
      fail({"Expected an expression, got '{}'", {described(peek())}});
    }
    Expression* target =
        is_tuple ? make_items(NodeKind::tuple, line, std::move(items)) : items.front();
    expect_target(target);
    return target;
  }

  Expression* parse_target_item(bool has_namespaces) {
    const bool is_member = has_namespaces && peek().kind == TokenKind::name &&
                           !is_literal_name(peek().text) && peek(1).is_symbol(".");
    if (!is_member) return parse_primary();
    Expression* variable = make_variable(next(), Expression::Use::load);
    next();
    Expression* member = make(NodeKind::member, variable->line);
    member->value = Value(expect_any_name().text);
    member->second = variable;
    return member;
  }

  void expect_target(Expression* target) const {
    switch (target->kind) {
      case NodeKind::variable:
        target->use = Expression::Use::store;
        break;
      case NodeKind::tuple:
        for (Expression* item : target->items) expect_target(item);
        break;
      case NodeKind::member:
        break;
      default:
        fail_at(target->line, "can't assign to this expression");
    }
  }

  bool is_tuple_end(std::string_view end = {}) const {
    const Token& token = peek();
    return token.kind == TokenKind::print_end || token.kind == TokenKind::statement_end ||
           token.is_symbol(")") || (!end.empty() && token.is_name(end));
  }

  // Parses an expression, or a tuple without parentheses.
  Expression* parse_tuple(bool has_conditions = true, std::string_view end = {},
                          bool in_parentheses = false) {
    const std::uint32_t line = peek().line;
    std::vector<Expression*> items;
    bool is_tuple = false;
    while (!is_tuple_end(end)) {
      items.push_back(has_conditions ? parse_expression() : parse_operators(or_level));
      if (!skip_symbol(",")) break;
      is_tuple = true;
    }
    if (!is_tuple && !items.empty()) return items.front();
    if (items.empty() && !in_parentheses) {
      fail({"Expected an expression, got '{}'", {described(peek())}});
    }
    return make_items(NodeKind::tuple, line, std::move(items));
  }

  Expression* parse_expression() {
    const Nesting nesting(*this);
    const std::uint32_t line = peek().line;
    const std::size_t unknown = unknown_.size();
    Expression* value = parse_operators(or_level);
    while (skip_name("if")) {
      Expression* condition = parse_operators(or_level);
      Expression* other = skip_name("else") ? parse_expression() : nullptr;
      Expression* node = make(NodeKind::conditional, line);
      node->first = value;
      node->second = condition;
      node->third = other;
      for (const Expression* part : {value, condition, other}) contains(node, part);
      unknown_.resize(unknown);
      value = node;
    }
    return value;
  }

  const OperatorToken* operator_here() const {
    if (peek().kind != TokenKind::symbol) return nullptr;
    for (const OperatorToken& entry : operator_tokens) {
      if (peek().text == entry.text) return &entry;
    }
    return nullptr;
  }

  // Parses operators that bind at least as tightly as `level`.
  Expression* parse_operators(int level) {
    const std::uint32_t line = peek().line;
    Expression* left = nullptr;
    if (level <= not_level && skip_name("not")) {
      const Nesting nesting(*this);
      left = make_unary(NodeKind::logical_not, line, parse_operators(not_level));
    } else {
      left = parse_unary(true);
    }
    for (;;) {
      if (level <= or_level && skip_name("or")) {
        left = make_binary(NodeKind::logical_or, line, left, parse_operators(and_level));
      } else if (level <= and_level && skip_name("and")) {
        left = make_binary(NodeKind::logical_and, line, left, parse_operators(not_level));
      } else if (level <= compare_level && is_comparison()) {
        left = parse_comparison(left, line);
      } else if (level <= concat_level && peek().is_symbol("~")) {
        std::vector<Expression*> items{left};
        while (skip_symbol("~")) items.push_back(parse_operators(multiply_level));
        left = make_items(NodeKind::concatenation, line, std::move(items));
      } else if (const OperatorToken* found = operator_here();
                 found && found->level != compare_level && level <= found->level) {
        next();
        left = make_binary(NodeKind::binary, line, left, parse_operators(found->level + 1));
        left->operation = found->operation;
      } else {
        return left;
      }
    }
  }

  bool is_comparison() const {
    const OperatorToken* found = operator_here();
    return (found && found->level == compare_level) || peek().is_name("in") ||
           (peek().is_name("not") && peek(1).is_name("in"));
  }

  // Parses a < b < c: items are the operands behind the second, each with its operator.
  Expression* parse_comparison(Expression* left, std::uint32_t line) {
    Expression* node = make_chain(NodeKind::comparison, line, left);
    for (Expression* link = node; is_comparison();) {
      if (link->second) {
        link = make(NodeKind::comparison, line);
        node->items.push_back(link);
      }
      if (const OperatorToken* found = operator_here()) {
        link->operation = found->operation;
        next();
      } else if (skip_name("in")) {
        link->operation = Operator::in;
      } else {
        next();
        next();
        link->operation = Operator::not_in;
      }
      link->second = parse_operators(add_level);
      contains(node, link->second);
    }
    return node;
  }

  Expression* parse_unary(bool has_filters) {
    const std::uint32_t line = peek().line;
    Expression* node = nullptr;
    if (peek().is_symbol("-") || peek().is_symbol("+")) {
      const Nesting nesting(*this);
      const NodeKind kind = next().text == "-" ? NodeKind::negation : NodeKind::plus;
      node = make_unary(kind, line, parse_unary(false));
    } else {
      node = parse_primary();
    }
    node = parse_postfix(node);
    return has_filters ? parse_filter_chain(node) : node;
  }

  Expression* parse_primary() {
    const Token& token = peek();
    switch (token.kind) {
      case TokenKind::name:
        next();
        if (!is_literal_name(token.text)) return make_variable(token, Expression::Use::load);
        if (token.text == "none" || token.text == "None") return make_constant({}, token.line);
        return make_constant(token.text == "true" || token.text == "True", token.line);
      case TokenKind::string: {
        std::string text;
        while (peek().kind == TokenKind::string) text += next().text;
        return make_constant(Value(std::move(text)), token.line);
      }
      case TokenKind::integer:
        next();
        return make_constant(integer_of(token), token.line);
      case TokenKind::real:
        next();
        return make_constant(parse_float(token.text), token.line);
      default:
        break;
    }
    if (token.is_symbol("(")) {
      next();
      Expression* node = parse_tuple(true, {}, true);
      expect_symbol(")");
      return node;
    }
    if (token.is_symbol("[")) return parse_list();
    if (token.is_symbol("{")) return parse_dict();
    fail({"unexpected '{}'", {described(token)}});
  }

  Expression* make_constant(Value value, std::uint32_t line) {
    Expression* node = make(NodeKind::constant, line);
    node->value = std::move(value);
    return node;
  }

  static std::int64_t integer_of(const Token& token) {
    std::string_view digits = token.text;
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0' && digits[1] > '9') {
      const auto letter = static_cast<char>(digits[1] | 0x20);
      base = letter == 'b' ? 2 : letter == 'o' ? 8 : 16;
      digits.remove_prefix(2);
    }
    std::int64_t number = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (error != std::errc{}) {
      fail_at(token.line,
              {"integers of more than 64 bits are not supported: {}", {shortened(token.text, 40)}});
    }
    return number;
  }

  Expression* parse_list() {
    const std::uint32_t line = next().line;
    std::vector<Expression*> items;
    while (!peek().is_symbol("]")) {
      if (!items.empty()) expect_symbol(",");
      if (peek().is_symbol("]")) break;
      items.push_back(parse_expression());
    }
    expect_symbol("]");
    return make_items(NodeKind::list, line, std::move(items));
  }

  Expression* parse_dict() {
    const std::uint32_t line = next().line;
    std::vector<Expression*> items;
    while (!peek().is_symbol("}")) {
      if (!items.empty()) expect_symbol(",");
      if (peek().is_symbol("}")) break;
      items.push_back(parse_expression());
      expect_symbol(":");
      items.push_back(parse_expression());
    }
    expect_symbol("}");
    return make_items(NodeKind::dict, line, std::move(items));
  }

  Expression* parse_postfix(Expression* node) {
    for (;;) {
      if (peek().is_symbol(".") || peek().is_symbol("[")) {
        node = parse_subscript(node);
      } else if (peek().is_symbol("(")) {
        node = parse_call(node);
      } else {
        return node;
      }
    }
  }

  Expression* parse_filter_chain(Expression* node) {
    for (;;) {
      if (peek().is_symbol("|")) {
        node = parse_filters(node);
      } else if (peek().is_name("is")) {
        node = parse_test(node);
      } else if (peek().is_symbol("(")) {
        node = parse_call(node);
      } else {
        return node;
      }
    }
  }

  Expression* parse_subscript(Expression* node) {
    const Token& token = next();
    if (token.text == ".") {
      const Token& attribute = next();
      if (attribute.kind == TokenKind::name) {
        Expression* result = make_chain(NodeKind::attribute, token.line, node);
        result->value = Value(attribute.text);
        return result;
      }
      if (attribute.kind != TokenKind::integer) {
        fail_at(attribute.line, "expected name or number");
      }
      return make_binary(NodeKind::item, token.line, node,
                         make_constant(integer_of(attribute), attribute.line));
    }
    std::vector<Expression*> items;
    while (!peek().is_symbol("]")) {
      if (!items.empty()) expect_symbol(",");
      items.push_back(parse_index());
    }
    expect_symbol("]");
    Expression* index = nullptr;
    if (items.size() == 1) {
      index = items.front();
    } else {
      for (const Expression* item : items) {
        if (item->kind == NodeKind::slice) fail_at(token.line, "several slices are not supported");
      }
      index = make_items(NodeKind::tuple, token.line, std::move(items));
    }
    return make_binary(NodeKind::item, token.line, node, index);
  }

  Expression* parse_index() {
    const std::uint32_t line = peek().line;
    Expression* start = nullptr;
    if (!peek().is_symbol(":")) {
      start = parse_expression();
      if (!peek().is_symbol(":")) return start;
    }
    next();
    const auto is_end = [&] { return peek().is_symbol("]") || peek().is_symbol(","); };
    Expression* stop = peek().is_symbol(":") || is_end() ? nullptr : parse_expression();
    Expression* step = skip_symbol(":") && !is_end() ? parse_expression() : nullptr;
    return make_items(NodeKind::slice, line, {start, stop, step});
  }

  CallArguments* parse_arguments(Expression* node) {
    const std::uint32_t line = peek().line;
    CallArguments& arguments = program_.arguments.emplace_back();
    const auto expect_order = [&](bool is_right) {
      if (!is_right) fail_at(line, "invalid syntax for function call expression");
    };
    expect_symbol("(");
    bool is_first = true;
    while (!peek().is_symbol(")")) {
      if (!std::exchange(is_first, false)) {
        expect_symbol(",");
        if (peek().is_symbol(")")) break;
      }
      Expression* value = nullptr;
      if (skip_symbol("*")) {
        expect_order(!arguments.rest && !arguments.named_rest);
        value = arguments.rest = parse_expression();
      } else if (skip_symbol("**")) {
        expect_order(!arguments.named_rest);
        value = arguments.named_rest = parse_expression();
      } else if (peek().kind == TokenKind::name && peek(1).is_symbol("=")) {
        expect_order(!arguments.named_rest);
        const Token& name = next();
        for (const Keyword& other : arguments.named) {
          if (other.name.string() == name.text) {
            fail_at(name.line, {"keyword argument repeated: {}", {name.text}});
          }
        }
        next();
        value = parse_expression();
        arguments.named.push_back({Value(name.text), value});
      } else {
        expect_order(!arguments.rest && !arguments.named_rest && arguments.named.empty());
        value = parse_expression();
        arguments.positional.push_back(value);
      }
      contains(node, value);
    }
    expect_symbol(")");
    return &arguments;
  }

  Expression* parse_call(Expression* called) {
    Expression* node = make_chain(NodeKind::call, peek().line, called);
    node->arguments = parse_arguments(node);
    return node;
  }

  // Reads the name of a filter or test.
  Value parse_dotted_name() {
    std::string name = expect_any_name().text;
    while (skip_symbol(".")) name += '.' + expect_any_name().text;
    return Value(std::move(name));
  }

  [[noreturn]] static void fail_unknown(const Expression& node) {
    fail_at(node.line, {"No {} named '{}'.",
                        {node.kind == NodeKind::filter ? "filter" : "test", node.value.string()}});
  }

  void expect_known(Expression* node) {
    if (!node->builtin && !is_lenient_) unknown_.push_back(node);
  }

  // Parses |name(arguments)... behind an expression, which is null in filter blocks.
  Expression* parse_filters(Expression* node, bool starts_with_name = false) {
    while (peek().is_symbol("|") || starts_with_name) {
      if (!std::exchange(starts_with_name, false)) next();
      node = make_chain(NodeKind::filter, peek().line, node);
      node->value = parse_dotted_name();
      node->builtin = find_filter(node->value.string());
      if (peek().is_symbol("(")) node->arguments = parse_arguments(node);
      expect_known(node);
    }
    return node;
  }

  Expression* parse_test(Expression* tested) {
    const std::uint32_t line = next().line;
    const bool is_negated = skip_name("not");
    Expression* node = make_chain(NodeKind::test, line, tested);
    node->value = parse_dotted_name();
    node->builtin = find_test(node->value.string());
    const Token& token = peek();
    const bool starts_operand = (token.kind == TokenKind::name && token.text != "else" &&
                                 token.text != "or" && token.text != "and") ||
                                token.kind == TokenKind::string ||
                                token.kind == TokenKind::integer || token.kind == TokenKind::real ||
                                token.is_symbol("[") || token.is_symbol("{");
    if (token.is_symbol("(")) {
      node->arguments = parse_arguments(node);
    } else if (starts_operand) {
      if (token.is_name("is")) fail("You cannot chain multiple tests with is");
      Expression* operand = parse_postfix(parse_primary());
      contains(node, operand);
      node->arguments = &program_.arguments.emplace_back();
      node->arguments->positional.push_back(operand);
    }
    expect_known(node);
    return is_negated ? make_unary(NodeKind::logical_not, line, node) : node;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t nesting_ = 0;
  std::size_t loops_ = 0;  // around the current statement
  bool is_lenient_ = false;
  std::vector<Expression*> unknown_;  // filters and tests
  std::vector<std::string> blocks_;
  Dict name_indices_;
  Program& program_;
};

}  // namespace

void parse(std::string_view source, Program& program) { Parser(source, program).run(); }

}  // namespace glassformer::jinja
