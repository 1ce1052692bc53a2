#include <utility>

#include "base/strings/utf8.hpp"
#include "jinja/evaluator.hpp"
#include "jinja/letters.hpp"

namespace glassformer::jinja {
namespace {

// Iterates over a value with a length, forwards or backwards.
struct PlaceIterator : Iterator {
  bool next(Evaluator& evaluator, Value& item) override {
    if (left == 0) return false;
    --left;
    const std::int64_t i = is_backward ? left : index++;
    item = at(evaluator, i);
    return true;
  }

  Value at(Evaluator& evaluator, std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    switch (sequence.kind()) {
      case Kind::string: {
        const std::string_view text = sequence.string();
        const std::size_t begin = byte;
        byte += announced_size(text[begin]);
        return evaluator.string(std::string(text.substr(begin, byte - begin)));
      }
      case Kind::range:
        return sequence.object<Range>()[i];
      case Kind::dict:
        return sequence.entries().entries[place].key;
      case Kind::view: {
        const auto& view = sequence.object<View>();
        const Dict::Entry& entry = view.dict.entries().entries[place];
        if (view.part == View::Part::keys) return entry.key;
        if (view.part == View::Part::values) return entry.value;
        return evaluator.tuple({entry.key, entry.value});
      }
      default:
        return sequence.items()[place];
    }
  }

  Value sequence;
  std::int64_t left = 0;
  std::int64_t index = 0;
  std::size_t byte = 0;  // of the next character
  bool is_backward = false;
};

Value iterator_over(Evaluator& evaluator, const Value& sequence, bool is_backward) {
  auto* iterator = new PlaceIterator;
  iterator->sequence = sequence;
  iterator->left = length_of(sequence);
  iterator->is_backward = is_backward;
  return evaluator.own(Kind::iterator, iterator, sizeof(PlaceIterator), sequence.depth());
}

}  // namespace

Value Evaluator::iterate(const Value& iterable) {
  switch (iterable.kind()) {
    case Kind::iterator:
      return iterable;
    case Kind::undefined:
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::range:
    case Kind::view:
      return iterator_over(*this, iterable, false);
    case Kind::loop:
      fail("iterating over 'loop' is not supported");
    default:
      fail({"'{}' object is not iterable", {type_name(iterable)}});
  }
}

Value Evaluator::iterate_backwards(const Value& iterable) {
  switch (iterable.kind()) {
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::range:
    case Kind::view:
      return iterator_over(*this, iterable, true);
    case Kind::string: {
      std::vector<Value> characters = items_of(iterable);
      return iterator_over(*this, list(std::move(characters)), true);
    }
    default:
      return Value::missing();
  }
}

bool Evaluator::next(const Value& iterator, Value& item) {
  step();
  return iterator.object<Iterator>().next(*this, item);
}

std::vector<Value> Evaluator::items_of(const Value& iterable) {
  if (iterable.is_sequence()) {
    expect_space(iterable.items().size() * sizeof(Value));
    step(iterable.items().size() / 4);
    return iterable.items();
  }
  const Value iterator = iterate(iterable);
  std::vector<Value> items;
  for (Value each; next(iterator, each);) {
    if (items.size() == items.capacity()) expect_space(items.size() * 3 * sizeof(Value));
    items.push_back(std::move(each));
  }
  return items;
}

Value Evaluator::character(const Value& text, std::size_t index) {
  const Text& object = text.text();
  if (!object.is_ascii()) scan(object.bytes.size());
  const std::size_t begin = byte_of(object, index);
  return string_like(text, object.bytes.substr(begin, announced_size(object.bytes[begin])));
}

}  // namespace glassformer::jinja
