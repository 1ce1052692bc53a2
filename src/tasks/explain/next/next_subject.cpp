#include <algorithm>
#include <utility>

#include "tasks/explain/explain.hpp"
#include "tasks/explain/next/next_gradients.hpp"
#include "tasks/limits.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer {
namespace {

std::vector<std::string> texts_of(std::span<const std::int32_t> ids, const Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  for (const std::int32_t id : ids) texts.push_back(tokenizer.display_text(id));
  return texts;
}

NextSubject read_translation(TranslatePipeline& pipeline, std::string_view text,
                             const TranslatedPlace& place) {
  ReachedPlace reached = reach(pipeline, text, place);
  return {.model = pipeline.runner(),
          .attributions = NextTokenAttribution(pipeline.runner(), pipeline.target_tokenizer(),
                                               pipeline.specials().never),
          .source_tokenizer = pipeline.source_tokenizer(),
          .decoded = std::move(reached.decoded),
          .encoded = std::move(reached.encoded),
          .own = reached.own,
          .before = {.sentence = std::move(reached.sentence)}};
}

NextSubject read_continuation(GeneratePipeline& pipeline, std::string_view text) {
  const GenerationExplainer explainer(pipeline);
  GenerationInput input = explainer.read(text);
  return {.model = pipeline.runner(),
          .attributions = explainer.attributions(),
          .source_tokenizer = pipeline.tokenizer(),
          .decoded = std::move(input.prompt),
          .before = {.tokens = explainer.tokens_of(input), .clipped = input.clipped}};
}

// Returns the ids of the answer that the model gives.
std::vector<std::int32_t> answer_to(GeneratePipeline& pipeline, std::string_view text,
                                    std::size_t beams) {
  GenerateOptions options;
  options.beams = beams;
  options.sample = false;
  const auto job = pipeline.begin(std::span(&text, 1), options);
  std::vector<std::int32_t> ids;
  for (const OutputToken& token : only(run_all(*job)).output.tokens) ids.push_back(token.id);
  return ids;
}

NextSubject read_answer(GeneratePipeline& pipeline, std::string_view text,
                        const TranslatedPlace& place) {
  expect_text_size(GeneratePipeline::max_text_bytes, text.size());
  const GenerationModel& model = pipeline.model();
  const GenerationInput input = model.read(text, 1, pipeline.config().generation);
  NextSubject subject = {.model = pipeline.runner(),
                         .attributions = NextTokenAttribution(
                             pipeline.runner(), pipeline.tokenizer(), allow_all_tokens),
                         .source_tokenizer = pipeline.tokenizer(),
                         .decoded = input.prompt,
                         .encoded = model.encode(input, {}, pipeline.session()),
                         .before = {.tokens = input_tokens(input.tokens, pipeline.tokenizer()),
                                    .clipped = input.clipped}};
  const bool begun = !place.prefix.empty();
  for (const std::int32_t id : place.prefix) subject.attributions.expect_token("prefix", id);
  std::vector<std::int32_t> ids = begun ? place.prefix : answer_to(pipeline, text, place.beams);
  // The token after a prefix can be explained, too.
  const std::size_t end =
      std::min(ids.size() + (begun ? 1 : 0), pipeline.config().decoder().max_length);
  expect_below("position", "one of the answer's tokens", place.position, end);
  for (std::size_t t = 0; t < place.position; ++t) subject.decoded.push_back(ids[t]);
  if (place.position < ids.size()) subject.own = ids[place.position];
  subject.before.answer = std::move(ids);
  return subject;
}

}  // namespace

std::vector<std::string> NextSubject::decoded_texts() const {
  return texts_of(decoded, attributions.tokenizer());
}

std::vector<std::string> NextSubject::encoded_texts() const {
  if (!encoded) return {};
  return texts_of(encoded->sources.ids(), source_tokenizer);
}

TranslatedPlace asked_place(const Pipeline& pipeline, const ExplainOptions& options) {
  if (pipeline.config().task == Task::text_generation &&
      (options.beams || options.position || !options.prefix.empty())) {
    refuse_option({"{}, {}, {}: expected a model with an encoder",
                   {Field("beams"), Field("position"), Field("prefix")}});
  }
  return {.from = options.from,
          .to = options.to,
          .beams = options.beams.value_or(1),
          .sentence = options.sentence,
          .position = options.position.value_or(options.prefix.size()),
          .prefix = options.prefix};
}

NextSubject read_to_next(Pipeline& pipeline, std::string_view text, const TranslatedPlace& place) {
  if (pipeline.config().task == Task::translation) {
    return read_translation(static_cast<TranslatePipeline&>(pipeline), text, place);
  }
  auto& generator = static_cast<GeneratePipeline&>(pipeline);
  if (pipeline.config().task == Task::text_generation) return read_continuation(generator, text);
  return read_answer(generator, text, place);
}

}  // namespace glassformer
