#include <algorithm>
#include <utility>

#include "base/strings/decimal.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/explain/explanation_job.hpp"
#include "tasks/reading/scores.hpp"

namespace glassformer {
namespace {

constexpr std::size_t most_orders = 1000;

// Explains the answer of a classifier to one text.
class ClassifierSteps : public ExplanationSteps {
 public:
  // `label`: the label to explain; if unset, the model's answer.
  ClassifierSteps(const ClassifierExplainer& explainer, ExplainInput input,
                  std::optional<std::string> label = std::nullopt)
      : explainer_(explainer), input_(std::move(input)), wanted_(std::move(label)) {}

  ExplainedInput take() final {
    return {.label = explainer_.labels()[label()],
            .tokens = explainer_.tokens_of(input_),
            .grid = input_.grid,
            .region = input_.region,
            .clipped = input_.input.clipped,
            .part = take_part()};
  }

 protected:
  virtual ExplainedInput::Part take_part() = 0;
  virtual std::size_t label() const { return explainer_.label_of(input_, wanted_); }

  const ExplainInput& input() const { return input_; }
  const ClassifierExplainer& explainer() const { return explainer_; }

 private:
  const ClassifierExplainer& explainer_;
  ExplainInput input_;
  std::optional<std::string> wanted_;
};

ScoredNorms scored_norms(const ClassifierExplainer& explainer, const ExplainInput& input) {
  ValueNorms norms = explainer.value_norms(input);
  return {std::move(norms), explainer.token_scores(input, "value_norms")};
}

ScoredLens scored_lens(const ClassifierExplainer& explainer, const ExplainInput& input) {
  const std::vector<std::string>& labels = explainer.labels();
  ScoredLens result = {.lens = explainer.lens(input), .layers = {}, .labels = labels};
  const Lens& lens = result.lens;
  for (std::size_t row = 0; row <= lens.layers; ++row) {
    const auto from = lens.logits.begin() + static_cast<std::ptrdiff_t>(row * lens.labels);
    std::vector<float> scores(from, from + static_cast<std::ptrdiff_t>(lens.labels));
    to_scores(explainer.scoring(), scores);
    const std::string& label = labels[largest(scores)];
    result.layers.push_back({label, std::move(scores)});
  }
  return result;
}

// A method that takes one step.
class OneStep final : public ClassifierSteps {
 public:
  OneStep(const ClassifierExplainer& explainer, ExplainInput input, const ExplainRequest& request)
      : ClassifierSteps(explainer, std::move(input), request.label), request_(request) {}

  bool step() override {
    part_ = explain();
    return false;
  }
  ExplainedInput::Part take_part() override { return std::move(part_); }

 private:
  ExplainedInput::Part explain() const {
    const std::string& method = request_.method;
    if (method == "rollout") return explainer().rollout(input());
    if (method == "value_norms") return scored_norms(explainer(), input());
    if (method == "lens") return scored_lens(explainer(), input());
    if (method == "gradient_times_input") {
      return explainer().gradient_times_input(input(), label());
    }
    if (method == "relevance") return explainer().relevance(input(), label());
    if (method == "ledger") {
      return explainer().ledger(input(), {request_.label, request_.effects.value_or(false)});
    }
    return explainer().cut(input(), *request_.edges, request_.cut.value_or(Cut::scores), label());
  }

  const ExplainRequest& request_;
  ExplainedInput::Part part_;
};

class IntegratedSteps final : public ClassifierSteps {
 public:
  IntegratedSteps(const ClassifierExplainer& explainer, ExplainInput input,
                  const std::optional<std::string>& label)
      : ClassifierSteps(explainer, std::move(input), label),
        sum_(explainer.integrated_gradients(this->input(), this->label())) {}

  bool step() override { return sum_.step(); }
  ExplainedInput::Part take_part() override { return sum_.take(); }

 private:
  IntegratedGradientsSum sum_;
};

class TransplantSteps final : public ClassifierSteps {
 public:
  // `shows`: the table is shown after each step, and the first step estimates all cells.
  TransplantSteps(const ClassifierExplainer& explainer, ExplainInput base, ExplainInput donor,
                  const TransplantOptions& options, bool shows)
      : ClassifierSteps(explainer, std::move(base)),
        donor_(std::move(donor)),
        transplant_(explainer.transplant(input(), donor_, options)),
        shows_(shows) {}

