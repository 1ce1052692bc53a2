#include <algorithm>
#include <utility>

#include "explain/contrast.hpp"
#include "explain/readings/lens.hpp"
#include "explain/readings/rollout.hpp"
#include "explain/readings/value_norms.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/explain/explanation_job.hpp"
#include "tasks/explain/next/next_patching.hpp"
#include "tasks/limits.hpp"
#include "tasks/reading/input_tokens.hpp"

namespace glassformer {
namespace {

// Explains how one text is continued.
class GenerationSteps : public ExplanationSteps {
 public:
  GenerationSteps(const GenerationExplainer& explainer, GenerationInput input)
      : explainer_(explainer), input_(std::move(input)) {}

  ExplainedInput take() final {
    return {.tokens = explainer_.tokens_of(input_), .clipped = input_.clipped, .part = take_part()};
  }

 protected:
  virtual ExplainedInput::Part take_part() = 0;

  const GenerationExplainer& explainer() const { return explainer_; }
  const GenerationInput& input() const { return input_; }

 private:
  const GenerationExplainer& explainer_;
  GenerationInput input_;
};

// Reads what one run shows.
class OneRunSteps final : public GenerationSteps {
 public:
  OneRunSteps(const GenerationExplainer& explainer, GenerationInput input,
              const std::string& method)
      : GenerationSteps(explainer, std::move(input)), method_(method) {}

  bool step() override {
    part_ = method_ == "rollout" ? ExplainedInput::Part(explainer().rollout(input())) : norms();
    return false;
  }
  ExplainedInput::Part take_part() override { return std::move(part_); }

 private:
  // The scores are the last row of the last layer: the contribution of its heads to the row from
  // which the next token is computed.
  ExplainedInput::Part norms() const {
    ValueNorms norms = explainer().value_norms(input());
    const std::span<const float> last = norms.layers.at(norms.layers.layers - 1, 0);
    const auto row = last.last(norms.layers.keys);
    std::vector<float> scores(row.begin(), row.end());
    return ScoredNorms{std::move(norms), std::move(scores)};
  }

  const std::string& method_;
  ExplainedInput::Part part_;
};

class LensSteps final : public GenerationSteps {
 public:
  LensSteps(const GenerationExplainer& explainer, GenerationInput input, std::size_t words)
      : GenerationSteps(explainer, std::move(input)), words_(words) {}

  // Runs the model, or reads the next layer.
  bool step() override {
    if (trace_.empty()) {
      trace_ = explainer().stream(input());
      return true;
    }
    lens_.layers.push_back(explainer().read_layer(trace_, lens_.layers.size(), words_));
    return lens_.layers.size() <= explainer().layers();
  }
  ExplainedInput::Part take_part() override { return std::move(lens_); }

 private:
  std::size_t words_;
  std::vector<TracedTensor> trace_;
  NextLens lens_;
};

class NextAttributionSteps final : public GenerationSteps {
 public:
  NextAttributionSteps(const GenerationExplainer& explainer, GenerationInput input,
                       const NextAttributionOptions& options)
      : GenerationSteps(explainer, std::move(input)), options_(options) {}

  // Computes the sum, or the effect of the next column.
  bool step() override {
    const NextTokenAttribution& attributions = explainer().attributions();
    if (!result_) {
      result_ = attributions.sum({input().prompt}, options_);
    } else {
      attributions.measure_next({input().prompt}, *result_);
    }
    return !is_whole(*result_, options_);
  }
  ExplainedInput::Part take_part() override { return *std::move(result_); }

 private:
  NextAttributionOptions options_;
  std::optional<NextLogitAttribution> result_;
};

class GenerationExplanations final : public TextExplanations {
 public:
  GenerationExplanations(GeneratePipeline& pipeline, std::span<const TextInput> texts,
                         const ExplainRequest& request)
      : TextExplanations(texts, request.method->name),
        explainer_(pipeline),
        words_(request.options.words),
        attribution_(next_attribution_options(request)),
        shows_(request.options.on_progress) {
    if (!patches()) single_texts(texts);  // refuses pairs
    explainer_.attributions().expect_tokens(attribution_);
  }

 private:
  bool patches() const { return method() == "activation_patching"; }

  std::unique_ptr<ExplanationSteps> begin(const TextInput& text) override {
    if (patches()) {
      return make_patching_steps(
          explainer_.patched_pair(text.text, expect_donor(text), attribution_), shows_);
    }
    GenerationInput input = explainer_.read(text.text);
    const auto is = [&](std::string_view name) { return method() == name; };
    if (is("lens")) return std::make_unique<LensSteps>(explainer_, std::move(input), words_);
    if (is("direct_logit_attribution"))
      return std::make_unique<NextAttributionSteps>(explainer_, std::move(input), attribution_);
    return std::make_unique<OneRunSteps>(explainer_, std::move(input), method());
  }

