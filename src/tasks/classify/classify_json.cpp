#include <array>
#include <string_view>

#include "base/decimal.hpp"
#include "base/printable.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/options.hpp"
#include "tasks/result_writer.hpp"

namespace glassformer {
namespace {

std::string line_of(const Classification& result) {
  return printable(result.label) + '\t' + six_decimals(result.score);
}

}  // namespace

ClassifyOptions parse_classify_options(const TaskOptions& task) {
  OptionsReader reader(task);
  ClassifyOptions options = {.encoder = read_encoder_options(reader)};
  options.encoder.contributions = reader.flag("contributions");
  static constexpr std::array<std::string_view, 3> windows = {"first", "mean", "max"};
  options.window = static_cast<ClassifyWindow>(reader.choose("window", windows));
  if (reader.find("stride")) options.stride = reader.index("stride");
  reader.finish();
  return options;
}

Result ClassifyPipeline::to_result(Classification result, ResultForm form) const {
  const std::vector<std::string>& labels = config().labels;
  if (is_line(form)) return {.text = line_of(result), .clipped = result.clipped};
  ResultWriter json(form);
  json.object([&] {
    json.field("label", result.label);
    json.field("score", result.score);
    json.key("scores");
    write_by_label(json, labels, [&](std::size_t label) { json.value(result.scores[label]); });
    json.key("logits");
    write_by_label(json, labels, [&](std::size_t label) { json.value(result.logits[label]); });
    json.key("tokens");
    write(json, result.tokens);
    json.field("windows", result.windows);
    json.field("clipped", result.clipped);
    std::vector<TracedTensor> tensors;
    if (result.attention) {
      tensors.push_back(to_tensor("attention.encoder", std::move(*result.attention)));
    }
    if (!result.contributions.empty() && json.embeds()) {
      json.key("contributions");
      write_by_label(json, labels, [&](std::size_t label) {
        std::size_t row = 0;
        json.array(result.tokens, [&](const InputToken&) {
          json.value(result.contributions[row++ * labels.size() + label]);
        });
      });
    } else if (!result.contributions.empty()) {
      tensors.push_back({"contributions",
                         {result.tokens.size(), labels.size()},
                         std::move(result.contributions)});
    }
    json.tensors(std::move(tensors));
    json.trace(std::move(result.trace));
  });
  return json.take_result();
}

}  // namespace glassformer
