#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string_view>
#include <vector>

#include "jinja/value.hpp"

// The syntax tree of a template. The program owns all nodes, so that deleting a deep tree needs no
// recursion.

namespace glassformer::jinja {

struct Builtin;

/// Where a variable is: in a slot of the current call, or of the call that is `hops` functions
/// further out.
struct Address {
  std::uint32_t hops = 0;
  std::uint32_t slot = 0;
};

/// The names of the variables from `begin` to `end` in Program::occurrences.
struct Names {
  std::size_t begin = 0, end = 0;
};

struct Expression;

struct Keyword {
  Value name;
  Expression* value;
};

struct CallArguments {
  std::vector<Expression*> positional;
  std::vector<Keyword> named;
  Expression* rest = nullptr;        ///< *rest
  Expression* named_rest = nullptr;  ///< **named_rest
};

enum class Operator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in,
};

struct Expression {
  enum class Kind : std::uint8_t {
    constant,       ///< value
    variable,       ///< name, address
    list,           ///< items
    tuple,          ///< items
    dict,           ///< items: keys and values in turn
    negation,       ///< -second
    plus,           ///< +second
    logical_not,    ///< not second
    concatenation,  ///< the texts of items
    conditional,    ///< first if second else third, which may be null
    slice,          ///< items: start, stop and step, each of which may be null
    member,         ///< a target: the attribute `value` of the namespace in `name`, `address`

    // These begin with their first operand, so that they form long chains.
    binary,       ///< first operation second
    logical_and,  ///< first and second
    logical_or,   ///< first or second
    comparison,   ///< first operation second, then chain
    attribute,    ///< first.value
    item,         ///< first[second]
    call,         ///< first(arguments)
    filter,       ///< first|value(arguments); first is null in filter blocks
    test,         ///< first is value(arguments)
  };
  bool is_chain() const { return kind >= Kind::binary && first != nullptr; }

  enum class Use : std::uint8_t { load, store, parameter };

  Kind kind;
  Operator operation = Operator::add;
  Use use = Use::load;      ///< of a variable
  std::uint16_t depth = 0;  ///< of the tree, where a chain counts once
  std::uint32_t line = 0;
  std::uint32_t name = 0;  ///< its index in Program::names
  Address address;
  Value value;
  Expression* first = nullptr;
  Expression* second = nullptr;
  Expression* third = nullptr;
  std::vector<Expression*> items;
  CallArguments* arguments = nullptr;
  const Builtin* builtin = nullptr;  ///< of filters and tests; null if there is none of this name
};

/// What a variable gets when the code of a scope starts.
struct Load {
  enum class From : std::uint8_t {
    context,  ///< the value among the variables of the rendering and the global functions
    outer,    ///< the value of the variable with this name in the scope around this one
    nothing,
  };
  From from;
  std::uint32_t slot;
  std::uint32_t name;
  Address outer;
};

struct Scope {
  std::vector<Load> loads;
};

/// Code with variables of its own: the template, a macro, the body of a call block or of a
/// recursive loop, or a block.
struct Function {
  Function* parent = nullptr;
  std::uint32_t level = 0;  ///< the number of functions around it
  std::uint32_t slots = 0;  ///< the number of its variables
  bool is_block = false;
};

struct Parameter {
  Expression* variable;
  Expression* fallback;  ///< the default, or null
  Names names;           ///< of the default
};

/// A macro or the body of a call block.
struct MacroCode {
  Value name;
  std::vector<Parameter> parameters;
  // Special parameters that the body uses.
  bool takes_caller = false;
  bool takes_keywords = false;
  bool takes_rest = false;
  bool has_caller_parameter = false;
  Address caller, keywords, rest;
  Function* function = nullptr;
};

struct Statement {
  enum class Kind : std::uint8_t {
    data,          ///< text
    output,        ///< value
    condition,     ///< if value: body, else: branches in turn, then otherwise
    loop,          ///< for target in value if test: body, else: otherwise
    assignment,    ///< set target = value
    capture,       ///< set target: body, with the filters in value
    macro,         ///< macro, body
    call_block,    ///< call value: macro, body
    generation,    ///< macro, body
    filter_block,  ///< value, body
    with,          ///< bindings, body
    block,         ///< body
    break_loop,
    continue_loop,
  };
  struct Binding {
    Expression* target;
    Expression* value;
  };

  Kind kind;
  bool is_recursive = false;
  bool uses_loop = false;  ///< whether the variable `loop` occurs in the body
  std::uint32_t line = 0;
  Value text;
  Expression* target = nullptr;
  Expression* value = nullptr;
  Expression* test = nullptr;
  Names target_names, value_names, test_names, body_names;
  std::vector<Statement*> body, branches, otherwise;
  std::vector<Binding> bindings;
  MacroCode* macro = nullptr;
  Function* function = nullptr;  ///< of a recursive loop or a block
  Address loop;                  ///< the variable `loop`
  Scope scope, test_scope, other_scope;
};

/// A compiled template.
struct Program {
  std::vector<Value> names;  ///< of variables
  std::list<Expression> expressions;
  std::list<CallArguments> arguments;
  std::list<Statement> statements;
  std::list<MacroCode> macros;
  std::list<Function> functions;
  std::vector<Expression*> occurrences;  ///< of variables, in the order of the source
  std::vector<Statement*> body;
  Function* main = nullptr;
  Scope scope;
  std::vector<std::uint32_t> stored;  ///< by name: the slot of a variable of the template plus 1,
                                      ///< for blocks; 0 if the template does not set it
};

}  // namespace glassformer::jinja
