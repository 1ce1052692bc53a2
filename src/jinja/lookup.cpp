#include <string>
#include <string_view>
#include <utility>

#include "jinja/evaluator.hpp"

namespace glassformer::jinja {
namespace {

// The types of an object in messages about missing attributes.
const char* owner_name(const Value& value) {
  switch (value.kind()) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return "bool object";
    case Kind::integer:
      return "int object";
    case Kind::real:
      return "float object";
    case Kind::string:
      return is_markup(value) ? "markupsafe.Markup object" : "str object";
    case Kind::list:
      return "list object";
    case Kind::tuple:
      return value.object<List>().is_group ? "jinja2.filters._GroupTuple object" : "tuple object";
    case Kind::dict:
      return "dict object";
    case Kind::range:
      return "range object";
    case Kind::view:
      switch (value.object<View>().part) {
        case View::Part::keys:
          return "dict_keys object";
        case View::Part::values:
          return "dict_values object";
        case View::Part::items:
          return "dict_items object";
      }
      break;
    case Kind::iterator:
      return "generator object";
    case Kind::name_space:
      return "jinja2.utils.Namespace object";
    case Kind::loop:
      return "jinja2.runtime.LoopContext object";
    case Kind::macro:
      return "jinja2.runtime.Macro object";
    case Kind::function:
      return "function object";
    case Kind::method:
      return "builtin_function_or_method object";
    case Kind::cycler:
      return "jinja2.utils.Cycler object";
    case Kind::joiner:
      return "jinja2.utils.Joiner object";
    case Kind::missing:
    case Kind::undefined:
      break;
  }
  return "object";
}

// Splits the parameters of a builtin.
struct ParameterNames {
  explicit ParameterNames(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find(' ');
      names[count++] = text.substr(0, end);
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
  }
  static bool is_optional(std::string_view name) { return name.ends_with('?'); }
  static std::string_view plain(std::string_view name) {
    return is_optional(name) ? name.substr(0, name.size() - 1) : name;
  }

  std::string_view names[Builtin::max_parameters];
  std::size_t count = 0;
};

}  // namespace

const Value* Arguments::find(std::string_view name) const {
  for (const auto& [key, value] : named) {
    if (key.string() == name) return &value;
  }
  return nullptr;
}

// --- Attributes and items

Value Evaluator::own_attribute(const Value& object, const Value& name) {
  const std::string_view text = name.string();
  switch (object.kind()) {
    case Kind::undefined:
      fail(undefined_message(object));
    case Kind::name_space: {
      const Value* value = object.object<NameSpace>().attributes.entries().find(text);
      if (!value) return Value::missing();
      return text.starts_with('_') ? undefined(name, type_name(object), true) : *value;
    }
    case Kind::loop: {
      Value value = loop_attribute(object, text);
      if (!value.is_missing()) return value;
      break;
    }
    case Kind::macro: {
      Value value = macro_attribute(object.object<Macro>(), text);
      if (!value.is_missing()) return value;
      break;
    }
    case Kind::cycler: {
      const auto& cycler = object.object<Cycler>();
      if (text == "current") return cycler.items[cycler.position];
      if (text == "pos") return count(cycler.position);
      break;
    }
    case Kind::range: {
      const auto& range = object.object<Range>();
      if (text == "start") return range.start;
      if (text == "stop") return range.stop;
      if (text == "step") return range.step;
      break;
    }
    case Kind::tuple:
      if (object.object<List>().is_group) {
        if (text == "grouper") return object.items()[0];
        if (text == "list") return object.items()[1];
      }
      break;
    default:
      break;
  }
  if (text.starts_with("__") && text.ends_with("__") && text.size() > 4) {
    return undefined(name, type_name(object), true);
  }
  const Builtin* method = find_method(object.kind(), text);
  if (!method) return Value::missing();
  if (method->name.empty()) return undefined(name, type_name(object), true);
  auto* bound = new Method;
  bound->object = object;
  bound->method = method;
  return own(Kind::method, bound, sizeof(Method), object.depth());
}

Value Evaluator::attribute(const Value& object, const Value& name) {
  Value value = own_attribute(object, name);
  if (!value.is_missing()) return value;
  if (object.is(Kind::dict)) {
    if (const Value* item = object.entries().find(name.string())) return *item;
  }
  return undefined(name, owner_name(object));
}

