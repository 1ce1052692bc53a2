#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/builtins.hpp"
#include "jinja/rendering.hpp"
#include "jinja/syntax_tree.hpp"
#include "jinja/template.hpp"

namespace glassformer::jinja {

/// The variables of a function while it runs. Macros that are made in it may keep it alive until
/// the end of the rendering.
struct Activation {
  Activation(const Function& code, Activation* outer, Memory& counted)
      : parent(outer), slots(code.slots, Value::missing()), memory(counted) {
    memory.used += bytes();
  }
  Activation(const Activation&) = delete;
  Activation& operator=(const Activation&) = delete;
  ~Activation() { memory.used -= bytes(); }

  std::size_t bytes() const { return sizeof(Activation) + slots.size() * sizeof(Value); }

  Activation* parent;
  std::vector<Value> slots;
  bool is_captured = false;
  Memory& memory;
};

/// Yields values one after the other, once.
struct Iterator : Object {
  /// Sets `item` to the next value, or returns false after the last.
  virtual bool next(Evaluator& evaluator, Value& item) = 0;
};

struct Macro : Object {
  const MacroCode* code;
  const Statement* statement;  // the body
  Activation* outer;
};

struct Method : Object {
  Value object;
  const Builtin* method;
};

struct GlobalFunction : Object {
  const Builtin* function;
};

/// The variable `loop`.
struct Loop : Object {
  const Statement* statement;
  Activation* activation;    ///< of the body, or null after the loop
  Activation* outer;         ///< of a recursive loop
  Value source;              ///< an iterator
  std::int64_t length = -1;  ///< -1 if it is not yet known
  std::int64_t index0 = -1;
  std::int64_t depth0 = 0;
  Value before = Value::missing(), current = Value::missing(), after = Value::missing();
  Value changed = Value::missing();  ///< the last arguments of loop.changed()
  std::vector<Value> pending;        ///< items that were read to know the length
  std::size_t next_pending = 0;
};

enum class Flow : std::uint8_t { normal, broken, continued };

/// Runs a template once. Builtins use it to look up attributes, to call, and to iterate.
class Evaluator : public Rendering {
 public:
  Evaluator(const Program& program, const Value& variables, const RenderOptions& options);
  ~Evaluator();

  std::string run();

  const DateTime& now() const { return now_; }

  /// Return object.name and object[key], or an undefined value.
  Value attribute(const Value& object, const Value& name);
  Value item(const Value& object, const Value& key);
  /// Returns the attribute, or missing if the object has none of this name.
  Value own_attribute(const Value& object, const Value& name);

  Value call(const Value& called, Arguments arguments);
  /// Calls a filter, a test or a method of `object`.
  Value call_builtin(const Builtin& builtin, const Value& object, Arguments arguments);
  /// Return the filter or test with a name. Fail if there is none.
  const Builtin& filter_named(std::string_view name);
  const Builtin& test_named(std::string_view name);

  /// Returns an iterator over the value. Fails if it cannot be iterated.
  Value iterate(const Value& iterable);
  /// Returns an iterator in the reverse order, or missing if the value has none.
  Value iterate_backwards(const Value& iterable);
  bool next(const Value& iterator, Value& item);
  /// Returns all items of an iterable.
  std::vector<Value> items_of(const Value& iterable);

  /// Returns a + b, a * b and so on.
  Value operate(Operator operation, const Value& left, const Value& right);
  /// Returns the character of a text at an index that it has.
  Value character(const Value& text, std::size_t index);
  /// Returns whether left < right, left == right and so on.
  bool holds(Operator operation, const Value& left, const Value& right);
  bool contains(const Value& container, const Value& wanted);

  std::string text(const Value& value) { return text_of(*this, value); }
  Value undefined(Value name, const char* owner = nullptr, bool is_unsafe = false);
  Value undefined_because(std::string message);

  /// Returns a text that is marked as HTML if `like` is.
  Value string_like(const Value& like, std::string text) {
    return is_markup(like) ? markup(std::move(text)) : string(std::move(text));
  }

  /// Python's integer and index arguments. Fail with the type if the value is of another.
  std::int64_t integer_of(const Value& value);

 private:
  class Call;
  class Capture;

  Value evaluate(const Expression& expression);
  Value evaluate_chain(const Expression& expression);
  Value apply(const Expression& link, Value value);
  Value apply_builtin(const Expression& link, const Value& value);
  Value apply_item(const Expression& link, const Value& value);
  bool apply_comparison(const Expression& link, Value left);
  Value variable(const Expression& expression);
  Value& slot(Address address);
  Value resolve(std::uint32_t name);
  std::vector<Value> evaluate_all(const std::vector<Expression*>& expressions);
  Value evaluate_dict(const Expression& expression);
  Value negated(const Value& value, bool is_plus);
  Value slice(const Value& object, const Expression& bounds);
  Arguments evaluate_arguments(const CallArguments* arguments);

  Flow run_body(const std::vector<Statement*>& body);
  Flow run_statement(const Statement& statement);
  Flow run_condition(const Statement& statement);
  Flow run_loop(const Statement& statement, const Value& iterable, std::int64_t depth0,
                Activation* outer);
  Flow run_items(const Statement& statement, const Value& iterator, const Value& loop_value);
  Flow run_capture(const Statement& statement);
  Flow run_with(const Statement& statement);
  void run_call_block(const Statement& statement);
  void run_block(const Statement& statement);
  void enter(const Scope& scope);
  void assign(const Expression& target, const Value& value);
  void assign_member(const Expression& target, const Value& value);
  void write(std::string_view text);
  void write_joined(const Value& value);

  bool pull(const Statement& statement, const Value& iterator, Value& item);
  bool pull(Loop& loop, Value& item);
  bool peek(Loop& loop);
  std::int64_t length_of_loop(Loop& loop);
  Value bind_and_call(const Builtin& builtin, const Value* object, Arguments arguments);
  Value loop_attribute(const Value& object, std::string_view name);
  Value macro_attribute(const Macro& macro, std::string_view name);

  Value make_macro(const Statement& statement);
  static void capture(Activation* activation);
  Value call_macro(const Macro& macro, Arguments& arguments);
  Value call_loop(const Loop& loop, const Arguments& arguments);
  void bind_parameters(const Macro& macro, Arguments& arguments);

  const Program& program_;
  const Value& variables_;
  DateTime now_;
  Activation* main_ = nullptr;
  Activation* activation_ = nullptr;
  std::string* output_ = nullptr;
  std::size_t buffered_ = 0;                       // bytes of all outputs and captures
  std::vector<const Expression*> spine_;           // of the chains that are being evaluated
  std::vector<std::unique_ptr<Activation>> kept_;  // captured
  std::vector<Value> mutable_;                     // objects that could contain themselves

 public:
  /// Remembers an object that templates can change, so that it is emptied at the end.
  void keep(const Value& value) { mutable_.push_back(value); }
  bool have_changed(Loop& loop, Value values);
};

/// Python's format(value, specification), format string % values and string.format(arguments).
std::string format_value(Evaluator& evaluator, const Value& value, std::string_view specification);
std::string format_percent(Evaluator& evaluator, std::string_view format, const Value& values);
std::string format_braces(Evaluator& evaluator, std::string_view format,
                          const Arguments& arguments);
/// Python's datetime.strftime.
std::string format_time(Evaluator& evaluator, const DateTime& time, std::string_view format);

}  // namespace glassformer::jinja
