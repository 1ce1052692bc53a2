#include "jinja/scopes.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace glassformer::jinja {
namespace {

// Where the first value of a variable in a scope comes from.
enum class Origin : std::uint8_t { unknown, parameter, context, outer, nothing };

struct Symbol {
  Origin origin = Origin::unknown;
  bool is_stored = false;
};
using Symbols = std::vector<Symbol>;  // by name

// The variables of a scope.
struct Frame {
  Frame(Frame* outer, Function* code, std::size_t names)
      : parent(outer), function(code), symbols(names), slots(names) {}

  Frame* parent;
  Function* function;
  Symbols symbols;
  std::vector<std::uint32_t> slots;  // by name: the slot plus 1, or 0
};

class Binder {
 public:
  explicit Binder(Program& program) : program_(program) {}

  void run() {
    program_.main = make_function(nullptr);
    Frame frame = make_frame(nullptr, program_.main);
    visit_body(frame, program_.body);
    finish(frame, program_.scope);
    program_.stored.resize(program_.names.size());
    for (std::size_t name = 0; name < program_.names.size(); ++name) {
      if (frame.symbols[name].is_stored) program_.stored[name] = frame.slots[name];
    }
    bind_body(frame, program_.body);
  }

 private:
  using Body = std::vector<Statement*>;

  Function* make_function(Function* parent) {
    Function& function = program_.functions.emplace_back();
    function.parent = parent;
    function.level = parent ? parent->level + 1 : 0;
    return &function;
  }
  Frame make_frame(Frame* parent, Function* function) const {
    return {parent, function, program_.names.size()};
  }

  // --- The variables of a scope

  static const Frame* owner_of(const Frame& frame, std::uint32_t name) {
    const Frame* owner = &frame;
    while (owner && owner->symbols[name].origin == Origin::unknown) owner = owner->parent;
    return owner;
  }
  static bool is_known_outside(const Frame& frame, std::uint32_t name) {
    return frame.parent && owner_of(*frame.parent, name);
  }

  static void define(Frame& frame, std::uint32_t name, Origin origin) {
    frame.symbols[name].origin = origin;
    if (frame.slots[name] == 0) frame.slots[name] = ++frame.function->slots;
  }
  static void load(Frame& frame, std::uint32_t name) {
    if (!owner_of(frame, name)) define(frame, name, Origin::context);
  }
  static void store(Frame& frame, std::uint32_t name) {
    frame.symbols[name].is_stored = true;
    if (frame.symbols[name].origin != Origin::unknown) return;
    define(frame, name, is_known_outside(frame, name) ? Origin::outer : Origin::nothing);
  }
  static void declare(Frame& frame, std::uint32_t name) {
    frame.symbols[name].is_stored = true;
    define(frame, name, Origin::parameter);
  }

  // Visits the variables that are read, and those that are set if `has_targets`.
  void visit(Frame& frame, Names names, bool has_targets = false) const {
    for (std::size_t i = names.begin; i < names.end; ++i) {
      const Expression& variable = *program_.occurrences[i];
      if (variable.use == Expression::Use::load) {
        load(frame, variable.name);
      } else if (has_targets) {
        store(frame, variable.name);
      }
    }
  }
  void declare_all(Frame& frame, Names names) const {
    for (std::size_t i = names.begin; i < names.end; ++i) {
      const Expression& variable = *program_.occurrences[i];
      if (variable.use != Expression::Use::load) declare(frame, variable.name);
    }
  }

  void visit_body(Frame& frame, const Body& body) const {
    for (const Statement* statement : body) visit_statement(frame, *statement);
  }

  void visit_statement(Frame& frame, const Statement& statement) const {
    using What = Statement::Kind;
    switch (statement.kind) {
      case What::condition:
        visit_condition(frame, statement);
        break;
      case What::assignment:
        visit(frame, statement.value_names);
        visit(frame, statement.target_names, true);
        break;
      case What::capture:
        visit(frame, statement.target_names, true);
        break;
      case What::macro:
        store(frame, statement.target->name);
        break;
      default:
        visit(frame, statement.value_names);
    }
  }

