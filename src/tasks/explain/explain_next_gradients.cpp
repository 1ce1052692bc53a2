#include <algorithm>
#include <array>
#include <utility>

#include "explain/next_gradients.hpp"
#include "run/trace/trace_plan.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/limits.hpp"
#include "tasks/translate/translate.hpp"

// Explains a next token by gradients. It has a result and options of its own, so that programs
// without gradients lack all of it.

namespace glassformer {
namespace {

constexpr std::array methods_by_gradients = {"gradients", "gradient_times_input", "relevance"};

struct NextGradientsRequest {
  std::string method = {};
  std::vector<std::string> names = {};
  std::optional<std::size_t> token = {}, against = {};
  // For translators only.
  std::optional<std::size_t> beams = {}, sentence = {}, position = {};
  std::optional<std::vector<std::int32_t>> prefix = {};
};

struct NextGradients {
  std::vector<InputToken> tokens = {};  // of a text that is continued
  bool clipped = false;
  std::optional<ExplainedSentence> sentence = {};  // of a translation
  NextLedger chosen = {};                          // only the two tokens
  Gradients gradients = {};
  Relevance found = {};  // scores, and the matrix of relevance
};

template <class Visit>
void fields(Visit& visit, NextGradientsRequest& request) {
  visit("method", request.method);
  visit("names", request.names);
  visit("token", request.token);
  visit("against", request.against);
  visit("beams", request.beams);
  visit("sentence", request.sentence);
  visit("position", request.position);
  visit("prefix", request.prefix, "ids");
}

class NextGradientsJob final : public TypedJob<NextGradients> {
 public:
  NextGradientsJob(Pipeline& pipeline, std::span<const TextInput> texts,
                   NextGradientsRequest request)
      : pipeline_(pipeline), request_(std::move(request)), texts_(texts.begin(), texts.end()) {
    single_texts(texts);  // refuses pairs
    const bool translates = pipeline.config().task == Task::translation;
    const bool placed = request_.beams || request_.sentence || request_.position || request_.prefix;
    if (!translates && placed) {
      refuse_option("beams, sentence, position, prefix: expected a translator");
    }
    if (request_.method == "gradients" && request_.names.empty()) {
      refuse_option("names: expected names of tensors, got none");
    }
    if (request_.method != "gradients" && !request_.names.empty()) {
      refuse_option({"names: expected them only with the method gradients, got {}",
                     {describe(request_.method)}});
    }
    expect_gradients(pipeline.compute());
    options_ = next_ledger_options({.token = request_.token, .against = request_.against});
    place_ = {.beams = number_of("beams", request_.beams, 1, max_beams, 1),
              .sentence = request_.sentence.value_or(0),
              .prefix = request_.prefix.value_or(std::vector<std::int32_t>())};
    place_.position = request_.position.value_or(place_.prefix.size());
  }

  bool step() override {
    if (results_.size() < texts_.size()) {
      try {
        results_.emplace_back(explain(texts_[results_.size()].text));
      } catch (const Error& error) {
        results_.emplace_back(error);
      }
    }
    return results_.size() < texts_.size();
  }
  Results<NextGradients> take() override { return std::move(results_); }

 private:
  NextGradients explain(std::string_view text) {
    NextGradients result;
    if (pipeline_.config().task == Task::translation) {
      auto& translator = static_cast<TranslatePipeline&>(pipeline_);
      ReachedPlace place = reach(translator, text, place_);
      const NextTokenLedger ledgers(translator.runner(), translator.target_tokenizer(),
                                    translator.specials().never);
      NextLedgerOptions options = options_;
      if (!options.token && options.against != place.own) options.token = place.own;
      compute(translator.runner(), place.text(), ledgers, options, result);
      result.sentence = std::move(place.sentence);
    } else {
      auto& generator = static_cast<GeneratePipeline&>(pipeline_);
      const GenerationExplainer explainer(generator);
      const GenerationInput input = explainer.read(text);
      compute(generator.model().runner(), {input.prompt}, explainer.ledgers(), options_, result);
      result.tokens = explainer.tokens_of(input);
      result.clipped = input.clipped;
    }
    return result;
  }

  void compute(const WriterRunner& model, const DecodedText& text, const NextTokenLedger& ledgers,
               const NextLedgerOptions& options, NextGradients& result) const {
    ledgers.expect_tokens(options);
    // The logits of every token, and their gradients.
    TraceBudget().take(saturating_product({2, text.ids.size(), model->vocab_size()}));
    result.chosen = ledgers.choose(run_to_next_token(model, text, {}).logits, options);
    const Contrast contrast = ledgers.contrast_of(result.chosen);
    if (request_.method == "gradients") {
      expect_known(model);
      result.gradients = next_token_gradients(model, text, contrast, request_.names);
    } else if (request_.method == "relevance") {
      result.found = next_relevance(model, text, contrast);
    } else {
      result.found.scores = next_gradient_times_input(model, text, contrast);
    }
  }

  // Throws `invalid_option` for names of tensors that the model does not have.
  void expect_known(const WriterRunner& model) const {
    TraceRequest request;
    request.gradients = request_.names;
    static_cast<void>(TracePlan(model.model, model.session, std::move(request)));
  }

  void write_fields(ResultWriter& visit, NextGradients& result) override {
    visit("method", request_.method);
    if (result.sentence) {
      visit("sentence", place_.sentence);
      sentence_fields(visit, *result.sentence);
      visit("position", place_.position);
    } else {
      visit("tokens", result.tokens);
      visit("clipped", result.clipped);
    }
    visit("token", result.chosen.token);
    visit("against", result.chosen.against);
    if (request_.method == "gradients") return visit.gradients(std::move(result.gradients.tensors));
    const std::size_t columns = result.found.scores.size();
    visit("scores", result.found.scores);
    if (result.found.matrix.empty()) return;
    const std::size_t rows = result.found.matrix.size() / columns;
    visit.tensor({"relevance", {rows, columns}, std::move(result.found.matrix)});
  }

  Pipeline& pipeline_;
  NextGradientsRequest request_;
  NextLedgerOptions options_;
  TranslatedPlace place_;
  std::vector<OwnedText> texts_;
  Results<NextGradients> results_;
};

}  // namespace

std::unique_ptr<Job> begin_next_gradients(Pipeline& pipeline, std::span<const TextInput> texts,
                                          const TaskOptions& options) {
  OptionsReader reader(options);
  const JsonValue* method = reader.find("method");
  if (!method || !method->is_string()) return nullptr;
  const std::string name = method->string();
  if (std::ranges::find(methods_by_gradients, name) == methods_by_gradients.end()) return nullptr;
  const Task task = pipeline.config().task;
  if (task != Task::translation && task != Task::text_generation) {
    if (name != "gradients") return nullptr;
    throw_error(ErrorCode::unsupported,
                {"explain: expected a model that translates or continues texts for the method "
                 "gradients, got one for {}",
                 {to_string(task)}});
  }
  return std::make_unique<NextGradientsJob>(pipeline, texts,
                                            read_options<NextGradientsRequest>(options));
}

}  // namespace glassformer