  bool step() override {
    if (shows_ && make_linked_tape && !std::exchange(previewed_, true)) {
      transplant_.preview();
      return true;
    }
    return transplant_.step();
  }
  std::optional<ExplainedInput> so_far() override {
    if (!shows_) return std::nullopt;
    return take();
  }
  std::size_t label() const override { return transplant_.table().label; }
  ExplainedInput::Part take_part() override {
    return explainer().describe(transplant_.table(), input(), donor_);
  }

 private:
  ExplainInput donor_;
  Transplant transplant_;
  bool shows_, previewed_ = false;
};

class FaithfulnessSteps final : public ClassifierSteps {
 public:
  FaithfulnessSteps(const ClassifierExplainer& explainer, ExplainInput input,
                    const FaithfulnessOptions& options)
      : ClassifierSteps(explainer, std::move(input), options.label),
        test_(explainer.faithfulness(this->input(), options)) {}

  bool step() override { return test_.step(); }
  ExplainedInput::Part take_part() override {
    std::vector<std::vector<std::size_t>> words = input().words;
    for (std::vector<std::size_t>& word : words) {
      for (std::size_t& token : word) token += explainer().decoder_rows(input());
    }
    return WordFaithfulness{test_.take(), std::move(words)};
  }

 private:
  FaithfulnessTest test_;
};

class CircuitSteps final : public ClassifierSteps {
 public:
  CircuitSteps(const ClassifierExplainer& explainer, ExplainInput input, float least)
      : ClassifierSteps(explainer, std::move(input)),
        search_(explainer.circuit(this->input(), least)) {}

  bool step() override { return search_.step(); }
  std::size_t label() const override { return search_.circuit().label; }
  ExplainedInput::Part take_part() override { return search_.circuit(); }

 private:
  CircuitSearch search_;
};

// Checks which options the method takes.
void check_options(const ExplainRequest& request) {
  const std::string& method = request.method;
  if (method == "ledger") return expect_only(request, {"label", "effects"});
  if (method == "transplant" && request.site == TransplantSite::Kind::head) {
    return expect_only(request, {"label", "site", "head", "on_progress"});
  }
  if (method == "transplant") return expect_only(request, {"label", "site", "on_progress"});
  if (method == "faithfulness") {
    return expect_only(request, {"label", "of", "scores", "orders", "seed"});
  }
  if (method == "edges") return expect_only(request, {"label", "edges", "cut"});
  if (method == "circuit") return expect_only(request, {"least"});
  if (method == "gradient_times_input" || method == "integrated_gradients" ||
      method == "relevance") {
    return expect_only(request, {"label"});
  }
  expect_only(request, {});
}

void check_classifier_options(const ExplainRequest& request) {
  expect_method(request,
                {"rollout", "value_norms", "lens", "ledger", "transplant", "faithfulness", "edges",
                 "circuit", "gradient_times_input", "integrated_gradients", "relevance"});
  check_options(request);
}

// Checks the options for pictures, two of which every method takes.
void check_for_pictures(ExplainRequest request) {
  expect_method(request, {"rollout", "value_norms", "lens", "ledger", "faithfulness", "edges",
                          "circuit", "gradient_times_input", "integrated_gradients", "relevance"});
  request.interpolate.reset();
  request.size.reset();
  check_options(request);
}

TransplantSite site_of(const ExplainRequest& request) {
  TransplantSite site = {.kind = request.site.value_or(TransplantSite::Kind::residual)};
  if (site.kind != TransplantSite::Kind::head) return site;
  if (!request.head) refuse_option("head", "missing");
  site.head = *request.head;
  return site;
}

FaithfulnessOptions faithfulness_of(const ExplainRequest& request) {
  FaithfulnessOptions options = {.label = request.label};
  if (request.of) options.of = *request.of;
  if (std::ranges::find(token_score_methods, std::string_view(options.of)) ==
      token_score_methods.end()) {
    refuse_option("of",
                  {"expected one of {}, got {}", {list_score_methods(), describe(options.of)}});
  }
  if (request.scores) options.scores = *request.scores;
  options.orders = number_of("orders", request.orders, 0, most_orders, options.orders);
  constexpr std::size_t most_seed = std::numeric_limits<std::uint32_t>::max();
  options.seed =
      static_cast<std::uint32_t>(number_of("seed", request.seed, 0, most_seed, options.seed));
  return options;
}

// The parts of a request for a classifier.
struct ClassifierRequest {
  ClassifierRequest(ClassifierExplainer the_explainer, const ExplainRequest& of)
      : explainer(std::move(the_explainer)),
        request(of),
        site(site_of(of)),
        faithfulness(faithfulness_of(of)) {
    if (of.label) explainer.find_label(*of.label);
    if (of.method == "edges" && (!of.edges || of.edges->empty())) {
      refuse_option("edges", of.edges ? "expected an array of one or more, got none" : "missing");
    }
    const float least = of.least.value_or(1.0f);
    if (!(least > 0 && least <= 1)) {
      refuse_option("least",
                    {"expected a number above 0, at most 1, got {}", {shortest_decimal(least)}});
    }
  }

