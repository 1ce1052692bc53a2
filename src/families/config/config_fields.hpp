#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "base/json/json.hpp"
#include "base/json/json_writer.hpp"
#include "models/config.hpp"

// The config.json of our own folders. One object holds all fields, including those of layers. A
// layer field that is the same in every layer is one value; any other is an array with one value
// per layer, null for a layer without one. A decoder with an encoder uses the encoder's fields as
// defaults, except for those that begin with "decoder_".

namespace glassformer {

/// The stack of the visited fields: an encoder, a decoder with an encoder, a decoder without one,
/// or the encoder of texts of a dual encoder.
enum class StackSide { encoder, second, alone, texts };

/// Returns the number of a field. Throws the object's error if it is not in this range.
float number_in(const JsonObject& object, std::string_view key, JsonValue value, NumberRange range);

/// Visits the fields of our config.json.
class ConfigFields : public Fields {
 public:
  /// Starts the fields of this stack. `translates`: each side has its own vocabulary size.
  void enter_stack(StackSide side, bool translates) {
    side_ = side;
    translates_ = translates;
  }
  void leave_stack() { side_.reset(); }

  /// Returns whether the folder sets a limit for texts below the model's number of positions.
  virtual bool limits_texts() const = 0;

  /// Visits an array of `count` items and returns the number of items. Until `leave_items`,
  /// `enter_item` selects the item to visit; the name "" refers to the item itself. `expected`
  /// describes the array.
  virtual std::size_t enter_items(const char* name, std::size_t count, const SizeRule& rule,
                                  const char* expected) = 0;
  virtual void enter_item(std::size_t index) = 0;
  virtual void leave_items() = 0;
  /// Visits an object that maps names to texts. An absent field is empty.
  virtual void text_map(const char* name,
                        std::vector<std::pair<std::string, std::string>>& texts) = 0;

 protected:
  /// Returns the key of a stack's field. Outside of stacks, this is the name itself.
  std::string key_of(std::string_view name) const;
  static std::string key_of(std::string_view name, StackSide side, bool translates, bool limits);

  std::optional<StackSide> side_;
  bool translates_ = false;
};

/// Reads the fields. Throws `invalid_config` with the key.
class ConfigReader final : public ConfigFields {
 public:
  explicit ConfigReader(JsonObject& object) : object_(object) {}

  JsonObject& object() { return object_; }
  bool limits_texts() const override { return object_.find("max_positions") != nullptr; }
  bool has(const char* name, bool present) override;
  void size(const char* name, std::size_t& value, const SizeRule& rule,
            std::size_t absent) override;
  void number(const char* name, float& value, NumberRange range) override;
  void flag(const char* name, bool& value, AbsentFlag absent) override;
  void choose(const char* name, std::size_t& value, EnumNames names, std::size_t absent) override;
  void text(const char* name, std::string& value) override;
  void texts(const char* name, std::vector<std::string>& values, std::size_t most) override;
  void numbers(const char* name, std::vector<float>& values, std::size_t most) override;
  void refuse(const char* name, const char* expected) override;
  void enter_layer(std::size_t index, std::size_t count) override;
  void leave_layers() override { count_ = 0; }
  std::size_t enter_items(const char* name, std::size_t count, const SizeRule& rule,
                          const char* expected) override;
  void enter_item(std::size_t index) override;
  void leave_items() override;
  void text_map(const char* name, std::vector<std::pair<std::string, std::string>>& texts) override;

  /// The key by which a file has, or inherits, a field of a stack.
  std::string used_key(StackSide side, const char* field, bool translates) const;

 private:
  // Returns the field's value, or null. Sets key_ to the key that was used.
  const JsonValue* find(std::string_view name);
  const JsonValue* require_unless(std::string_view name, bool may_be_absent);
  // Returns the object whose fields are read.
  JsonObject& current() { return item_fields_ ? *item_fields_ : object_; }

  JsonObject& object_;
  std::size_t index_ = 0, count_ = 0;  // the layer, and the number of layers; 0: outside of layers
  std::string key_;
  JsonValue element_{""};
  std::optional<JsonValue> items_;         // the array whose items are read
  std::optional<JsonValue> item_;          // the current item
  std::optional<JsonObject> item_fields_;  // its fields, if it is an object
  std::string items_key_;
};

/// Reports fields of the configuration that was read. Throws `invalid_config` with the key.
class ConfigErrors final : public FieldErrors {
 public:
  ConfigErrors(const ConfigReader& reader, const JsonObject& object,
               const Architecture& architecture, bool translates)
      : reader_(reader), object_(object), architecture_(architecture), translates_(translates) {}

  [[noreturn]] void fail(const StackConfig* stack, const char* field,
                         const Message& problem) const override;

 private:
  const ConfigReader& reader_;
  const JsonObject& object_;
  const Architecture& architecture_;
  bool translates_;
};

/// Collects the fields and writes them.
class ConfigWriter final : public ConfigFields {
 public:
  explicit ConfigWriter(bool limits_texts) : limits_texts_(limits_texts) {}

  /// Writes the collected fields into an open object.
  void write(JsonWriter& json) const;

  bool limits_texts() const override { return limits_texts_; }
  bool has(const char* name, bool present) override;
  void size(const char* name, std::size_t& value, const SizeRule& rule,
            std::size_t absent) override;
  void number(const char* name, float& value, NumberRange range) override;
  void flag(const char* name, bool& value, AbsentFlag absent) override;
  void choose(const char* name, std::size_t& value, EnumNames names, std::size_t absent) override;
  void text(const char* name, std::string& value) override;
  void texts(const char* name, std::vector<std::string>& values, std::size_t most) override;
  void numbers(const char* name, std::vector<float>& values, std::size_t most) override;
  void refuse(const char*, const char*) override {}
  void enter_layer(std::size_t index, std::size_t count) override;
  void leave_layers() override { index_ = count_ = 0; }
  std::size_t enter_items(const char* name, std::size_t count, const SizeRule& rule,
                          const char* expected) override;
  void enter_item(std::size_t index) override;
  void leave_items() override;
  void text_map(const char* name, std::vector<std::pair<std::string, std::string>>& texts) override;
  /// Adds a field whose value is JSON already.
  void raw(std::string_view key, std::string json);

 private:
  struct Field {
    std::string name;
    std::optional<StackSide> side;
    std::string key;
    std::vector<std::string> values;  // JSON; one per layer, or one for all; empty: no field
    bool usual = true;                // the value is the default in all layers
  };

  void add(const char* name, const auto& value, bool usual);
  void finish_item();
  Field& field(const char* name);
  const Field* encoder_field(std::string_view name) const;

  bool limits_texts_;
  std::size_t index_ = 0, count_ = 0;
  std::vector<Field> fields_;
  std::vector<Field> outer_;  // while items are collected: the surrounding fields
  std::string items_key_;
  std::vector<std::string> items_;  // JSON
};

}  // namespace glassformer
