#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/printable.hpp"
#include "explain/contrast.hpp"
#include "explain/lens.hpp"
#include "explain/rollout.hpp"
#include "explain/value_norms.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/explain/explain_work.hpp"
#include "tasks/limits.hpp"
#include "tasks/reading/input_tokens.hpp"

namespace glassformer {
namespace {

constexpr std::array<std::string_view, 4> methods = {"rollout", "value_norms", "lens", "ledger"};

struct Options {
  std::string method;
  std::size_t words = 5;
  NextLedgerOptions ledger;
};

Options read_options(const TaskOptions& task) {
  OptionsReader reader(task);
  Options options;
  reader.require("method");
  options.method = methods[reader.choose("method", methods)];
  if (options.method == "lens" && reader.find("words")) {
    options.words = static_cast<std::size_t>(reader.integer("words", 1, most_lens_words));
  }
  if (options.method == "ledger") {
    options.ledger = read_next_ledger(reader);
  }
  reader.finish();
  return options;
}

// The explanation of what one text is continued with.
class Work : public ExplainWork {
 public:
  Work(const GenerationExplainer& explainer, GenerationInput input)
      : explainer_(explainer), input_(std::move(input)) {}

  void write(ResultWriter& json) const final {
    json.key("tokens");
    glassformer::write(json, explainer_.tokens_of(input_));
    json.field("clipped", input_.clipped);
    write_part(json);
  }

 protected:
  // What is the method's own.
  virtual void write_part(ResultWriter& json) const = 0;

  const GenerationExplainer& explainer() const { return explainer_; }
  const GenerationInput& input() const { return input_; }
  std::string scores_line(const std::vector<float>& scores) const {
    return line_of(explainer_.tokens_of(input_), scores);
  }

 private:
  const GenerationExplainer& explainer_;
  GenerationInput input_;
};

class RolloutWork final : public Work {
 public:
  using Work::Work;
  bool step() override {
    rollout_ = explainer().rollout(input());
    return false;
  }
  void write_part(ResultWriter& json) const override { glassformer::write(json, rollout_); }
  std::string line() const override { return scores_line(rollout_.scores); }

 private:
  Rollout rollout_;
};

class ValueNormsWork final : public Work {
 public:
  using Work::Work;
  bool step() override {
    norms_ = explainer().value_norms(input());
    return false;
  }
  void write_part(ResultWriter& json) const override { glassformer::write(json, norms_, scores()); }
  std::string line() const override { return scores_line(scores()); }

 private:
  // The last row of the last layer: what its heads bring to where the next token is read.
  std::vector<float> scores() const {
    const std::span<const float> last = norms_.layers.at(norms_.layers.layers - 1, 0);
    const auto row = last.last(norms_.layers.keys);
    return {row.begin(), row.end()};
  }

  ValueNorms norms_;
};

class LensWork final : public Work {
 public:
  LensWork(const GenerationExplainer& explainer, GenerationInput input, std::size_t words)
      : Work(explainer, std::move(input)), words_(words) {}

  // The run, or what the next layer reads as.
  bool step() override {
    if (trace_.empty()) {
      trace_ = explainer().stream(input());
      return true;
    }
    lens_.layers.push_back(explainer().read_layer(trace_, lens_.layers.size(), words_));
    return lens_.layers.size() <= explainer().layers();
  }
  void write_part(ResultWriter& json) const override { glassformer::write(json, lens_); }
  // What each layer would write after the text.
  std::string line() const override {
    std::string line;
    for (const std::vector<std::vector<Guess>>& rows : lens_.layers) {
      const Guess& guess = rows.back()[0];
      const std::size_t blank = guess.text.starts_with(' ') ? 1 : 0;
      line.append(line.empty() ? "" : "\t").append(printable(guess.text.substr(blank))).append("=");
      line += decimal(static_cast<double>(std::exp(guess.logprob)));
    }
    return line;
  }

 private:
  std::size_t words_;
  std::vector<TracedTensor> trace_;
  NextLens lens_;
};

class LedgerWork final : public Work {
 public:
  LedgerWork(const GenerationExplainer& explainer, GenerationInput input,
             const NextLedgerOptions& options)
      : Work(explainer, std::move(input)), options_(options) {}

  // The sum, or the effect of the next column.
  bool step() override {
    const NextTokenLedger& ledgers = explainer().ledgers();
    if (!result_) {
      result_ = ledgers.sum({input().prompt}, options_);
    } else {
      ledgers.measure_next({input().prompt}, *result_);
    }
    return !is_whole(*result_, options_);
  }
  void write_part(ResultWriter& json) const override { glassformer::write(json, *result_); }
  std::string line() const override { return line_of(result_->ledger); }

 private:
  NextLedgerOptions options_;
  std::optional<NextLedger> result_;
};

class GenerationExplainJob final : public ExplainJob {
 public:
  GenerationExplainJob(GeneratePipeline& pipeline, std::span<const TextInput> texts,
                       Options options, ResultForm form)
      : ExplainJob(texts, options.method, form),
        explainer_(pipeline),
        options_(std::move(options)) {
    for (const TextInput& text : texts) static_cast<void>(text.alone());
    explainer_.ledgers().expect_tokens(options_.ledger);
  }

 private:
  std::unique_ptr<ExplainWork> begin(const TextInput& text) override {
    GenerationInput input = explainer_.read(text.text);
    const auto is = [&](std::string_view name) { return method() == name; };
    if (is("rollout")) return std::make_unique<RolloutWork>(explainer_, std::move(input));
    if (is("value_norms")) return std::make_unique<ValueNormsWork>(explainer_, std::move(input));
    if (is("lens")) return std::make_unique<LensWork>(explainer_, std::move(input), options_.words);
    return std::make_unique<LedgerWork>(explainer_, std::move(input), options_.ledger);
  }

  GenerationExplainer explainer_;
  Options options_;
};

// Nothing is never put out.
const std::vector<bool> all_may_come;

}  // namespace

GenerationExplainer::GenerationExplainer(GeneratePipeline& pipeline)
    : pipeline_(pipeline), ledgers_(pipeline.model().runner(), pipeline.tokenizer(), all_may_come) {
  if (!pipeline.config().architecture.encoder) return;
  throw_error(ErrorCode::unsupported,
              "explain: expected a decoder that continues texts, got one behind an encoder");
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

WriterRunner GenerationExplainer::model() const { return pipeline_.model().runner(); }

NextTokenRun GenerationExplainer::run(const GenerationInput& input,
                                      std::vector<std::string> names) const {
  NextTokenRun run = trace_next_token(model(), {input.prompt}, std::move(names));
  expect_finite(run.logits);
  return run;
}

Rollout GenerationExplainer::rollout(const GenerationInput& input) const {
  const StackConfig& config = pipeline_.config().decoder();
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
      glassformer::lens(model(), view<2>(states.data.data(), {states.shape[0], states.shape[1]}),
                        {words, ledgers_.vocabulary()});
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

NextLedger GenerationExplainer::ledger(const GenerationInput& input,
                                       const NextLedgerOptions& options) const {
  ledgers_.expect_tokens(options);
  NextLedger result = ledgers_.sum({input.prompt}, options);
  while (!is_whole(result, options)) ledgers_.measure_next({input.prompt}, result);
  return result;
}

std::unique_ptr<Job> begin_explanation(GeneratePipeline& pipeline, std::span<const TextInput> texts,
                                       const TaskOptions& options, ResultForm form) {
  return std::make_unique<GenerationExplainJob>(pipeline, texts, read_options(options), form);
}

}  // namespace glassformer
