#include <algorithm>
#include <utility>

#include "base/strings/decimal.hpp"
#include "explain/gradients.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/explain/explanation_job.hpp"
#include "tasks/reading/scores.hpp"

namespace glassformer {
namespace {

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
    std::vector<float> logits(from, from + static_cast<std::ptrdiff_t>(lens.labels));
    std::vector<float> scores = logits;
    to_scores(explainer.scoring(), scores);
    const std::string& label = labels[largest(scores)];
    result.layers.push_back({label, std::move(scores), std::move(logits)});
  }
  return result;
}

// A method that takes one step, and returns its part of the result.
using OneRun = ExplainedInput::Part (*)(const ClassifierExplainer&, const ExplainInput&,
                                        std::size_t label, const ExplainRequest&);

class OneStep final : public ClassifierSteps {
 public:
  OneStep(const ClassifierExplainer& explainer, ExplainInput input, const ExplainRequest& request,
          OneRun explain)
      : ClassifierSteps(explainer, std::move(input), request.options.label),
        request_(request),
        explain_(explain) {}

  bool step() override {
    part_ = explain_(explainer(), input(), label(), request_);
    return false;
  }
  ExplainedInput::Part take_part() override { return std::move(part_); }

 private:
  const ExplainRequest& request_;
  OneRun explain_;
  ExplainedInput::Part part_;
};

class ZeroingSteps final : public ClassifierSteps {
 public:
  ZeroingSteps(const ClassifierExplainer& explainer, ExplainInput input)
      : ClassifierSteps(explainer, std::move(input)),
        zeroing_(explainer.value_zeroing(this->input())) {}

  bool step() override { return zeroing_.step(); }
  ExplainedInput::Part take_part() override { return explainer().scored(zeroing_.take(), input()); }

 private:
  ValueZeroing zeroing_;
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

class PatchingSteps final : public ClassifierSteps {
 public:
  // `shows`: the table is shown after each step, and the first step estimates all cells.
  PatchingSteps(const ClassifierExplainer& explainer, ExplainInput base, ExplainInput donor,
                const ActivationPatchingOptions& options, bool shows)
      : ClassifierSteps(explainer, std::move(base)),
        donor_(std::move(donor)),
        patching_(explainer.activation_patching(input(), donor_, options)),
        shows_(shows) {}

  bool step() override {
    if (shows_ && make_linked_tape && !std::exchange(previewed_, true)) {
      patching_.preview();
      return true;
    }
    return patching_.step();
  }
  std::optional<ExplainedInput> so_far() override {
    if (!shows_) return std::nullopt;
    return take();
  }
  std::size_t label() const override { return patching_.table().label; }
  ExplainedInput::Part take_part() override {
    return explainer().describe(patching_.table(), input(), donor_);
  }

 private:
  ExplainInput donor_;
  ActivationPatching patching_;
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

// Searches a circuit between two texts, and those of the request.
class PairCircuitSteps final : public ClassifierSteps {
 public:
  PairCircuitSteps(const ClassifierExplainer& explainer, const TextInput& text,
                   const ExplainRequest& request)
      : ClassifierSteps(explainer, explainer.read(text.text), request.options.label),
        donor_(explainer.read(*text.pair)),
        request_(request) {
    if (explainer.scoring() != Scoring::softmax) {
      const CircuitMetric usual = ChosenEdges().metric;
      if (request.options.metric != usual) {
        refuse_option("metric", "expected logit_difference for labels that are no alternatives");
      }
    }
    subjects_.push_back(subject(input(), donor_, label()));
  }

  bool step() override {
    if (search_) return search_->step();
    const std::vector<CircuitPair>& more = request_.options.more_pairs;
    const std::size_t index = subjects_.size() - 1;
    if (index < more.size()) {
      of_further_pair(index, [&] { add(more[index]); });
    } else {
      search_.emplace(std::move(subjects_), edge_circuit_options(request_.options));
    }
    return true;
  }
  ExplainedInput::Part take_part() override {
    return PairCircuit{search_->take(), explainer().tokens_of(donor_)};
  }

 private:
  CircuitSubject subject(const ExplainInput& clean, const ExplainInput& corrupt,
                         std::size_t label) const {
    const std::size_t pairs = 1 + request_.options.more_pairs.size();
    return explainer().circuit_subject(clean, corrupt, label, pairs);
  }

  void add(const CircuitPair& pair) {
    const ExplainInput clean = explainer().read(pair.text), corrupt = explainer().read(pair.pair);
    const std::size_t label = explainer().label_of(clean, request_.options.label);
    if (pair.token || pair.against) {
      refuse_option(pair.token ? "token" : "against", "expected it only of a model that writes");
    }
    subjects_.push_back(subject(clean, corrupt, label));
  }