Value Evaluator::item(const Value& object, const Value& key) {
  const auto place = [&](std::int64_t length) {
    const std::int64_t i = key.integer() < 0 ? key.integer() + length : key.integer();
    return i >= 0 && i < length ? i : -1;
  };
  switch (object.kind()) {
    case Kind::undefined:
      fail(undefined_message(object));
    case Kind::dict:
      // Keys that a dict cannot have are missing.
      if (!key.is(Kind::list) && !key.is(Kind::dict)) {
        if (const Value* value = object.entries().find(*this, key)) return *value;
      }
      break;
    case Kind::list:
    case Kind::tuple:
      if (key.is_integral()) {
        const std::int64_t i = place(length_of(object));
        if (i >= 0) return object.items()[static_cast<std::size_t>(i)];
      }
      break;
    case Kind::range:
      if (key.is_integral()) {
        const auto& range = object.object<Range>();
        const std::int64_t i = place(range.length);
        if (i >= 0) return range[i];
      }
      break;
    case Kind::string:
      if (key.is_integral()) {
        const std::int64_t i = place(length_of(object));
        if (i >= 0) return character(object, static_cast<std::size_t>(i));
      }
      break;
    default:
      break;
  }
  if (key.is_string()) {
    Value value = own_attribute(object, key);
    if (!value.is_missing()) return value;
  }
  return undefined(key, owner_name(object));
}

// --- Calls

Value Evaluator::call(const Value& called, Arguments arguments) {
  switch (called.kind()) {
    case Kind::undefined:
      fail(undefined_message(called));
    case Kind::macro:
      return call_macro(called.object<Macro>(), arguments);
    case Kind::loop:
      return call_loop(called.object<Loop>(), arguments);
    case Kind::function:
      return bind_and_call(*called.object<GlobalFunction>().function, nullptr,
                           std::move(arguments));
    case Kind::method: {
      const auto& bound = called.object<Method>();
      return call_builtin(*bound.method, bound.object, std::move(arguments));
    }
    case Kind::joiner: {
      auto& joiner = called.object<Joiner>();
      if (!arguments.positional.empty() || !arguments.named.empty()) {
        fail("a joiner takes no arguments");
      }
      return std::exchange(joiner.used, true) ? joiner.separator : string({});
    }
    default:
      fail({"'{}' object is not callable", {type_name(called)}});
  }
}

Value Evaluator::call_builtin(const Builtin& builtin, const Value& object, Arguments arguments) {
  return bind_and_call(builtin, &object, std::move(arguments));
}

Value Evaluator::bind_and_call(const Builtin& builtin, const Value* object, Arguments arguments) {
  step(1 + arguments.positional.size() + arguments.named.size());
  const ParameterNames parameters(builtin.parameters);
  const bool takes_any = parameters.count > 0 && parameters.names[parameters.count - 1] == "*";
  Value values[Builtin::max_parameters];
  if (object) values[0] = *object;
  if (takes_any) return builtin.function(*this, values, arguments);

  const std::size_t first = object ? 1 : 0;
  if (arguments.positional.size() + first > parameters.count) {
    fail({"{}() takes at most {} arguments ({} given)",
          {builtin.name, parameters.count - first, arguments.positional.size()}});
  }
  for (std::size_t i = first; i < parameters.count; ++i) {
    values[i] = i - first < arguments.positional.size() ? arguments.positional[i - first]
                                                        : Value::missing();
  }
  for (const auto& [name, value] : arguments.named) {
    std::size_t i = first;
    while (i < parameters.count && ParameterNames::plain(parameters.names[i]) != name.string()) ++i;
    if (i == parameters.count || name.string().starts_with('_')) {
      fail({"{}() got an unexpected keyword argument '{}'", {builtin.name, name.string()}});
    }
    if (!values[i].is_missing()) {
      fail({"{}() got multiple values for argument '{}'", {builtin.name, name.string()}});
    }
    values[i] = value;
  }
  for (std::size_t i = first; i < parameters.count; ++i) {
    if (values[i].is_missing() && !ParameterNames::is_optional(parameters.names[i])) {
      fail({"{}() missing required argument {}", {builtin.name, i + 1 - first}});
    }
  }
  return builtin.function(*this, values, arguments);
}

const Builtin& Evaluator::filter_named(std::string_view name) {
  const Builtin* filter = find_filter(name);
  if (!filter) fail({"No filter named '{}'.", {name}});
  return *filter;
}

const Builtin& Evaluator::test_named(std::string_view name) {
  const Builtin* test = find_test(name);
  if (!test) fail({"No test named '{}'.", {name}});
  return *test;
}

}  // namespace glassformer::jinja
