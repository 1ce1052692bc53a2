#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "explain/ledger.hpp"
#include "explain/lens.hpp"
#include "explain/rollout.hpp"
#include "explain/value_norms.hpp"
#include "kernels/kernels.hpp"
#include "models/trace_plan.hpp"
#include "pipelines/explain.hpp"
#include "pipelines/explain_work.hpp"
#include "pipelines/input_tokens.hpp"
#include "pipelines/limits.hpp"

namespace glassformer {
namespace {

constexpr std::array<std::string_view, 4> methods = {"rollout", "value_norms", "lens", "ledger"};
constexpr std::size_t most_words = 100;

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
    options.words = static_cast<std::size_t>(reader.integer("words", 1, most_words));
  }
  if (options.method == "ledger") {
    const auto id = [&](const char* key) {
      return static_cast<std::int32_t>(
          reader.integer(key, 0, std::numeric_limits<std::int32_t>::max()));
    };
    if (reader.find("token")) options.ledger.token = id("token");
    if (reader.find("against")) options.ledger.against = id("against");
    options.ledger.effects = reader.flag("effects");
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
      line.append(line.empty() ? "" : "\t").append(guess.text, blank).append("=");
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
    if (!summed_) {
      result_ = explainer().sum(input(), options_);
      summed_ = true;
    } else {
      explainer().measure_next(input(), result_);
    }
    return options_.effects && result_.ledger.effects.size() < result_.ledger.columns.size();
  }
  void write_part(ResultWriter& json) const override {
    json.key("token");
    glassformer::write(json, result_.token);
    json.key("against");
    glassformer::write(json, result_.against);
    glassformer::write(json, result_.ledger);
  }
  std::string line() const override { return line_of(result_.ledger); }

 private:
  NextLedgerOptions options_;
  bool summed_ = false;
  NextLedger result_;
};

class GenerationExplainJob final : public ExplainJob {
 public:
  GenerationExplainJob(GeneratePipeline& pipeline, std::span<const TextInput> texts,
                       Options options, ResultForm form)
      : ExplainJob(texts, options.method, form),
        explainer_(pipeline),
        options_(std::move(options)) {
    for (const TextInput& text : texts) static_cast<void>(text.alone());
    explainer_.expect_tokens(options_.ledger);
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

// The likeliest of the tokens that there are, but one.
std::int32_t likeliest(std::span<const float> logits, std::optional<std::int32_t> but = {}) {
  std::int32_t best = but == 0 ? 1 : 0;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const auto one = static_cast<std::int32_t>(id);
    if (one != but && logits[id] > logits[static_cast<std::size_t>(best)]) best = one;
  }
  return best;
}

}  // namespace

GenerationExplainer::GenerationExplainer(GeneratePipeline& pipeline) : pipeline_(pipeline) {
  if (!pipeline.config().architecture.encoder) return;
  throw_error(ErrorCode::unsupported,
              "explain: expected a decoder that continues texts, got one behind an encoder");
}

GenerationInput GenerationExplainer::read(std::string_view text) const {
  expect_text_size(GeneratePipeline::max_text_bytes, text.size());
  return pipeline_.model().read(text, 1);
}

std::vector<InputToken> GenerationExplainer::tokens_of(const GenerationInput& input) const {
  return input_tokens(input.tokens, pipeline_.tokenizer());
}

std::size_t GenerationExplainer::layers() const { return pipeline_.config().decoder().layers; }

LanguageModel& GenerationExplainer::model() const { return pipeline_.model().decoder(); }

std::size_t GenerationExplainer::vocabulary() const {
  return std::min(pipeline_.tokenizer().size(), model().vocab_size());
}

NextTokenRun GenerationExplainer::run(const GenerationInput& input,
                                      std::vector<std::string> names) const {
  const TracePlan plan(pipeline_.config().architecture, pipeline_.compute(), {.names = names});
  TraceBudget().take(plan.numbers({.source = 0, .target = input.prompt.size()}));
  return run_to_next_token(model(), input.prompt, {.names = std::move(names)});
}

Rollout GenerationExplainer::rollout(const GenerationInput& input) const {
  const StackConfig& config = pipeline_.config().decoder();
  const std::size_t tokens = input.prompt.size();
  TraceBudget().take(saturating_product({config.layers, config.n_heads, tokens, tokens}));
  const NextTokenRun run = run_to_next_token(model(), input.prompt, {.attention = true});
  Rollout result = {glassformer::rollout(run.attention), {}};
  result.scores.assign(result.matrix.end() - static_cast<std::ptrdiff_t>(tokens),
                       result.matrix.end());
  return result;
}

ValueNorms GenerationExplainer::value_norms(const GenerationInput& input) const {
  const NextTokenRun seen = run(input, value_norm_tensors("decoder"));
  return glassformer::value_norms({model().decoder().stack(), "decoder"}, seen.trace);
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
                        {words, vocabulary()});
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

void GenerationExplainer::expect_tokens(const NextLedgerOptions& options) const {
  const auto expect = [&](const char* name, const std::optional<std::int32_t>& id) {
    if (!id || (*id >= 0 && static_cast<std::size_t>(*id) < vocabulary())) return;
    refuse_option({"{}: expected the id of a token, below {}, got {}", {name, vocabulary(), *id}});
  };
  expect("token", options.token);
  expect("against", options.against);
  if (options.token && options.token == options.against) {
    refuse_option({"against: expected another token than token, got {}", {*options.against}});
  }
}

NextLedger GenerationExplainer::sum(const GenerationInput& input,
                                    const NextLedgerOptions& options) const {
  const NextTokenRun seen = run(input, ledger_tensors(model()));
  const std::vector<float>& logits = seen.logits;
  const std::span<const float> known = std::span(logits).first(vocabulary());
  const float total = writing_kernels().log_sum_exp(logits.data(), logits.size());
  if (!std::isfinite(total)) {
    throw_error(ErrorCode::non_finite, "text: expected finite logits of the next token");
  }
  const auto guess = [&](std::int32_t id) {
    return Guess{id, logits[static_cast<std::size_t>(id)] - total,
                 pipeline_.tokenizer().display_text(id)};
  };
  NextLedger result;
  result.token = guess(options.token.value_or(likeliest(known, options.against)));
  result.against = guess(options.against.value_or(likeliest(known, result.token.id)));
  result.ledger = glassformer::ledger(model(), seen, contrast_of(result));
  return result;
}

Contrast GenerationExplainer::contrast_of(const NextLedger& of) const {
  return contrast_between(static_cast<std::size_t>(of.token.id),
                          static_cast<std::size_t>(of.against.id), model().vocab_size());
}

void GenerationExplainer::measure_next(const GenerationInput& input, NextLedger& result) const {
  Ledger& ledger = result.ledger;
  const LedgerColumn& column = ledger.columns[ledger.effects.size()];
  ledger.effects.push_back(
      effect_of(model(), input.prompt, contrast_of(result), ledger.value, column));
}

NextLedger GenerationExplainer::ledger(const GenerationInput& input,
                                       const NextLedgerOptions& options) const {
  expect_tokens(options);
  NextLedger result = sum(input, options);
  while (options.effects && result.ledger.effects.size() < result.ledger.columns.size()) {
    measure_next(input, result);
  }
  return result;
}

std::unique_ptr<Job> begin_explanation(GeneratePipeline& pipeline, std::span<const TextInput> texts,
                                       const TaskOptions& options, ResultForm form) {
  return std::make_unique<GenerationExplainJob>(pipeline, texts, read_options(options), form);
}

}  // namespace glassformer