  ExplainInput donor_;
  const ExplainRequest& request_;
  std::vector<CircuitSubject> subjects_;
  std::optional<EdgeCircuitSearch> search_;
};

// Refuses options of a circuit between two texts where there is one.
void expect_two_texts(const ExplainOptions& options) {
  const ChosenEdges usual;
  const auto refuse = [](const char* name) {
    refuse_option(name, "expected it only with two texts");
  };
  if (options.label) refuse("label");
  if (!options.more_pairs.empty()) refuse("more_pairs");
  if (options.metric != usual.metric) refuse("metric");
  if (options.ablation != usual.ablation) refuse("ablation");
  if (options.steps != usual.steps) refuse("steps");
  if (options.edge_count) refuse("edge_count");
  if (!options.cut_edges.empty()) refuse("cut_edges");
  if (options.random_circuits != usual.random_circuits) refuse("random_circuits");
  if (options.seed != RandomSeed().seed) refuse("seed");
}

PatchingSite site_of(const ExplainOptions& wanted) {
  PatchingSite site = {.kind = wanted.site};
  if (site.kind != PatchingSite::Kind::head) {
    if (wanted.head) refuse_option("head", {"expected it only with {} head", {Field("site")}});
    return site;
  }
  if (!wanted.head) refuse_option("head", "missing");
  site.head = *wanted.head;
  return site;
}

FaithfulnessOptions faithfulness_of(const ExplainRequest& request) {
  const TestedScores& test = request.options;
  expect_tested(test);
  return {.scores = test.scores.value_or(std::vector<float>()),
          .of = test.of,
          .label = request.options.label,
          .orders = test.orders,
          .seed = request.options.seed};
}

// The parts of a request for a classifier.
struct ClassifierRequest {
  ClassifierRequest(ClassifierExplainer the_explainer, const ExplainRequest& asked)
      : explainer(std::move(the_explainer)),
        request(asked),
        site(site_of(asked.options)),
        faithfulness(faithfulness_of(asked)) {
    if (asked.options.label) explainer.find_label(*asked.options.label);
    const auto& edges = asked.options.edges;
    if (asked.is("edges") && (!edges || edges->empty())) {
      refuse_option("edges", edges ? "expected an array of one or more, got none" : "missing");
    }
    const float least = asked.options.least;
    if (!(least > 0 && least <= 1)) {
      refuse_option("least",
                    {"expected a number above 0, at most 1, got {}", {shortest_decimal(least)}});
    }
  }

  // Starts a method that explains one input.
  std::unique_ptr<ExplanationSteps> begin(ExplainInput input) const;

  ClassifierExplainer explainer;
  ExplainRequest request;
  PatchingSite site;
  FaithfulnessOptions faithfulness;
};

template <OneRun explain>
std::unique_ptr<ExplanationSteps> in_one_step(const ClassifierRequest& of, ExplainInput input) {
  return std::make_unique<OneStep>(of.explainer, std::move(input), of.request, explain);
}

// The methods that explain one input.
struct Beginning {
  std::string_view method;
  std::unique_ptr<ExplanationSteps> (*begin)(const ClassifierRequest&, ExplainInput);
};
using Part = ExplainedInput::Part;
using Explainer = ClassifierExplainer;
using Input = ExplainInput;
using Request = ExplainRequest;
constexpr Beginning beginnings[] = {
    {"rollout", in_one_step<[](const Explainer& of, const Input& input, std::size_t,
                               const Request&) -> Part { return of.rollout(input); }>},
    {"value_norms", in_one_step<[](const Explainer& of, const Input& input, std::size_t,
                                   const Request&) -> Part { return scored_norms(of, input); }>},
    {"value_zeroing",
     [](const ClassifierRequest& of, ExplainInput input) -> std::unique_ptr<ExplanationSteps> {
       return std::make_unique<ZeroingSteps>(of.explainer, std::move(input));
     }},
    {"lens", in_one_step<[](const Explainer& of, const Input& input, std::size_t,
                            const Request&) -> Part { return scored_lens(of, input); }>},
    {"direct_logit_attribution", in_one_step<[](const Explainer& of, const Input& input,
                                                std::size_t, const Request& request) -> Part {
       return of.direct_logit_attribution(input, {.label = request.options.label,
                                                  .effects = request.options.effects,
                                                  .loadings = request.options.loadings});
     }>},
    {"faithfulness",
     [](const ClassifierRequest& of, ExplainInput input) -> std::unique_ptr<ExplanationSteps> {
       return std::make_unique<FaithfulnessSteps>(of.explainer, std::move(input), of.faithfulness);
     }},
    {"edges", in_one_step<[](const Explainer& of, const Input& input, std::size_t label,
                             const Request& request) -> Part {
       const CutEdges& cut = request.options;
       return of.cut(input, *cut.edges, cut.cut, label);
     }>},
    {"circuit",
     [](const ClassifierRequest& of, ExplainInput input) -> std::unique_ptr<ExplanationSteps> {
       return std::make_unique<CircuitSteps>(of.explainer, std::move(input),
                                             of.request.options.least);
     }},
    {"gradient_times_input",
     in_one_step<[](const Explainer& of, const Input& input, std::size_t label,
                    const Request&) -> Part { return of.gradient_times_input(input, label); }>},
    {"integrated_gradients",
     [](const ClassifierRequest& of, ExplainInput input) -> std::unique_ptr<ExplanationSteps> {
       return std::make_unique<IntegratedSteps>(of.explainer, std::move(input),
                                                of.request.options.label);
     }},
    {"relevance", in_one_step<[](const Explainer& of, const Input& input, std::size_t label,
                                 const Request&) -> Part { return of.relevance(input, label); }>},
    {"attn_lrp",
     in_one_step<[](const Explainer& of, const Input& input, std::size_t label, const Request&)
                     -> Part { return of.propagated(input, label, BackwardRules::attn_lrp); }>},
    {"cp_lrp",
     in_one_step<[](const Explainer& of, const Input& input, std::size_t label, const Request&)
                     -> Part { return of.propagated(input, label, BackwardRules::cp_lrp); }>},
};

std::unique_ptr<ExplanationSteps> ClassifierRequest::begin(ExplainInput input) const {
  const auto found = std::ranges::find(beginnings, request.method->name, &Beginning::method);
  return found->begin(*this, std::move(input));
}

class ClassifierJob final : public TextExplanations {
 public:
  ClassifierJob(ClassifyPipeline& pipeline, std::span<const TextInput> texts,
                const ExplainRequest& request)
      : TextExplanations(texts, request.method->name),
        of_(ClassifierExplainer(pipeline), request) {}