  GenerationExplainer explainer_;
  std::size_t words_;
  NextAttributionOptions attribution_;
  bool shows_;
};

}  // namespace

GenerationExplainer::GenerationExplainer(GeneratePipeline& pipeline)
    : pipeline_(pipeline),
      attributions_(pipeline.runner(), pipeline.tokenizer(), allow_all_tokens) {
  if (!pipeline.config().architecture.encoder) return;
  throw_error(ErrorCode::unsupported,
              "explain: expected a decoder that continues texts, got one with an encoder");
}

GenerationInput GenerationExplainer::read(std::string_view text) const {
  expect_text_size(GeneratePipeline::max_text_bytes, text.size());
  return pipeline_.model().read(text, 1, pipeline_.config().generation);
}

std::vector<InputToken> GenerationExplainer::tokens_of(const GenerationInput& input) const {
  return input_tokens(input.tokens, pipeline_.tokenizer());
}

std::size_t GenerationExplainer::layers() const {
  return pipeline_.config().decoder().layers.size();
}

WriterRunner GenerationExplainer::model() const { return pipeline_.runner(); }

NextTokenRun GenerationExplainer::run(const GenerationInput& input,
                                      std::vector<std::string> names) const {
  NextTokenRun run = trace_next_token(model(), {input.prompt}, std::move(names));
  expect_finite(run.logits);
  return run;
}

Rollout GenerationExplainer::rollout(const GenerationInput& input) const {
  const StackConfig& config = pipeline_.config().decoder();
  expect_residuals(config, "rollout");
  const std::size_t tokens = input.prompt.size();
  TraceBudget().take(saturating_product({config.layers.size(), config.n_heads(), tokens, tokens}));
  const NextTokenRun run = run_to_next_token(model(), {input.prompt}, {.attention = true});
  expect_finite(run.logits);
  Rollout result = {glassformer::rollout(run.attention), {}};
  result.scores.assign(result.matrix.end() - static_cast<std::ptrdiff_t>(tokens),
                       result.matrix.end());
  return result;
}

ValueNorms GenerationExplainer::value_norms(const GenerationInput& input) const {
  const NextTokenRun seen = run(input, value_norm_tensors("decoder"));
  ValueNorms norms =
      glassformer::value_norms(explained_stack(model()->decoder(), "decoder"), seen.trace);
  expect_finite(norms.heads.data);
  expect_finite(norms.layers.data);
  return norms;
}

std::vector<TracedTensor> GenerationExplainer::stream(const GenerationInput& input) const {
  return run(input, stream_tensors(layers(), "decoder")).trace;
}

std::vector<std::vector<Guess>> GenerationExplainer::read_layer(
    std::span<const TracedTensor> stream, std::size_t layer, std::size_t words) const {
  const bool last = layer == layers();
  TracedTensor states = find_traced(
      stream, layer_name("decoder", last ? layer - 1 : layer, last ? "output" : "input"));
  std::vector<std::vector<Guess>> guesses =
      glassformer::lens(model(), view(states.data.data(), {states.shape[0], states.shape[1]}),
                        {words, attributions_.vocabulary()});
  name_guesses(guesses, pipeline_.tokenizer());
  return guesses;
}

NextLens GenerationExplainer::lens(const GenerationInput& input, std::size_t words) const {
  const std::vector<TracedTensor> trace = stream(input);
  NextLens lens;
  while (lens.layers.size() <= layers()) {
    lens.layers.push_back(read_layer(trace, lens.layers.size(), words));
  }
  return lens;
}

NextLogitAttribution GenerationExplainer::direct_logit_attribution(
    const GenerationInput& input, const NextAttributionOptions& options) const {
  attributions_.expect_tokens(options);
  NextLogitAttribution result = attributions_.sum({input.prompt}, options);
  while (!is_whole(result, options)) attributions_.measure_next({input.prompt}, result);
  return result;
}

PatchedPair GenerationExplainer::patched_pair(std::string_view base, std::string_view donor,
                                              const NextAttributionOptions& options) const {
  attributions_.expect_tokens(options);
  const GenerationInput own = read(base), other = read(donor);
  PatchedPair pair = align_pair(model(), PatchedStack::decoder, tokens_of(own), tokens_of(other));
  pair.clipped = own.clipped || other.clipped;
  pair.patching.read({});
  compare(pair, attributions_, options);
  return pair;
}

std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(GeneratePipeline& pipeline,
                                                            std::span<const TextInput> texts,
                                                            const ExplainRequest& request) {
  return std::make_unique<GenerationExplanations>(pipeline, texts, request);
}

}  // namespace glassformer
