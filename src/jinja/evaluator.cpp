#include "jinja/evaluator.hpp"

#include <algorithm>
#include <utility>

#include "jinja/letters.hpp"

namespace glassformer::jinja {

using Node = Expression::Kind;

namespace {

// Makes space for so many more items, which then can be added without an error.
void reserve_more(auto& items, std::size_t count) {
  if (items.capacity() - items.size() < count) items.reserve(2 * items.size() + count);
}

}  // namespace

// Redirects the output into a text.
class Evaluator::Capture {
 public:
  explicit Capture(Evaluator& evaluator)
      : evaluator_(evaluator), output_(std::exchange(evaluator.output_, &text_)) {}
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    evaluator_.output_ = output_;
    evaluator_.buffered_ -= text_.size();
  }

  Value take() {
    evaluator_.buffered_ -= text_.size();
    Value value = evaluator_.string(std::move(text_));
    text_.clear();
    return value;
  }

 private:
  Evaluator& evaluator_;
  std::string text_;
  std::string* output_;
};

// Runs code in an activation of its own.
class Evaluator::Call {
 public:
  Call(Evaluator& evaluator, const Function& function, Activation* outer)
      : evaluator_(evaluator),
        own_(std::make_unique<Activation>(function, outer, evaluator.memory_)),
        caller_(std::exchange(evaluator.activation_, own_.get())) {
    reserve_more(evaluator.kept_, evaluator.depth + 1);
    evaluator.expect_space(0);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    evaluator_.activation_ = caller_;
    if (own_->is_captured) evaluator_.kept_.push_back(std::move(own_));
  }

 private:
  Evaluator& evaluator_;
  std::unique_ptr<Activation> own_;
  Activation* caller_;
};

Evaluator::Evaluator(const Program& program, const Value& variables, const RenderOptions& options)
    : Rendering(options.limits), program_(program), variables_(variables), now_(options.now) {}

Evaluator::~Evaluator() {
  // Objects that templates can change may contain each other. Every object is emptied while
  // `mutable_` still refers to all of them, so that deleting them needs no recursion.
  for (const Value& value : mutable_) {
    if (value.is(Kind::name_space)) {
      value.object<NameSpace>().attributes = {};
    } else {
      auto& loop = value.object<Loop>();
      loop.changed = {};
      loop.source = {};
      loop.before = loop.current = loop.after = {};
      loop.pending.clear();
    }
  }
}

std::string Evaluator::run() {
  std::string output;
  output_ = &output;
  Activation main(*program_.main, nullptr, memory_);
  main_ = activation_ = &main;
  enter(program_.scope);
  run_body(program_.body);
  return output;
}

// --- Variables

Value& Evaluator::slot(Address address) {
  Activation* activation = activation_;
  for (std::uint32_t i = 0; i < address.hops; ++i) activation = activation->parent;
  return activation->slots[address.slot];
}

Value Evaluator::resolve(std::uint32_t name) {
  if (program_.stored[name] != 0) {
    const Value& value = main_->slots[program_.stored[name] - 1];
    if (!value.is_missing()) return value;
  }
  const std::string_view text = program_.names[name].string();
  if (const Value* value = variables_.entries().find(text)) return *value;
  if (const Builtin* function = find_function(text)) {
    auto* global = new GlobalFunction;
    global->function = function;
    return own(Kind::function, global, sizeof(GlobalFunction), 0);
  }
  return Value::missing();
}

Value Evaluator::variable(const Expression& expression) {
  line = expression.line;
  step();
  const Value& value = slot(expression.address);
  if (value.is_missing()) return undefined(program_.names[expression.name]);
  return value;
}

void Evaluator::enter(const Scope& scope) {
  step(scope.loads.size() / 8);
  for (const Load& load : scope.loads) {
    Value value = Value::missing();
    if (load.from == Load::From::context) value = resolve(load.name);
    if (load.from == Load::From::outer) value = slot(load.outer);
    activation_->slots[load.slot] = std::move(value);
  }
}