 private:
  std::unique_ptr<ExplanationSteps> begin(const TextInput& text) override {
    if (method() == "circuit" && text.pair) {
      expect_linked_gradients();
      return std::make_unique<PairCircuitSteps>(of_.explainer, text, of_.request);
    }
    if (method() == "circuit") expect_two_texts(of_.request.options);
    if (method() != "activation_patching") return of_.begin(of_.explainer.read(text));
    const std::string_view donor = expect_donor(text);
    return std::make_unique<PatchingSteps>(
        of_.explainer, of_.explainer.read(text.text), of_.explainer.read(donor),
        ActivationPatchingOptions{of_.request.options.label, of_.site},
        of_.request.options.on_progress);
  }

  ClassifierRequest of_;
};

class PictureJob : public ExplanationJob {
 public:
  PictureJob(ClassifierExplainer explainer, std::span<const Picture> pictures,
             const ExplainRequest& request)
      : ExplanationJob(pictures.size(), request.method->name),
        of_(std::move(explainer), request),
        pictures_(pictures.begin(), pictures.end()) {}

 protected:
  ClassifierExplainer& explainer() { return of_.explainer; }

 private:
  std::unique_ptr<ExplanationSteps> begin(std::size_t index) override {
    ImageOptions options;
    options.interpolate = of_.request.options.interpolate;
    options.size = of_.request.options.size;
    return of_.begin(of_.explainer.read(pictures_[index], options));
  }

  ClassifierRequest of_;
  std::vector<Picture> pictures_;
};

// Embeds the texts of the labels first.
class MatchedPictureJob final : public PictureJob {
 public:
  MatchedPictureJob(MatchPipeline& pipeline, std::span<const Picture> pictures,
                    const ExplainRequest& request, const MatchedLabels& matched)
      : PictureJob({pipeline, matched.labels}, pictures, request),
        dual_(pipeline.dual()),
        labels_(std::in_place, pipeline, matched.labels, matched.hypothesis_template) {}

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
  return std::make_unique<ClassifierJob>(pipeline, texts, request);
}

std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(ImagePipeline& pipeline,
                                                            std::span<const Picture> pictures,
                                                            const ExplainRequest& request) {
  return std::make_unique<PictureJob>(ClassifierExplainer(pipeline), pictures, request);
}

std::unique_ptr<TypedJob<ExplainedInput>> begin_explanation(MatchPipeline& pipeline,
                                                            std::span<const Picture> pictures,
                                                            const ExplainRequest& request) {
  const MatchedLabels& matched = request.options;
  if (matched.labels.empty()) refuse_option("labels", "expected at least one, got none");
  return std::make_unique<MatchedPictureJob>(pipeline, pictures, request, matched);
}

}  // namespace glassformer
