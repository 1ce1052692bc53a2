#include <algorithm>
#include <cstdio>
#include <iterator>

#include "pipelines/classify.hpp"
#include "pipelines/options.hpp"
#include "pipelines/result_writer.hpp"

namespace glassformer {
namespace {

std::string line_of(const Classification& result, const std::vector<std::string>& labels) {
  char score[32];
  std::snprintf(score, sizeof score, "%.6f", static_cast<double>(result.scores[result.label]));
  return labels[result.label] + '\t' + score;
}

}  // namespace

ClassifyOptions parse_classify_options(std::string_view json) {
  OptionsReader reader(json);
  ClassifyOptions options;
  options.read(reader);
  options.contributions = reader.flag("contributions");
  options.pairs = reader.flag("pairs");
  reader.finish();
  return options;
}

Result ClassifyPipeline::to_result(Classification result, ResultForm form) const {
  const std::vector<std::string>& labels = config().labels;
  if (form == ResultForm::line) return {line_of(result, labels)};
  ResultWriter json(form);
  json.object([&] {
    json.field("label", labels[result.label]);
    json.field("score", result.scores[result.label]);
    json.key("scores");
    write_by_label(json, labels, [&](std::size_t label) { json.value(result.scores[label]); });
    json.key("logits");
    write_by_label(json, labels, [&](std::size_t label) { json.value(result.logits[label]); });
    json.key("tokens");
    write_tokens(json, result.tokens, result.second, tokenizer());
    json.field("clipped", result.clipped);
    std::vector<TracedTensor> tensors;
    if (result.attention) {
      tensors.push_back(to_tensor("attention.encoder", std::move(*result.attention)));
    }
    if (!result.contributions.empty() && json.embeds()) {
      json.key("contributions");
      write_by_label(json, labels, [&](std::size_t label) {
        std::size_t row = 0;
        json.array(result.tokens, [&](const Token&) {
          json.value(result.contributions[row++ * labels.size() + label]);
        });
      });
    } else if (!result.contributions.empty()) {
      tensors.push_back({"contributions",
                         {result.tokens.size(), labels.size()},
                         std::move(result.contributions)});
    }
    std::ranges::move(result.trace, std::back_inserter(tensors));
    json.tensors(std::move(tensors));
  });
  return json.take_result();
}

}  // namespace glassformer