void Evaluator::assign(const Expression& target, const Value& value) {
  if (target.kind == Node::variable) {
    slot(target.address) = value;
    return;
  }
  if (target.kind == Node::member) {
    assign_member(target, value);
    return;
  }
  const Value iterator = iterate(value);
  std::vector<Value> items;
  for (Value each; next(iterator, each);) {
    if (items.size() == target.items.size()) {
      fail({"too many values to unpack (expected {})", {target.items.size()}});
    }
    items.push_back(std::move(each));
  }
  if (items.size() < target.items.size()) {
    fail(
        {"not enough values to unpack (expected {}, got {})", {target.items.size(), items.size()}});
  }
  for (std::size_t i = 0; i < items.size(); ++i) assign(*target.items[i], items[i]);
}

void Evaluator::assign_member(const Expression& target, const Value& value) {
  const Value& object = slot(target.second->address);
  if (!object.is(Kind::name_space)) fail("cannot assign attribute on non-namespace object");
  auto& attributes = object.object<NameSpace>().attributes.object<Dict>();
  attributes.set(*this, target.value, value);
  attributes.depth = 1;  // namespaces may contain themselves
  expect_space(sizeof(Dict::Entry));
}

Value Evaluator::undefined(Value name, const char* owner, bool is_unsafe) {
  auto* object = new Undefined;
  object->name = std::move(name);
  object->owner = owner;
  object->is_unsafe = is_unsafe;
  return own(Kind::undefined, object, sizeof(Undefined), 0);
}

Value Evaluator::undefined_because(std::string message) {
  auto* object = new Undefined;
  object->message = std::move(message);
  return own(Kind::undefined, object, sizeof(Undefined), 0);
}

// --- Expressions

Value Evaluator::evaluate(const Expression& expression) {
  if (expression.kind == Node::constant) return expression.value;
  if (expression.kind == Node::variable) return variable(expression);
  const Level level(*this);
  step();
  if (expression.is_chain()) return evaluate_chain(expression);
  line = expression.line;
  switch (expression.kind) {
    case Node::list:
      return list(evaluate_all(expression.items));
    case Node::tuple:
      return tuple(evaluate_all(expression.items));
    case Node::dict:
      return evaluate_dict(expression);
    case Node::negation:
      return negated(evaluate(*expression.second), false);
    case Node::plus:
      return negated(evaluate(*expression.second), true);
    case Node::logical_not:
      return !is_true(evaluate(*expression.second));
    case Node::concatenation: {
      std::string text;
      for (const Expression* item : expression.items) {
        text += text_of(*this, evaluate(*item));
        expect_space(text.size());
      }
      return string(std::move(text));
    }
    case Node::conditional:
      if (is_true(evaluate(*expression.second))) return evaluate(*expression.first);
      if (expression.third) return evaluate(*expression.third);
      return undefined_because("the inline if-expression on line " +
                               std::to_string(expression.line) +
                               " evaluated to false and no else section was defined.");
    default:
      fail(ErrorCode::internal, "unexpected expression");
  }
}

// Chains such as a.b.c or a + b + c are as long as a template likes, so their first operands are
// evaluated without recursion.
Value Evaluator::evaluate_chain(const Expression& expression) {
  const std::size_t begin = spine_.size();
  const Expression* link = &expression;
  for (; link->is_chain(); link = link->first) spine_.push_back(link);
  Value value = evaluate(*link);
  while (spine_.size() > begin) {
    link = spine_.back();
    spine_.pop_back();
    step();
    line = link->line;
    value = apply(*link, std::move(value));
  }
  return value;
}

