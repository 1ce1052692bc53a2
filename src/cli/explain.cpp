#include "tasks/explain/explain.hpp"
#include "base/json_writer.hpp"
#include "cli/commands.hpp"
#include "cli/lines.hpp"
#include "tasks/load.hpp"

namespace glassformer {
namespace {

std::string options_of(const ExplainCommand& command) {
  JsonWriter json;
  json.object([&] {
    const auto text = [&](const char* name, const std::string& value) {
      if (!value.empty()) json.field(name, value);
    };
    text("method", command.method);
    text("label", command.label);
    if (command.sentence) json.field("sentence", *command.sentence);
    if (command.position) json.field("position", *command.position);
    if (!command.prefix.empty()) {
      json.key("prefix");
      json.array(command.prefix, [&](std::size_t id) { json.value(id); });
    }
    if (command.token) json.field("token", *command.token);
    if (command.against) json.field("against", *command.against);
    if (command.effects) json.field("effects", true);
    text("site", command.site);
    if (command.head) json.field("head", *command.head);
    text("of", command.of);
    if (command.orders) json.field("orders", *command.orders);
    if (command.beams) json.field("beams", *command.beams);
    if (command.words) json.field("words", *command.words);
    if (!command.edges.empty()) {
      json.key("edges");
      json.array(command.edges, [&](const AttentionEdge& edge) {
        json.object([&] {
          json.field("layer", edge.layer);
          json.field("head", edge.head);
          json.field("query", edge.query);
          json.field("key", edge.key);
        });
      });
    }
    text("cut", command.cut);
    if (command.least) json.field("least", *command.least);
  });
  return json.take();
}

}  // namespace

Exit run(const ExplainCommand& command) {
  const auto pipelines = load_several(command.threads, [&] {
    return load_pipeline(command.model, {}, {.compute = command.compute});
  });
  const std::string options = options_of(command);
  const bool pairs = command.pairs || command.method == "transplant";
  const auto form = command.json ? ResultForm::json : ResultForm::line;
  return answer_lines(
      pipelines,
      {.json = command.json, .at_once = 1, .form = pairs ? LineForm::pair : LineForm::text},
      [&](Pipeline& pipeline, std::span<const TextInput> texts) {
        return begin_explanation(pipeline, texts, options, form);
      });
}

}  // namespace glassformer
