#include "families/config/config_fields.hpp"

#include <algorithm>
#include <utility>

namespace glassformer {
namespace {

// Returns whether the encoder's value of this field is the default for a decoder with an encoder.
bool is_shared(std::string_view name) {
  return name != "attention" && name != "attention_window" && name != "zero_start";
}

// The limit for a translator's sentences is the number of positions.
bool may_limit(StackSide side, bool translates) {
  return side == StackSide::encoder && !translates;
}

}  // namespace

std::string ConfigFields::key_of(std::string_view name, StackSide side, bool translates,
                                 bool limits) {
  if (side == StackSide::texts) return std::string("text_").append(name);
  const bool decodes = side != StackSide::encoder;
  if (name == "layers") return decodes ? "decoder_layers" : "encoder_layers";
  if (name == "max_length" && decodes) return "max_target_length";
  if (name == "max_length") return limits ? "max_positions" : "max_source_length";
  if (name == "vocab_size" && translates) {
    return decodes ? "target_vocab_size" : "source_vocab_size";
  }
  if (name == "vocab_size" || name == "zero_start" || side != StackSide::second) {
    return std::string(name);
  }
  return std::string("decoder_").append(name);
}

std::string ConfigFields::key_of(std::string_view name) const {
  if (!side_) return std::string(name);
  return key_of(name, *side_, translates_, may_limit(*side_, translates_) && limits_texts());
}

float number_in(const JsonObject& object, std::string_view key, JsonValue value,
                NumberRange range) {
  if (range == NumberRange::fraction) return object.fraction(key, value);
  const float number = object.float_number(key, value);
  if (range == NumberRange::positive && !(number > 0)) {
    object.fail(key, "a number above 0", value);
  }
  return number;
}

const JsonValue* ConfigReader::find(std::string_view name) {
  if (item_) {
    key_ = name.empty() ? items_key_ : std::string(name);
    if (name.empty()) return &*item_;
    if (!item_fields_) object_.fail(items_key_, "objects", *item_);
    return item_fields_->find(name);
  }
  key_ = key_of(name);
  if (name == "zero_start" && side_ == StackSide::encoder) return nullptr;
  const JsonValue* found = object_.find(key_);
  if (side_ == StackSide::second && key_.starts_with("decoder_") && name != "layers") {
    if (found && found->type() == JsonValue::Type::null) return nullptr;
    if (!found && is_shared(name)) {
      key_ = name;
      found = object_.find(key_);
    }
  }
  if (!found || count_ == 0 || !found->is_array()) return found;
  if (count_entries(*found) != count_) {
    object_.fail(key_, {"one value, or {}, one for each layer", {count_}}, *found);
  }
  JsonEntries entry(*found);
  for (std::size_t i = 0; i <= index_; ++i) entry.next();
  element_ = entry.value();
  return present(&element_);
}

const JsonValue* ConfigReader::require_unless(std::string_view name, bool may_be_absent) {
  const JsonValue* found = find(name);
  if (!found && !may_be_absent) current().fail(key_, "missing");
  return found;
}

bool ConfigReader::has(const char* name, bool) { return find(name) != nullptr; }

void ConfigReader::size(const char* name, std::size_t& value, const SizeRule& rule,
                        std::size_t absent) {
  value = absent;
  if (const JsonValue* found = require_unless(name, absent != required)) {
    value = static_cast<std::size_t>(current().integer(key_, *found, rule.least, rule.most));
  }
}

void ConfigReader::number(const char* name, float& value, NumberRange range) {
  const JsonValue& found = *require_unless(name, false);
  value = number_in(current(), key_, found, range);
}

void ConfigReader::flag(const char* name, bool& value, AbsentFlag absent) {
  const JsonValue* found = require_unless(name, absent != AbsentFlag::error);
  value = found ? current().boolean(key_, *found) : absent == AbsentFlag::on;
}

void ConfigReader::choose(const char* name, std::size_t& value, EnumNames names,
                          std::size_t absent) {
  // A decoder with an encoder has causal attention unless its own field differs.
  if (side_ == StackSide::second && std::string_view(name) == "attention") {
    absent = static_cast<std::size_t>(Mixer::causal);
  }
  const JsonValue* found = require_unless(name, absent != required);
  value = absent;
  if (!found) return;
  std::string expected = "one of";
  for (value = 0; value < names.size(); ++value) {
    if (found->is_string() && found->string() == names[value]) return;
    expected.append(value == 0 ? " \"" : ", \"").append(names[value]).append("\"");
  }
  current().fail(key_, expected, *found);
}

void ConfigReader::text(const char* name, std::string& value) {
  const JsonValue& found = *require_unless(name, false);
  value = current().string(key_, found);
  if (value.empty()) object_.fail(key_, "a nonempty string", found);
}

void ConfigReader::texts(const char* name, std::vector<std::string>& values, std::size_t most) {
  const JsonValue& found = *require_unless(name, false);
  if (!found.is_array() || count_entries(found) > most) {
    object_.fail(key_, {"an array of at most {} strings", {most}}, found);
  }
  values.clear();
  for (JsonEntries entry(found); entry.next();) {
    if (!entry.value().is_string() || values.emplace_back(entry.value().string()).empty()) {
      object_.fail(key_, "an array of nonempty strings", found);
    }
  }
}

// An array of numbers applies to every layer; an array of arrays has one for each layer.
void ConfigReader::numbers(const char* name, std::vector<float>& values, std::size_t most) {
  const std::size_t layers = std::exchange(count_, 0);
  JsonValue found = *require_unless(name, false);
  count_ = layers;
  if (found.is_array() && count_entries(found) > 0) {
    JsonEntries first(found);
    first.next();
    if (first.value().type() != JsonValue::Type::number) found = *require_unless(name, false);
  }
  if (!found.is_array() || count_entries(found) > most) {
    object_.fail(key_, {"an array of at most {} numbers", {most}}, found);
  }
  values.clear();
  for (JsonEntries entry(found); entry.next();) {
    values.push_back(object_.float_number(key_, entry.value()));
  }
}

void ConfigReader::refuse(const char* name, const char* expected) {
  const JsonValue* found = find(name);
  if (found) object_.fail(key_, {"{}, got {}", {expected, describe(*found)}});
}

std::size_t ConfigReader::enter_items(const char* name, std::size_t, const SizeRule& rule,
                                      const char* expected) {
  const JsonValue* found = require_unless(name, false);
  items_key_ = key_;
  const std::size_t count = count_entries(*found);
  if (!found->is_array() || count < rule.least || count > rule.most) {
    object_.fail(key_, expected, *found);
  }
  items_ = *found;
  return count;
}

void ConfigReader::enter_item(std::size_t index) {
  if (item_fields_) item_fields_->finish();
  item_fields_.reset();
  JsonEntries entry(*items_);
  for (std::size_t i = 0; i <= index; ++i) entry.next();
  item_ = entry.value();
  if (item_->is_object()) item_fields_.emplace(*item_, object_.json_source(), items_key_);
}

void ConfigReader::leave_items() {
  if (item_fields_) item_fields_->finish();
  item_fields_.reset();
  item_.reset();
  items_.reset();
}

void ConfigReader::text_map(const char* name,
                            std::vector<std::pair<std::string, std::string>>& texts) {
  const JsonValue* found = find(name);
  texts.clear();
  if (!found) return;
  if (!found->is_object()) object_.fail(key_, "an object of texts", *found);
  for (JsonEntries entry(*found); entry.next();) {
    if (!entry.value().is_string()) object_.fail(key_, "texts", entry.value());
    texts.emplace_back(entry.key(), entry.value().string());
  }
}

void ConfigReader::enter_layer(std::size_t index, std::size_t count) {
  index_ = index;
  count_ = count;
}

std::string ConfigReader::used_key(StackSide side, const char* field, bool translates) const {
  const std::string key =
      key_of(field, side, translates, may_limit(side, translates) && limits_texts());
  const bool own = !key.starts_with("decoder_") || object_.find(key) || !is_shared(field);
  return own ? key : field;
}

void ConfigErrors::fail(const StackConfig* stack, const char* field, const Message& problem) const {
  if (!stack) object_.fail(field, problem);
  const bool decodes = architecture_.decoder && stack == &*architecture_.decoder;
  const bool texts = architecture_.text_encoder && stack == &*architecture_.text_encoder;
  const StackSide side = texts                   ? StackSide::texts
                         : !decodes              ? StackSide::encoder
                         : architecture_.encoder ? StackSide::second
                                                 : StackSide::alone;
  object_.fail(reader_.used_key(side, field, translates_), problem);
}

ConfigWriter::Field& ConfigWriter::field(const char* name) {
  const auto known = std::ranges::find_if(
      fields_, [&](const Field& field) { return field.name == name && field.side == side_; });
  if (known != fields_.end()) return *known;
  Field& made = fields_.emplace_back();
  made.name = name;
  made.side = side_;
  made.key = key_of(name);
  made.values.resize(std::max<std::size_t>(count_, 1));
  return made;
}

void ConfigWriter::add(const char* name, const auto& value, bool usual) {
  JsonWriter json;
  json.value(value);
  Field& made = field(name);
  made.values[index_] = json.take();
  made.usual = made.usual && usual;
}

bool ConfigWriter::has(const char* name, bool present) {
  if (!present) field(name);
  return present;
}

void ConfigWriter::size(const char* name, std::size_t& value, const SizeRule&, std::size_t absent) {
  add(name, value, absent == value);
}

void ConfigWriter::number(const char* name, float& value, NumberRange) { add(name, value, false); }

void ConfigWriter::flag(const char* name, bool& value, AbsentFlag absent) {
  add(name, value, absent == (value ? AbsentFlag::on : AbsentFlag::off));
}

void ConfigWriter::choose(const char* name, std::size_t& value, EnumNames names,
                          std::size_t absent) {
  const bool decodes = side_ == StackSide::second && std::string_view(name) == "attention";
  const bool usual = decodes ? value == static_cast<std::size_t>(Mixer::causal) : absent == value;
  add(name, names[value], usual);
}

void ConfigWriter::text(const char* name, std::string& value) { add(name, value, false); }

void ConfigWriter::texts(const char* name, std::vector<std::string>& values, std::size_t) {
  JsonWriter json;
  json.array(values, [&](const std::string& value) { json.value(value); });
  raw(name, json.take());
}

void ConfigWriter::numbers(const char* name, std::vector<float>& values, std::size_t) {
  JsonWriter json;
  json.array(values, [&](float value) { json.value(value); });
  Field& made = field(name);
  made.values[index_] = json.take();
  made.usual = false;
}

void ConfigWriter::raw(std::string_view key, std::string json) {
  Field& made = fields_.emplace_back();
  made.name = made.key = key;
  made.values = {std::move(json)};
  made.usual = false;
}

std::size_t ConfigWriter::enter_items(const char* name, std::size_t count, const SizeRule&,
                                      const char*) {
  items_key_ = name;
  outer_ = std::move(fields_);
  fields_.clear();
  items_.clear();
  return count;
}

// An item is a value or an object.
void ConfigWriter::finish_item() {
  if (fields_.empty()) return;
  if (fields_[0].key.empty()) {
    items_.push_back(fields_[0].values[0]);
  } else {
    JsonWriter json;
    json.object([&] { write(json); });
    items_.push_back(json.take());
  }
  fields_.clear();
}

void ConfigWriter::enter_item(std::size_t) { finish_item(); }

void ConfigWriter::leave_items() {
  finish_item();
  fields_ = std::move(outer_);
  JsonWriter json;
  json.array(items_, [&](const std::string& item) { json.raw(item); });
  raw(items_key_, json.take());
}

void ConfigWriter::text_map(const char* name,
                            std::vector<std::pair<std::string, std::string>>& texts) {
  if (texts.empty()) return;
  JsonWriter json;
  json.object([&] {
    for (const auto& [key, value] : texts) json.field(key, value);
  });
  raw(name, json.take());
}

void ConfigWriter::enter_layer(std::size_t index, std::size_t count) {
  index_ = index;
  count_ = count;
}

const ConfigWriter::Field* ConfigWriter::encoder_field(std::string_view name) const {
  const auto found = std::ranges::find_if(fields_, [&](const Field& field) {
    return field.name == name && field.side == StackSide::encoder;
  });
  return found == fields_.end() ? nullptr : &*found;
}

namespace {

bool are_equal(const std::vector<std::string>& values) {
  return std::ranges::all_of(values, [&](const std::string& value) { return value == values[0]; });
}

}  // namespace

void ConfigWriter::write(JsonWriter& json) const {
  const auto write_value = [&](const std::string& value) {
    json.raw(value.empty() ? "null" : value);
  };
  for (const Field& field : fields_) {
    const bool one = are_equal(field.values);
    if (field.side == StackSide::second && field.key == "vocab_size") continue;  // the encoder's
    if (field.side == StackSide::second && field.key.starts_with("decoder_") &&
        field.name != "layers" && is_shared(field.name)) {
      const Field* other = encoder_field(field.name);
      const bool same = other && one && are_equal(other->values)
                            ? field.values[0] == other->values[0]
                            : other && field.values == other->values;
      const bool usual = field.usual && (!other || other->usual);  // both are the defaults
      if (same || usual || (!other && one && field.values[0].empty())) continue;
    } else if (one && (field.usual || field.values[0].empty())) {
      continue;
    }
    json.key(field.key);
    if (one) {
      write_value(field.values[0]);
    } else {
      json.array(field.values, write_value);
    }
  }
}

}  // namespace glassformer
