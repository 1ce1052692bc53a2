#include "tasks/explain/explain.hpp"
#include "cli/explanation_line.hpp"
#include "cli/files/picture_file.hpp"
#include "cli/lines.hpp"
#include "tasks/explain/explain_next_gradients.hpp"

namespace glassformer {
namespace {

class ExplainCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, model_.folder);
    app.add_option("--method", request_.method,
                   "rollout: attention through all layers; value_norms: attention times the size "
                   "of what it moves; lens: what each layer would answer; ledger: the answer as a "
                   "sum of what each part adds; transplant: vectors of the line's second text in "
                   "its first; faithfulness: how well scores tell what matters; edges: what some "
                   "arrows of attention do; circuit: the fewest arrows that give the answer; "
                   "decoder_lens: the translation as read from each encoder layer; "
                   "gradient_times_input, integrated_gradients, relevance: by gradients; "
                   "gradients: those of the tensors in --names")
        ->check(
            CLI::IsMember({"rollout", "value_norms", "lens", "ledger", "transplant", "faithfulness",
                           "edges", "circuit", "decoder_lens", "gradient_times_input",
                           "integrated_gradients", "relevance", "gradients"}))
        ->required();
    add_json(app, json_);
    app.add_option("--label", request_.label, "what to explain; where not given, the answer");
    CLI::Option* const labels = add_labels(app, "--labels", labels_);
    add_template(app, template_)->needs(labels);
    declare_next(app);
    declare_tests(app);
    add_pair(app, request_.from, request_.to);
    app.add_option("--beams", request_.beams,
                   "of a model with encoder and decoder: hypotheses followed at once; else 1");
    app.add_option("--words", request_.words, "of a lens on next words, with --json: how many");
    app.add_flag("--pairs", pairs_, "as in classify");
    add_compute(app, model_.compute);
    add_threads(app, model_.threads);
  }

  Exit run() override {
    const auto loaded = load_pipeline<Pipeline>(model_.folder, model_.options());
    Pipeline& pipeline = *loaded;
    if (effects_) request_.effects = true;
    if (!labels_.empty()) {
      request_.labels = labels_;
      request_.hypothesis_template = template_;
    }
    // If the model reads pictures, a line is the path of a file.
    const bool pairs = pairs_ || request_.method == "transplant";  // which has two texts
    const AnswerLines how = {
        .json = json_, .at_once = 1, .form = pairs ? LineForm::pair : LineForm::text};
    const Task task = pipeline.config().task;
    const bool classifies = task == Task::text_classification || reads_pictures(pipeline.config());
    if (request_.method == "gradients" || (!classifies && explains_by_gradients(request_.method))) {
      NextGradientsRequest request = next_gradients_request(request_);
      request.names = names_;
      request.baseline_token = baseline_token_;
      return answer_lines(
          pipeline, how,
          [&](std::span<const TextInput> texts) {
            return begin_next_gradients(pipeline, texts, request);
          },
          next_gradients_line);
    }
    if (!names_.empty() || baseline_token_) {
      refuse_option({"{}, {}: expected the gradients of a next token",
                     {Field("names"), Field("baseline_token")}});
    }
    return answer_lines(
        pipeline, how,
        [&](std::span<const TextInput> lines) {
          if (!reads_pictures(pipeline.config())) {
            return begin_explanation(pipeline, TaskInputs{.texts = lines}, request_);
          }
          const std::vector<Picture> pictures = read_pictures(lines);
          return begin_explanation(pipeline, TaskInputs{.pictures = pictures}, request_);
        },
        explanation_line);
  }

 private:
  // Declares the options of methods that explain a next token.
  void declare_next(CLI::App& app) {
    app.add_option("--sentence", request_.sentence,
                   "of a ledger or gradients of a translator: which sentence; else 0, the first");
    app.add_option("--position", request_.position,
                   "of the same, and of a model that answers texts: which token of the "
                   "translation or answer; else 0, the first");
    app.add_option_function<std::vector<std::uint32_t>>(
           "--prefix",
           [this](const std::vector<std::uint32_t>& ids) {
             request_.prefix.emplace(ids.begin(), ids.end());
           },
           "of the same: ids that the translation or answer begins with, ID,…; the token after "
           "these is then explained")
        ->delimiter(',');
    app.add_option("--token", request_.token,
                   "of a ledger or gradients of what is written next: the id of the token to "
                   "explain; else the likeliest, or what the translation or answer has there");
    app.add_option("--against", request_.against, "and not this one; else the likeliest other");
    app.add_flag("--effects", effects_, "of ledger: what the answer loses without each column");
    app.add_option("--baseline-token", baseline_token_,
                   "of integrated_gradients of what is written next: the id of the token whose "
                   "embedding the others begin with; else zeros");
    app.add_option("--names", names_,
                   "of gradients: names of tensors; \"*\" stands for any characters except a dot");
  }

  // Declares the options of methods that change the run.
  void declare_tests(CLI::App& app) {
    add_enum<TransplantSite::Kind>(
        app, "--site", request_.site,
        "of transplant: what is carried from the second text; else residual, the "
        "vectors between layers");
    app.add_option("--head", request_.head, "of transplant --site head: which");
    app.add_option("--of", request_.of,
                   "of faithfulness: the method whose scores are tested; else rollout")
        ->check(CLI::IsMember({"rollout", "value_norms", "ledger", "gradient_times_input",
                               "integrated_gradients", "relevance"}));
    app.add_option("--orders", request_.orders, "of faithfulness: how many random orders")
        ->check(CLI::Range(0, 1000));
    add_edges(app, request_.edges, "of edges: the arrows to cut, LAYER.HEAD.QUERY.KEY,…");
    add_enum<Cut>(app, "--cut", request_.cut,
                  "of edges: cut scores, before the softmax, so that the others share the rest; or "
                  "weights, behind it; else scores");
    app.add_option("--least", request_.least, "of circuit: the share of the answer to keep")
        ->check(CLI::Range(0.01, 1.0));
  }

  ModelArguments model_;
  ExplainRequest request_;
  std::vector<std::string> names_, labels_;
  std::string template_ = MatchOptions().hypothesis_template;
  std::optional<std::size_t> baseline_token_;
  bool json_ = false, pairs_ = false, effects_ = false;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace glassformer