  // Starts a method that explains one input.
  std::unique_ptr<ExplanationSteps> begin(ExplainInput input) const {
    const auto is = [&](std::string_view name) { return request.method == name; };
    if (is("faithfulness")) {
      return std::make_unique<FaithfulnessSteps>(explainer, std::move(input), faithfulness);
    }
    if (is("integrated_gradients")) {
      return std::make_unique<IntegratedSteps>(explainer, std::move(input), request.label);
    }
    if (is("circuit")) {
      return std::make_unique<CircuitSteps>(explainer, std::move(input),
                                            request.least.value_or(0.8f));
    }
    return std::make_unique<OneStep>(explainer, std::move(input), request);
  }

  ClassifierExplainer explainer;
  ExplainRequest request;
  TransplantSite site;
  FaithfulnessOptions faithfulness;
};

class ClassifierJob final : public TextExplanations {
 public:
  ClassifierJob(ClassifyPipeline& pipeline, std::span<const TextInput> texts,
                const ExplainRequest& request)
      : TextExplanations(texts, request.method), of_(ClassifierExplainer(pipeline), request) {}

 private:
  std::unique_ptr<ExplanationSteps> begin(const TextInput& text) override {
    if (method() != "transplant") return of_.begin(of_.explainer.read(text));
    if (!text.pair) {
      throw_error(ErrorCode::invalid_option, "pair: expected two texts to transplant, got one");
    }
    return std::make_unique<TransplantSteps>(
        of_.explainer, of_.explainer.read(text.text), of_.explainer.read(*text.pair),
        TransplantOptions{of_.request.label, of_.site}, of_.request.shows_progress.value_or(false));
  }

  ClassifierRequest of_;
};

class PictureJob : public ExplanationJob {
 public:
  PictureJob(ClassifierExplainer explainer, std::span<const Picture> pictures,
             const ExplainRequest& request)
      : ExplanationJob(pictures.size(), request.method),
        of_(std::move(explainer), request),
        pictures_(pictures.begin(), pictures.end()) {}

 protected:
  ClassifierExplainer& explainer() { return of_.explainer; }

 private:
  std::unique_ptr<ExplanationSteps> begin(std::size_t index) override {
    ImageOptions options;
    options.interpolate = of_.request.interpolate.value_or(false);
    options.size = of_.request.size;
    return of_.begin(of_.explainer.read(pictures_[index], options));
  }

  ClassifierRequest of_;
  std::vector<Picture> pictures_;
};

// Embeds the texts of the labels first.
class MatchedPictureJob final : public PictureJob {
 public:
  MatchedPictureJob(MatchPipeline& pipeline, std::span<const Picture> pictures,
                    const ExplainRequest& request)
      : PictureJob({pipeline, *request.labels}, pictures, request),
        dual_(pipeline.dual()),
        labels_(std::in_place, pipeline, *request.labels,
                request.hypothesis_template.value_or(MatchOptions().hypothesis_template)) {}

  bool step() override {
    if (labels_) {
      if (labels_->step()) return true;
      explainer().set_labels(dual_, labels_->vectors());
      labels_.reset();
    }
    return PictureJob::step();
  }

 private:
  const DualEncoder& dual_;
  std::optional<MatchLabels> labels_;  // until their texts are embedded
};

}  // namespace

std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(ClassifyPipeline& pipeline,
                                                            std::span<const TextInput> texts,
                                                            const ExplainRequest& request) {
  check_classifier_options(request);
  return std::make_unique<ClassifierJob>(pipeline, texts, request);
}

std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(ImagePipeline& pipeline,
                                                            std::span<const Picture> pictures,
                                                            const ExplainRequest& request) {
  check_for_pictures(request);
  return std::make_unique<PictureJob>(ClassifierExplainer(pipeline), pictures, request);
}

std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(MatchPipeline& pipeline,
                                                            std::span<const Picture> pictures,
                                                            const ExplainRequest& request) {
  ExplainRequest rest = request;
  rest.labels.reset();
  rest.hypothesis_template.reset();
  check_for_pictures(rest);
  if (!request.labels || request.labels->empty()) {
    refuse_option("labels", "expected at least one, got none");
  }
  return std::make_unique<MatchedPictureJob>(pipeline, pictures, request);
}

}  // namespace glassformer
