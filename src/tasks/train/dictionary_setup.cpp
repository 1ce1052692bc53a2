#include "tasks/train/dictionary_setup.hpp"

#include <algorithm>
#include <cmath>

#include "base/json/json_writer.hpp"
#include "explain/dictionaries/promoted_tokens.hpp"
#include "models/dictionary/dictionary_files.hpp"
#include "run/trace/trace.hpp"
#include "tasks/options.hpp"

namespace glassformer {
namespace {

constexpr std::size_t usual_active = 16, usual_features = 6;  // the latter times the width

constexpr std::size_t shown_tokens = 5;

// Returns the model if it writes, otherwise null.
const LanguageModel* writer_of(const Model& model) {
  if (const auto* alone = std::get_if<std::unique_ptr<LanguageModel>>(&model)) return alone->get();
  const auto* with_encoder = std::get_if<std::unique_ptr<Seq2Seq>>(&model);
  return with_encoder ? with_encoder->get() : nullptr;
}

bool can_be_read(const std::string& text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return !text.starts_with("<0x") && std::ranges::none_of(text, is_control);
}

// Returns the tokens that a model writes and that can be read, unlike bytes.
std::vector<std::int32_t> with_text(const Tokenizer& tokenizer, const Model& model) {
  const LanguageModel* const writer = writer_of(model);
  const std::size_t count = writer ? std::min(tokenizer.size(), writer->vocab_size()) : 0;
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(count); ++id) {
    if (!tokenizer.is_control(id) && can_be_read(tokenizer.display_text(id))) {
      ids.push_back(id);
    }
  }
  return ids;
}

float rounded(double number) { return static_cast<float>(number); }

// With three decimals, which are enough to draw.
float briefly(double number) { return static_cast<float>(std::round(1000 * number) / 1000); }

void write_facts(JsonWriter& json, const DictionaryFacts& facts) {
  json.field("explained_variance", rounded(facts.explained_variance));
  json.field("loss_replaced", rounded(facts.loss_replaced));
  json.field("loss_ablated", rounded(facts.loss_ablated));
  json.field("loss_recovered", rounded(facts.loss_recovered));
  json.field("dead", rounded(facts.dead));
  json.field("features_per_token", rounded(facts.features_per_token));
  json.field("single_token", rounded(facts.single_token));
}

std::string report_json(const DictionaryReport& report, const DictionarySet& dictionaries) {
  JsonWriter json(JsonWriter::Layout::lines);
  json.object([&] {
    json.field("tokens", report.tokens);
    json.field("loss", rounded(report.loss));
    json.key("all");
    json.object([&] { write_facts(json, report.all); });
    json.key("dictionaries");
    json.array([&] {
      for (std::size_t i = 0; i < dictionaries.size(); ++i) {
        json.object([&] {
          json.field("writes", dictionaries[i].config().writes);
          write_facts(json, report.dictionaries[i]);
        });
      }
    });
  });
  return json.take() + "\n";
}

std::string features_json(const DictionaryFacts& facts, const std::string& writes,
                          const std::vector<PromotedTokens>& promoted, const Tokenizer* tokenizer) {
  JsonWriter json;
  std::size_t next = 0;
  const auto tokens = [&](const char* name, const std::vector<std::int32_t>& ids) {
    json.key(name);
    json.array(ids, [&](std::int32_t id) { json.value(tokenizer->display_text(id)); });
  };
  json.object([&] {
    json.field("writes", writes);
    json.key("features");
    json.array(facts.features, [&](const FeatureFacts& feature) {
      const std::size_t number = next++;
      json.object([&] {
        json.field("density", rounded(feature.density));
        if (feature.density <= 0) return;
        json.field("largest", briefly(static_cast<double>(feature.largest)));
        if (tokenizer && feature.token >= 0) {
          json.field("token", tokenizer->display_text(feature.token));
          json.field("share", briefly(feature.share));
        }
        if (tokenizer && number < promoted.size()) {
          tokens("promotes", promoted[number].most);
          tokens("suppresses", promoted[number].least);
        }
        json.key("places");
        json.array(feature.places, [&](const FeaturePlace& place) {
          json.array([&] {
            json.value(place.text);
            json.value(place.token);
            json.value(briefly(static_cast<double>(place.activation)));
          });
        });
      });
    });
  });
  return json.take() + "\n";
}

std::string texts_json(const DictionaryReport& report, const Tokenizer& tokenizer) {
  JsonWriter json;
  json.array(report.texts, [&](const std::vector<std::int32_t>& text) {
    json.array(text, [&](std::int32_t id) { json.value(tokenizer.display_text(id)); });
  });
  return json.take() + "\n";
}

}  // namespace

std::vector<DictionaryConfig> dictionary_configs(const Architecture& architecture,
                                                 const std::vector<NamedParameter>& parameters,
                                                 const TrainingOptions& options) {
  const DictionaryKind kind = options.kind.value_or(DictionaryKind::transcoder);
  const std::string usual = architecture.decoder ? "decoder" : "encoder";
  const std::string at = options.at.value_or(usual + ".layers.*");
  std::vector<DictionaryConfig> configs;
  for (const char* const name : {"encoder", "decoder"}) {
    const bool decoder = std::string_view(name) == "decoder";
    const auto& stack = decoder ? architecture.decoder : architecture.encoder;
    for (std::size_t layer = 0; stack && layer < stack->layers.size(); ++layer) {
      const std::string scope = std::string(name) + ".layers." + std::to_string(layer);
      if (!matches(at, scope)) continue;
      DictionaryConfig& config = configs.emplace_back();
      config.kind = kind;
      if (kind == DictionaryKind::sae) {
        config.reads = config.writes = scope + ".output";
      } else {
        config.reads =
            feed_forward_input(*stack, name, layer, decoder && architecture.encoder.has_value());
        config.writes = scope + ".fc2";
      }
      config.d_model = stack->d_model;
      config.features = options.features.value_or(usual_features * stack->d_model);
      config.active = options.active.value_or(usual_active);
      config.marks = marks_of(parameters, config.writes).size();
      if (config.active > config.features) {
        refuse_option("active", {"expected at most as many as there are features, {}, got {}",
                                 {config.features, config.active}});
      }
    }
  }
  if (configs.empty()) {
    refuse_option(
        "at", {"expected layers of the model, such as {}.layers.0, got {}", {usual, describe(at)}});
  }
  return configs;
}

std::vector<NewFile> report_files(const DictionaryReport& report, const DictionarySet& dictionaries,
                                  const Model& model, const Tokenizer* tokenizer) {
  std::vector<NewFile> files = {{"report.json", report_json(report, dictionaries)}};
  Session session;
  const std::vector<std::int32_t> shown =
      tokenizer ? with_text(*tokenizer, model) : std::vector<std::int32_t>();
  for (std::size_t i = 0; i < dictionaries.size(); ++i) {
    const std::string& writes = dictionaries[i].config().writes;
    std::vector<PromotedTokens> promoted;
    const LanguageModel* const writer = writer_of(model);
    if (writer && tokenizer && dictionaries[i].config().in_decoder()) {
      promoted = promoted_tokens(*writer, dictionaries[i], shown, shown_tokens, session);
    }
    files.push_back({"features-" + std::to_string(i) + ".json",
                     features_json(report.dictionaries[i], writes, promoted, tokenizer)});
  }
  if (tokenizer) files.push_back({"texts.json", texts_json(report, *tokenizer)});
  return files;
}

}  // namespace glassformer