  void visit_condition(Frame& frame, const Statement& statement) const {
    visit(frame, statement.value_names);
    const Symbols before = frame.symbols;
    Symbols merged = before;
    const auto visit_branch = [&](const auto& visit_it) {
      frame.symbols = before;
      visit_it();
      for (std::size_t name = 0; name < before.size(); ++name) {
        const Symbol& symbol = frame.symbols[name];
        if (symbol.origin != Origin::unknown) merged[name].origin = symbol.origin;
        merged[name].is_stored |= symbol.is_stored;
      }
    };
    visit_branch([&] { visit_body(frame, statement.body); });
    visit_branch([&] {
      for (const Statement* branch : statement.branches) visit_condition(frame, *branch);
    });
    visit_branch([&] { visit_body(frame, statement.otherwise); });
    frame.symbols = std::move(merged);
    // A variable that only a branch sets keeps its value in the others.
    for (std::uint32_t name = 0; name < before.size(); ++name) {
      if (!frame.symbols[name].is_stored || before[name].is_stored) continue;
      frame.symbols[name].origin = is_known_outside(frame, name) ? Origin::outer : Origin::context;
    }
  }

  // --- The addresses of variables

  static Address address_of(const Frame& frame, std::uint32_t name) {
    const Frame* owner = owner_of(frame, name);
    return {frame.function->level - owner->function->level, owner->slots[name] - 1};
  }

  // Completes a scope whose variables are known.
  static void finish(const Frame& frame, Scope& scope) {
    for (std::uint32_t name = 0; name < frame.symbols.size(); ++name) {
      const std::uint32_t slot = frame.slots[name] - 1;
      switch (frame.symbols[name].origin) {
        case Origin::unknown:
        case Origin::parameter:
          break;
        case Origin::context:
          scope.loads.push_back({Load::From::context, slot, name, {}});
          break;
        case Origin::outer: {
          Address outer = address_of(*frame.parent, name);
          outer.hops += frame.function->level - frame.parent->function->level;
          scope.loads.push_back({Load::From::outer, slot, name, outer});
          break;
        }
        case Origin::nothing:
          scope.loads.push_back({Load::From::nothing, slot, name, {}});
          break;
      }
    }
  }

  enum class Which : std::uint8_t { all, loaded, set };

  void bind(const Frame& frame, Names names, Which which = Which::all) {
    for (std::size_t i = names.begin; i < names.end; ++i) {
      Expression& variable = *program_.occurrences[i];
      const bool is_loaded = variable.use == Expression::Use::load;
      if (which != Which::all && is_loaded != (which == Which::loaded)) continue;
      variable.address = address_of(frame, variable.name);
    }
  }

  void bind_body(Frame& frame, const Body& body) {
    for (Statement* statement : body) bind_statement(frame, *statement);
  }

  void bind_statement(Frame& frame, Statement& statement) {
    using What = Statement::Kind;
    switch (statement.kind) {
      case What::data:
      case What::break_loop:
      case What::continue_loop:
        break;
      case What::output:
        bind(frame, statement.value_names);
        break;
      case What::condition:
        bind(frame, statement.value_names);
        bind_body(frame, statement.body);
        for (Statement* branch : statement.branches) bind_statement(frame, *branch);
        bind_body(frame, statement.otherwise);
        break;
      case What::loop:
        bind_loop(frame, statement);
        break;
      case What::assignment:
        bind(frame, statement.value_names);
        bind(frame, statement.target_names);
        break;
      case What::capture:
        bind(frame, statement.target_names);
        bind_inner(frame, statement, statement.value_names);
        break;
      case What::filter_block:
        bind_inner(frame, statement, statement.value_names);
        break;
      case What::macro:
        statement.target->address = address_of(frame, statement.target->name);
        bind_macro(frame, statement);
        break;
      case What::call_block:
        bind(frame, statement.value_names);
        bind_macro(frame, statement);
        break;
      case What::generation:
        bind_macro(frame, statement);
        break;
      case What::with:
        bind_with(frame, statement);
        break;
      case What::block:
        bind_block(statement);
        break;
    }
  }