Value Evaluator::apply(const Expression& link, Value value) {
  switch (link.kind) {
    case Node::logical_and:
      return is_true(value) ? evaluate(*link.second) : value;
    case Node::logical_or:
      return is_true(value) ? value : evaluate(*link.second);
    case Node::binary: {
      const Value right = evaluate(*link.second);
      line = link.line;
      return operate(link.operation, value, right);
    }
    case Node::comparison:
      return apply_comparison(link, std::move(value));
    case Node::attribute:
      return attribute(value, link.value);
    case Node::item:
      return apply_item(link, value);
    case Node::call: {
      Arguments arguments = evaluate_arguments(link.arguments);
      line = link.line;
      return call(value, std::move(arguments));
    }
    case Node::filter:
    case Node::test:
      return apply_builtin(link, value);
    default:
      fail(ErrorCode::internal, "unexpected link");
  }
}

Value Evaluator::apply_builtin(const Expression& link, const Value& value) {
  if (!link.builtin) {
    fail({"No {} named '{}' found.",
          {link.kind == Node::filter ? "filter" : "test", link.value.string()}});
  }
  Arguments arguments = evaluate_arguments(link.arguments);
  line = link.line;
  return call_builtin(*link.builtin, value, std::move(arguments));
}

Value Evaluator::apply_item(const Expression& link, const Value& value) {
  if (link.second->kind == Node::slice) return slice(value, *link.second);
  const Value key = evaluate(*link.second);
  line = link.line;
  return item(value, key);
}

bool Evaluator::apply_comparison(const Expression& link, Value left) {
  Value right = evaluate(*link.second);
  line = link.line;
  if (!holds(link.operation, left, right)) return false;
  for (const Expression* more : link.items) {
    left = std::move(right);
    right = evaluate(*more->second);
    line = link.line;
    if (!holds(more->operation, left, right)) return false;
  }
  return true;
}

bool Evaluator::holds(Operator operation, const Value& left, const Value& right) {
  switch (operation) {
    case Operator::equal:
      return are_equal(*this, left, right);
    case Operator::unequal:
      return !are_equal(*this, left, right);
    case Operator::less:
      return compare(*this, left, right, "<") == -1;
    case Operator::greater:
      return compare(*this, left, right, ">") == 1;
    case Operator::less_equal: {
      const int order = compare(*this, left, right, "<=");
      return order == -1 || order == 0;
    }
    case Operator::greater_equal: {
      const int order = compare(*this, left, right, ">=");
      return order == 1 || order == 0;
    }
    case Operator::in:
      return contains(right, left);
    case Operator::not_in:
      return !contains(right, left);
    default:
      fail(ErrorCode::internal, "unexpected operator");
  }
}

std::vector<Value> Evaluator::evaluate_all(const std::vector<Expression*>& expressions) {
  expect_space(expressions.size() * sizeof(Value));
  std::vector<Value> values;
  values.reserve(expressions.size());
  for (const Expression* expression : expressions) values.push_back(evaluate(*expression));
  return values;
}

Value Evaluator::evaluate_dict(const Expression& expression) {
  auto dict = std::make_unique<Dict>();
  for (std::size_t i = 0; i < expression.items.size(); i += 2) {
    Value key = evaluate(*expression.items[i]);
    Value value = evaluate(*expression.items[i + 1]);
    line = expression.line;
    dict->set(*this, std::move(key), std::move(value));
    expect_space(dict->entries.size() * sizeof(Dict::Entry));
  }
  return own(dict.release());
}

Value Evaluator::negated(const Value& value, bool is_plus) {
  if (value.is_undefined()) fail(undefined_message(value));
  if (value.is(Kind::real)) return is_plus ? value.real() : -value.real();
  if (!value.is_integral()) {
    fail({"bad operand type for unary {}: '{}'", {is_plus ? "+" : "-", type_name(value)}});
  }
  if (is_plus) return value.integer();
  return operate(Operator::subtract, std::int64_t{0}, value);
}

