#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace glassformer {

/// Which whole numbers a field may hold.
struct SizeRule {
  std::uint32_t least = 1;
  std::uint32_t most = 0;
  bool dimension = false;  ///< it cannot exceed the largest dimension in the weights
};

/// Which numbers a field may hold. fraction: above 0, at most 1.
enum class NumberRange { any, positive, fraction };

/// The meaning of an absent flag.
enum class AbsentFlag { error, off, on };

/// The names of an enumeration's values, in the order of its definition.
using EnumNames = std::span<const char* const>;

/// Visits the fields of a configuration. A configuration names its fields once, in a function
/// `fields(Fields&, Config&)`; the visitor decides what that means: it reads them from a file or
/// writes them to one.
class Fields {
 public:
  /// As the value of a field that is not there: it must be there.
  static constexpr std::size_t required = static_cast<std::size_t>(-1);

  virtual ~Fields() = default;

  /// Whether an optional part is there: in the file that is read or, when writing, in the
  /// configuration (`present`).
  virtual bool has(const char* name, bool present) = 0;
  /// `absent`: the value of a field that is not there.
  virtual void size(const char* name, std::size_t& value, const SizeRule& rule,
                    std::size_t absent = required) = 0;
  virtual void number(const char* name, float& value, NumberRange range) = 0;
  virtual void flag(const char* name, bool& value, AbsentFlag absent = AbsentFlag::error) = 0;
  virtual void choose(const char* name, std::size_t& value, EnumNames names,
                      std::size_t absent) = 0;
  /// Text of at least one character.
  virtual void text(const char* name, std::string& value) = 0;
  /// At most `most` texts, each of at least one character.
  virtual void texts(const char* name, std::vector<std::string>& values, std::size_t most) = 0;

  /// At most `most` numbers. By default, they are left as they are.
  virtual void numbers(const char*, std::vector<float>&, std::size_t /*most*/) {}

  /// Refuses a field that has no meaning together with the others. `expected` says when it has one.
  virtual void refuse(const char* name, const char* expected) = 0;

  /// The fields from here on are those of layer `index` of `count`; `leave_layers` ends that.
  virtual void enter_layer(std::size_t index, std::size_t count) = 0;
  virtual void leave_layers() = 0;
};

/// The names that files have for the values of an enumeration, in the order of its definition.
template <typename Enum>
inline constexpr std::array<const char*, 0> enum_names{};

template <typename Enum>
const char* name_of(Enum value) {
  return enum_names<Enum>[static_cast<std::size_t>(value)];
}

/// A field that holds one of an enumeration's names.
template <typename Enum>
void enum_field(Fields& fields, const char* name, Enum& value) {
  std::size_t index = static_cast<std::size_t>(value);
  fields.choose(name, index, enum_names<Enum>, Fields::required);
  value = static_cast<Enum>(index);
}

/// The same of a field that may be missing: it means `absent` then.
template <typename Enum>
void enum_field(Fields& fields, const char* name, Enum& value, std::type_identity_t<Enum> absent) {
  std::size_t index = static_cast<std::size_t>(value);
  fields.choose(name, index, enum_names<Enum>, static_cast<std::size_t>(absent));
  value = static_cast<Enum>(index);
}

/// A field that may be missing: `visit(value)` visits it only if it is there.
template <typename Value, typename Visit>
void optional_field(Fields& fields, const char* name, std::optional<Value>& value,
                    const Visit& visit) {
  if (!fields.has(name, value.has_value())) {
    value.reset();
    return;
  }
  if (!value) value.emplace();
  visit(*value);
}

}  // namespace glassformer
