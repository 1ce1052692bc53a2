#include <algorithm>
#include <utility>

#include "tasks/explain/explain.hpp"
#include "tasks/explain/explain_next_gradients.hpp"
#include "tasks/limits.hpp"
#include "tasks/reading/input_tokens.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer {
namespace {

const std::vector<bool> allow_all_tokens;

NextSubject read_translation(TranslatePipeline& pipeline, std::string_view text,
                             const TranslatedPlace& place) {
  ReachedPlace reached = reach(pipeline, text, place);
  return {.model = pipeline.runner(),
          .ledgers = NextTokenLedger(pipeline.runner(), pipeline.target_tokenizer(),
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
  return {.model = pipeline.model().runner(),
          .ledgers = explainer.ledgers(),
          .source_tokenizer = pipeline.tokenizer(),
          .decoded = std::move(input.prompt),
          .before = {.tokens = explainer.tokens_of(input), .clipped = input.clipped}};
}

// Returns the answer that begins with these ids.
ExplainedAnswer answer_of(const GeneratePipeline& pipeline, const TranslatedPlace& place) {
  const std::size_t vocabulary =
      std::min(pipeline.tokenizer().size(), pipeline.config().decoder().vocab_size());
  for (const std::int32_t id : place.prefix) {
    if (id >= 0 && static_cast<std::size_t>(id) < vocabulary) continue;
    refuse_option({"prefix: expected ids of tokens, below {}, got {}", {vocabulary, id}});
  }
  if (place.prefix.size() >= pipeline.config().decoder().max_length) {
    refuse_option({"prefix: expected fewer ids than the {} positions of the model, got {}",
                   {pipeline.config().decoder().max_length, place.prefix.size()}});
  }
  if (place.position != place.prefix.size()) {
    refuse_option({"position: expected the one after the prefix, {}, got {}",
                   {place.prefix.size(), place.position}});
  }
  return {pipeline.tokenizer().decode(place.prefix), place.prefix};
}

ExplainedAnswer answer_of(GeneratePipeline& pipeline, std::string_view text, std::size_t beams) {
  GenerateOptions options;
  options.beams = beams;
  options.sample = false;
  GenerationJob job = pipeline.begin(std::span(&text, 1), options);
  const Generation answer = only(run_all(job));
  ExplainedAnswer result = {.text = answer.output.text};
  for (const OutputToken& token : answer.output.tokens) result.ids.push_back(token.id);
  return result;
}

NextSubject read_answer(GeneratePipeline& pipeline, std::string_view text,
                        const TranslatedPlace& place) {
  expect_text_size(GeneratePipeline::max_text_bytes, text.size());
  GenerationModel& model = pipeline.model();
  const bool begun = !place.prefix.empty();
  ExplainedAnswer answer =
      begun ? answer_of(pipeline, place) : answer_of(pipeline, text, place.beams);
  if (!begun && place.position >= answer.ids.size()) {
    refuse_option({"position: expected one of the answer's tokens, below {}, got {}",
                   {answer.ids.size(), place.position}});
  }
  const GenerationInput input = model.read(text, 1, pipeline.config().generation);
  NextSubject subject = {
      .model = model.runner(),
      .ledgers = NextTokenLedger(model.runner(), pipeline.tokenizer(), allow_all_tokens),
      .source_tokenizer = pipeline.tokenizer(),
      .decoded = input.prompt,
      .encoded = model.encode(input, {})};
  for (std::size_t t = 0; t < place.position; ++t) subject.decoded.push_back(answer.ids[t]);
  if (!begun) subject.own = answer.ids[place.position];
  subject.before = {.tokens = input_tokens(input.tokens, pipeline.tokenizer()),
                    .clipped = input.clipped,
                    .answer = std::move(answer)};
  return subject;
}

}  // namespace

NextSubject read_to_next(Pipeline& pipeline, std::string_view text, const TranslatedPlace& place) {
  if (pipeline.config().task == Task::translation) {
    return read_translation(static_cast<TranslatePipeline&>(pipeline), text, place);
  }
  auto& generator = static_cast<GeneratePipeline&>(pipeline);
  if (pipeline.config().task == Task::text_generation) return read_continuation(generator, text);
  return read_answer(generator, text, place);
}

}  // namespace glassformer