Arguments Evaluator::evaluate_arguments(const CallArguments* given) {
  Arguments arguments;
  if (!given) return arguments;
  for (const Expression* argument : given->positional) {
    arguments.positional.push_back(evaluate(*argument));
  }
  for (const Keyword& keyword : given->named) {
    arguments.named.emplace_back(keyword.name, evaluate(*keyword.value));
  }
  if (given->rest) {
    for (Value& value : items_of(evaluate(*given->rest))) {
      arguments.positional.push_back(std::move(value));
    }
  }
  if (given->named_rest) {
    const Value rest = evaluate(*given->named_rest);
    if (!rest.is(Kind::dict))
      fail({"argument after ** must be a mapping, not {}", {type_name(rest)}});
    for (const Dict::Entry& entry : rest.entries().entries) {
      step();
      if (!entry.key.is_string()) fail("keywords must be strings");
      if (arguments.find(entry.key.string())) {
        fail({"got multiple values for keyword argument '{}'", {entry.key.string()}});
      }
      arguments.named.emplace_back(entry.key, entry.value);
    }
  }
  return arguments;
}

Value Evaluator::slice(const Value& object, const Expression& bounds) {
  if (object.is_undefined()) fail(undefined_message(object));
  Value values[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (bounds.items[i]) values[i] = evaluate(*bounds.items[i]);
  }
  line = bounds.line;
  for (const Value& value : values) {
    if (!value.is_none() && !value.is_integral()) {
      fail("slice indices must be integers or None or have an __index__ method");
    }
  }
  const std::int64_t length = length_of(object);
  if (length < 0 || object.is(Kind::dict) || object.is(Kind::view)) {
    fail({"'{}' object is not subscriptable", {type_name(object)}});
  }
  const std::int64_t step_size = values[2].is_none() ? 1 : values[2].integer();
  if (step_size == 0) fail("slice step cannot be zero");
  const bool is_backward = step_size < 0;
  const std::int64_t lowest = is_backward ? -1 : 0;
  const std::int64_t highest = is_backward ? length - 1 : length;
  const auto bound = [&](const Value& value, std::int64_t otherwise) {
    if (value.is_none()) return otherwise;
    std::int64_t place = value.integer();
    if (place < 0) place += length;
    return std::clamp(place, lowest, highest);
  };
  const std::int64_t start = bound(values[0], is_backward ? highest : lowest);
  const std::int64_t stop = bound(values[1], is_backward ? lowest : highest);
  std::int64_t count = 0;
  if (is_backward && start > stop) count = (start - stop - 1) / -std::max(step_size, -length) + 1;
  if (!is_backward && start < stop) count = (stop - start - 1) / step_size + 1;

  if (object.is(Kind::range)) {
    const auto& whole = object.object<Range>();
    auto range = std::make_unique<Range>();
    if (__builtin_mul_overflow(whole.step, step_size, &range->step) ||
        __builtin_mul_overflow(start, whole.step, &range->start) ||
        __builtin_add_overflow(range->start, whole.start, &range->start) ||
        __builtin_mul_overflow(stop, whole.step, &range->stop) ||
        __builtin_add_overflow(range->stop, whole.start, &range->stop)) {
      fail("integers of more than 64 bits are not supported");
    }
    range->length = count;
    return own(Kind::range, range.release(), sizeof(Range), 0);
  }
  if (object.is_string()) {
    const Text& text = object.text();
    scan(text.bytes.size());
    if (step_size == 1) {
      const std::size_t begin = byte_of(text, static_cast<std::size_t>(start));
      const std::size_t end = count == 0 ? begin : byte_of(text, static_cast<std::size_t>(stop));
      return string_like(object, text.bytes.substr(begin, end - begin));
    }
    std::vector<std::string_view> characters;
    if (!text.is_ascii()) {
      expect_space(text.length * sizeof(std::string_view));
      for (std::size_t at = 0; at < text.bytes.size();) {
        const std::size_t begin = at;
        next_character(text.bytes, at);
        characters.push_back(std::string_view(text.bytes).substr(begin, at - begin));
      }
    }
    std::string result;
    step(static_cast<std::size_t>(count) / 16);
    for (std::int64_t n = 0, place = start; n < count; ++n, place += step_size) {
      const auto i = static_cast<std::size_t>(place);
      if (text.is_ascii()) {
        result += text.bytes[i];
      } else {
        result += characters[i];
      }
      if (n + 1 == count) break;  // the next place might not fit
    }
    return string_like(object, std::move(result));
  }
  expect_space(static_cast<std::size_t>(count) * sizeof(Value));
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(count));
  for (std::int64_t n = 0, place = start; n < count; ++n) {
    items.push_back(object.items()[static_cast<std::size_t>(place)]);
    if (n + 1 < count) place += step_size;
  }
  return object.is(Kind::list) ? list(std::move(items)) : tuple(std::move(items));
}