  // Binds a body with its own scope, and names that are read in it.
  void bind_inner(Frame& frame, Statement& statement, Names names) {
    Frame inner = make_frame(&frame, frame.function);
    visit_body(inner, statement.body);
    visit(inner, names);
    finish(inner, statement.scope);
    bind(inner, names);
    bind_body(inner, statement.body);
  }

  void bind_loop(Frame& frame, Statement& statement) {
    bind(frame, statement.value_names);
    Function* function = frame.function;
    if (statement.is_recursive) function = statement.function = make_function(frame.function);
    Frame inner = make_frame(&frame, function);
    const std::uint32_t loop = statement.uses_loop ? index_of("loop") : 0;
    if (statement.uses_loop) declare(inner, loop);
    declare_all(inner, statement.target_names);
    visit_body(inner, statement.body);
    finish(inner, statement.scope);
    if (statement.uses_loop) statement.loop = address_of(inner, loop);
    if (statement.test) {
      // The test sees the target, but no other variable of the loop.
      Frame test = make_frame(&frame, function);
      declare_all(test, statement.target_names);
      for (std::size_t i = statement.target_names.begin; i < statement.target_names.end; ++i) {
        const std::uint32_t name = program_.occurrences[i]->name;
        test.slots[name] = inner.slots[name];
      }
      visit(test, statement.test_names);
      finish(test, statement.test_scope);
      bind(test, statement.test_names);
    }
    bind(inner, statement.target_names);
    bind_body(inner, statement.body);
    Frame other = make_frame(&frame, function);
    visit_body(other, statement.otherwise);
    finish(other, statement.other_scope);
    bind_body(other, statement.otherwise);
  }

  void bind_macro(Frame& frame, Statement& statement) {
    MacroCode& macro = *statement.macro;
    macro.function = make_function(frame.function);
    Frame inner = make_frame(&frame, macro.function);
    for (const Parameter& parameter : macro.parameters) declare(inner, parameter.variable->name);
    for (const Parameter& parameter : macro.parameters) visit(inner, parameter.names);
    visit_body(inner, statement.body);
    const auto declare_special = [&](bool is_taken, std::string_view name, Address& address) {
      if (!is_taken) return;
      declare(inner, index_of(name));
      address = address_of(inner, index_of(name));
    };
    declare_special(macro.takes_caller && !macro.has_caller_parameter, "caller", macro.caller);
    declare_special(macro.takes_keywords, "kwargs", macro.keywords);
    declare_special(macro.takes_rest, "varargs", macro.rest);
    finish(inner, statement.scope);
    for (const Parameter& parameter : macro.parameters) {
      parameter.variable->address = address_of(inner, parameter.variable->name);
      bind(inner, parameter.names);
    }
    bind_body(inner, statement.body);
  }

  void bind_with(Frame& frame, Statement& statement) {
    bind(frame, statement.value_names, Which::loaded);
    Frame inner = make_frame(&frame, frame.function);
    declare_all(inner, statement.value_names);
    visit_body(inner, statement.body);
    finish(inner, statement.scope);
    bind(inner, statement.value_names, Which::set);
    bind_body(inner, statement.body);
  }

  void bind_block(Statement& statement) {
    statement.function = make_function(nullptr);
    statement.function->is_block = true;
    Frame inner = make_frame(nullptr, statement.function);
    visit_body(inner, statement.body);
    finish(inner, statement.scope);
    bind_body(inner, statement.body);
  }

  std::uint32_t index_of(std::string_view name) const {
    std::uint32_t index = 0;
    while (program_.names[index].string() != name) ++index;
    return index;
  }

  Program& program_;
};

}  // namespace

void bind_variables(Program& program) { Binder(program).run(); }

}  // namespace glassformer::jinja