// --- Statements

void Evaluator::write(std::string_view text) {
  scan(text.size());
  buffered_ += text.size();
  expect_output(buffered_);
  output_->append(text);
}

Flow Evaluator::run_body(const std::vector<Statement*>& body) {
  for (const Statement* statement : body) {
    const Flow flow = run_statement(*statement);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Flow Evaluator::run_statement(const Statement& statement) {
  step();
  line = statement.line;
  using What = Statement::Kind;
  switch (statement.kind) {
    case What::data:
      write(statement.text.string());
      return Flow::normal;
    case What::output: {
      const Value value = evaluate(*statement.value);
      if (value.is_string()) {
        write(value.string());
      } else {
        write(text_of(*this, value));
      }
      return Flow::normal;
    }
    case What::assignment: {
      const Value value = evaluate(*statement.value);
      line = statement.line;
      assign(*statement.target, value);
      return Flow::normal;
    }
    case What::break_loop:
      return Flow::broken;
    case What::continue_loop:
      return Flow::continued;
    default:
      break;
  }
  const Level level(*this);
  switch (statement.kind) {
    case What::condition:
      return run_condition(statement);
    case What::loop:
      return run_loop(statement, evaluate(*statement.value), 0, activation_);
    case What::capture:
    case What::filter_block:
      return run_capture(statement);
    case What::with:
      return run_with(statement);
    case What::macro:
      slot(statement.target->address) = make_macro(statement);
      return Flow::normal;
    case What::call_block:
    case What::generation:
      run_call_block(statement);
      return Flow::normal;
    case What::block:
      run_block(statement);
      return Flow::normal;
    default:
      fail(ErrorCode::internal, "unexpected statement");
  }
}

Flow Evaluator::run_condition(const Statement& statement) {
  if (is_true(evaluate(*statement.value))) return run_body(statement.body);
  for (const Statement* branch : statement.branches) {
    step();
    if (is_true(evaluate(*branch->value))) return run_body(branch->body);
  }
  return run_body(statement.otherwise);
}

Flow Evaluator::run_capture(const Statement& statement) {
  enter(statement.scope);
  Value value;
  {
    Capture capture_text(*this);
    const Flow flow = run_body(statement.body);
    if (flow != Flow::normal) return flow;
    value = capture_text.take();
  }
  line = statement.line;
  if (statement.value) {
    // The filters form a chain without a first operand.
    const std::size_t begin = spine_.size();
    for (const Expression* link = statement.value; link; link = link->first) spine_.push_back(link);
    while (spine_.size() > begin) {
      const Expression* link = spine_.back();
      spine_.pop_back();
      step();
      value = apply_builtin(*link, value);
    }
  }
  if (statement.kind == Statement::Kind::capture) {
    assign(*statement.target, value);
  } else {
    write_joined(value);
  }
  return Flow::normal;
}

// Writes the result of a filter block or a call block, which must be a text.
void Evaluator::write_joined(const Value& value) {
  if (!value.is_string()) fail({"expected a text to write, got {}", {type_name(value)}});
  write(value.string());
}

Flow Evaluator::run_with(const Statement& statement) {
  // The values are those outside of the body, whose variables have slots of their own.
  enter(statement.scope);
  for (const Statement::Binding& binding : statement.bindings) {
    assign(*binding.target, evaluate(*binding.value));
  }
  return run_body(statement.body);
}

// --- Loops

namespace {

// Ends the use of the variable `loop`. It may contain itself if it was stored somewhere.
class LoopEnd {
 public:
  LoopEnd(Evaluator& evaluator, const Value& loop) : evaluator_(evaluator), loop_(loop) {}
  LoopEnd(const LoopEnd&) = delete;
  LoopEnd& operator=(const LoopEnd&) = delete;
  ~LoopEnd() {
    auto& loop = loop_.object<Loop>();
    if (loop.activation) loop.activation->slots[loop.statement->loop.slot] = Value::missing();
    loop.activation = nullptr;
    if (loop_.is_used_elsewhere()) evaluator_.keep(loop_);
  }

 private:
  Evaluator& evaluator_;
  const Value& loop_;
};

}  // namespace

Flow Evaluator::run_loop(const Statement& statement, const Value& iterable, std::int64_t depth0,
                         Activation* outer) {
  line = statement.line;
  Value loop_value;
  const Value iterator = iterate(iterable);
  if (statement.uses_loop) {
    auto* loop = new Loop;
    loop_value = own(Kind::loop, loop, sizeof(Loop), iterator.depth());
    loop->statement = &statement;
    loop->outer = outer;
    loop->source = iterator;
    loop->depth0 = depth0;
    if (!statement.test) loop->length = length_of(iterable);
  }
  if (!statement.uses_loop) return run_items(statement, iterator, loop_value);
  reserve_more(mutable_, depth + 1);
  if (!statement.is_recursive) {
    const LoopEnd end(*this, loop_value);
    loop_value.object<Loop>().activation = activation_;
    return run_items(statement, iterator, loop_value);
  }
  const Call call_body(*this, *statement.function, outer);
  const LoopEnd end(*this, loop_value);
  loop_value.object<Loop>().activation = activation_;
  run_items(statement, iterator, loop_value);
  return Flow::normal;
}

Flow Evaluator::run_items(const Statement& statement, const Value& iterator,
                          const Value& loop_value) {
  // As in jinja2, `else` follows unless one of the bodies has run to its end.
  bool has_ended = false;
  const bool has_loop = !loop_value.is_none();
  for (Value each;
       has_loop ? pull(loop_value.object<Loop>(), each) : pull(statement, iterator, each);) {
    step();
    line = statement.line;
    enter(statement.scope);
    if (has_loop) activation_->slots[statement.loop.slot] = loop_value;
    assign(*statement.target, each);
    const Flow flow = run_body(statement.body);
    if (flow == Flow::broken) break;
    has_ended |= flow == Flow::normal;
  }
  if (has_ended) return Flow::normal;
  enter(statement.other_scope);
  return run_body(statement.otherwise);
}

// Reads the next item of a loop that passes its test.
bool Evaluator::pull(const Statement& statement, const Value& iterator, Value& item) {
  while (next(iterator, item)) {
    if (!statement.test) return true;
    step();
    enter(statement.test_scope);
    assign(*statement.target, item);
    if (!is_true(evaluate(*statement.test))) continue;
    // In jinja2, the items that pass the test are made of the target's variables.
    if (statement.target->kind == Node::tuple) item = evaluate(*statement.target);
    return true;
  }
  return false;
}

bool Evaluator::pull(Loop& loop, Value& item) {
  if (!loop.after.is_missing()) {
    item = std::exchange(loop.after, Value::missing());
  } else if (loop.next_pending < loop.pending.size()) {
    item = loop.pending[loop.next_pending++];
  } else if (!pull(*loop.statement, loop.source, item)) {
    return false;
  }
  ++loop.index0;
  loop.before = std::exchange(loop.current, item);
  return true;
}

// Reads the next item of a loop ahead. Returns whether there is one.
bool Evaluator::peek(Loop& loop) {
  if (!loop.after.is_missing()) return true;
  if (loop.next_pending < loop.pending.size()) {
    loop.after = loop.pending[loop.next_pending++];
    return true;
  }
  Value item;
  if (!loop.statement->test) {
    const bool has_next = next(loop.source, item);
    if (has_next) loop.after = std::move(item);
    return has_next;
  }
  // The test has the variables of the loop's target for itself.
  if (!loop.activation) fail("the variable 'loop' cannot read items after its loop");
  Activation* const current = std::exchange(activation_, loop.activation);
  std::vector<Value> saved = activation_->slots;
  step(saved.size() / 4);
  const bool has_item = pull(*loop.statement, loop.source, item);
  activation_->slots = std::move(saved);
  activation_ = current;
  if (has_item) loop.after = std::move(item);
  return has_item;
}

std::int64_t Evaluator::length_of_loop(Loop& loop) {
  if (loop.length >= 0) return loop.length;
  std::vector<Value> items;
  while (peek(loop)) {
    items.push_back(std::exchange(loop.after, Value::missing()));
    expect_space(items.size() * sizeof(Value));
  }
  loop.length = loop.index0 + 1 + static_cast<std::int64_t>(items.size());
  loop.pending = std::move(items);
  loop.next_pending = 0;
  return loop.length;
}

Value Evaluator::loop_attribute(const Value& object, std::string_view name) {
  auto& loop = object.object<Loop>();
  if (name == "index") return loop.index0 + 1;
  if (name == "index0") return loop.index0;
  if (name == "first") return loop.index0 == 0;
  if (name == "last") return !peek(loop);
  if (name == "length") return length_of_loop(loop);
  if (name == "revindex") return length_of_loop(loop) - loop.index0;
  if (name == "revindex0") return length_of_loop(loop) - loop.index0 - 1;
  if (name == "depth") return loop.depth0 + 1;
  if (name == "depth0") return loop.depth0;
  if (name == "previtem") {
    if (loop.index0 == 0) return undefined_because("there is no previous item");
    return loop.before.is_missing() ? Value() : loop.before;
  }
  if (name == "nextitem") {
    if (peek(loop)) return loop.after;
    return undefined_because("there is no next item");
  }
  return Value::missing();
}

bool Evaluator::have_changed(Loop& loop, Value values) {
  if (!loop.changed.is_missing() && are_equal(*this, loop.changed, values)) return false;
  loop.changed = std::move(values);
  return true;
}

Value Evaluator::call_loop(const Loop& loop, const Arguments& arguments) {
  if (!loop.statement->is_recursive) {
    fail("The loop must have the 'recursive' marker to be called recursively.");
  }
  if (arguments.positional.size() != 1 || !arguments.named.empty()) {
    fail("expected one argument of 'loop'");
  }
  const Level level(*this);
  Capture capture_text(*this);
  run_loop(*loop.statement, arguments.positional[0], loop.depth0 + 1, loop.outer);
  return capture_text.take();
}

// --- Macros

Value Evaluator::make_macro(const Statement& statement) {
  auto* macro = new Macro;
  macro->code = statement.macro;
  macro->statement = &statement;
  macro->outer = activation_;
  Value value = own(Kind::macro, macro, sizeof(Macro), 0);
  capture(activation_);
  return value;
}

void Evaluator::capture(Activation* activation) {
  for (; activation && !activation->is_captured; activation = activation->parent) {
    activation->is_captured = true;
  }
}

Value Evaluator::call_macro(const Macro& macro, Arguments& arguments) {
  const Level level(*this);
  const Call call_body(*this, *macro.code->function, macro.outer);
  Capture capture_text(*this);
  enter(macro.statement->scope);
  bind_parameters(macro, arguments);
  run_body(macro.statement->body);
  return capture_text.take();
}

void Evaluator::bind_parameters(const Macro& macro, Arguments& arguments) {
  const MacroCode& code = *macro.code;
  const std::string name = code.name.is_none() ? "None" : quoted(code.name.string());
  std::vector<std::pair<Value, Value>>& named = arguments.named;
  const auto take = [&](std::string_view wanted) {
    for (std::size_t i = 0; i < named.size(); ++i) {
      if (named[i].first.string() != wanted) continue;
      Value value = std::move(named[i].second);
      named.erase(named.begin() + static_cast<std::ptrdiff_t>(i));
      return value;
    }
    return Value::missing();
  };
  const std::size_t count = code.parameters.size();
  const std::size_t given = std::min(arguments.positional.size(), count);
  bool found_caller = code.has_caller_parameter && given == count;
  for (std::size_t i = 0; i < count; ++i) {
    const Expression& parameter = *code.parameters[i].variable;
    const std::string_view parameter_name = program_.names[parameter.name].string();
    Value value = i < given ? arguments.positional[i] : take(parameter_name);
    if (i >= given && parameter_name == "caller") found_caller = true;
    slot(parameter.address) = std::move(value);
  }
  if (code.takes_caller && !found_caller) {
    Value caller = take("caller");
    if (caller.is_missing() || caller.is_none()) caller = undefined_because("No caller defined");
    if (!code.has_caller_parameter) slot(code.caller) = std::move(caller);
  }
  if (code.takes_keywords) {
    auto dict = std::make_unique<Dict>();
    for (auto& [key, value] : named) dict->set(*this, key, std::move(value));
    slot(code.keywords) = own(dict.release());
  } else if (!named.empty()) {
    fail({"macro {} takes no keyword argument {}", {name, quoted(named[0].first.string())}});
  }
  if (code.takes_rest) {
    std::vector<Value> rest(arguments.positional.begin() + static_cast<std::ptrdiff_t>(given),
                            arguments.positional.end());
    slot(code.rest) = tuple(std::move(rest));
  } else if (arguments.positional.size() > count) {
    fail({"macro {} takes not more than {} argument(s)", {name, count}});
  }
  for (const Parameter& parameter : code.parameters) {
    if (!slot(parameter.variable->address).is_missing()) continue;
    Value value;
    if (parameter.fallback) {
      value = evaluate(*parameter.fallback);
    } else {
      value = undefined_because("parameter " +
                                quoted(program_.names[parameter.variable->name].string()) +
                                " was not provided");
    }
    slot(parameter.variable->address) = std::move(value);
  }
}

void Evaluator::run_call_block(const Statement& statement) {
  auto* macro = new Macro;
  macro->code = statement.macro;
  macro->statement = &statement;
  macro->outer = activation_;
  Value caller = own(Kind::macro, macro, sizeof(Macro), 0);
  Arguments arguments;
  Value text;
  if (statement.kind == Statement::Kind::generation) {
    text = call_macro(*macro, arguments);
  } else {
    const Expression& expression = *statement.value;
    const Value called = evaluate(*expression.first);
    arguments = evaluate_arguments(expression.arguments);
    if (arguments.find("caller")) fail("got multiple values for keyword argument 'caller'");
    arguments.named.emplace_back(Value("caller"), caller);
    line = expression.line;
    text = call(called, std::move(arguments));
  }
  // The body needs its variables longer if its macro was stored somewhere.
  if (caller.is_used_elsewhere()) capture(activation_);
  write_joined(text);
}

void Evaluator::run_block(const Statement& statement) {
  const Call call_body(*this, *statement.function, nullptr);
  enter(statement.scope);
  run_body(statement.body);
}

Value Evaluator::macro_attribute(const Macro& macro, std::string_view name) {
  const MacroCode& code = *macro.code;
  if (name == "name") return code.name;
  if (name == "catch_kwargs") return code.takes_keywords;
  if (name == "catch_varargs") return code.takes_rest;
  if (name == "caller") return code.takes_caller;
  if (name == "explicit_caller") return code.has_caller_parameter;
  if (name != "arguments") return Value::missing();
  std::vector<Value> names;
  for (const Parameter& parameter : code.parameters) {
    names.push_back(program_.names[parameter.variable->name]);
  }
  return tuple(std::move(names));
}

}  // namespace glassformer::jinja
