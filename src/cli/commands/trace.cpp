#include <algorithm>
#include <iostream>
#include <iterator>

#include "base/strings/printable.hpp"
#include "cli/files/new_files.hpp"
#include "cli/flags.hpp"
#include "cli/lines.hpp"
#include "tasks/answer/answer.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/embed/embed.hpp"
#include "tasks/explain/next/next_gradients.hpp"
#include "tasks/fill/fill.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/image/image.hpp"
#include "tasks/match/match.hpp"
#include "tasks/tag/token_classify.hpp"
#include "tasks/translate/translate.hpp"
#include "weights/safetensors.hpp"

namespace glassformer {
namespace {

std::vector<std::string> all_lines() {
  say_who_writes();
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) {
    without_return(line);
    lines.push_back(std::move(line));
  }
  return lines;
}

// Returns the traced tensors of a result, renamed to "<line>NAME", or to "<line>SENTENCE/NAME" if
// the line has several sentences.
std::vector<TracedTensor> traced(std::vector<TracedTensor> tensors, const std::string& line) {
  static constexpr std::string_view list = "sentences.", trace = "trace.", gradients = "gradients.";
  const bool several = std::ranges::any_of(
      tensors, [](const TracedTensor& tensor) { return tensor.name.starts_with("sentences.1."); });
  std::vector<TracedTensor> found;
  for (TracedTensor& tensor : tensors) {
    std::string_view name = tensor.name;
    std::string place = line;
    if (name.starts_with(list)) {
      const std::size_t dot = name.find('.', list.size());
      if (several) place.append(name.substr(list.size(), dot - list.size())).append("/");
      name.remove_prefix(dot + 1);
    }
    const auto prefix = name.starts_with(trace) ? trace : gradients;
    if (!name.starts_with(prefix)) continue;
    tensor.name = place.append(name.substr(prefix.size()));
    found.push_back(std::move(tensor));
  }
  return found;
}

std::uint64_t write(const std::vector<TracedTensor>& tensors, const std::filesystem::path& path) {
  std::vector<NamedTensor> named;
  for (const TracedTensor& tensor : tensors) {
    named.push_back({tensor.name, DType::f32, tensor.shape, std::as_bytes(std::span(tensor.data))});
  }
  const SafetensorsLayout layout = lay_out_safetensors(named);
  OutputFile file(path);
  file.write(0, std::as_bytes(std::span(layout.header)));
  for (std::size_t i = 0; i < named.size(); ++i) file.write(layout.offsets[i], named[i].bytes);
  file.close();
  return layout.size;
}

// Returns visit(pipeline) with the pipeline's own type, such as ClassifyPipeline.
template <class Visit>
auto with_task(Pipeline& pipeline, const Visit& visit) {
  switch (pipeline.config().task) {
    case Task::text_classification:
      return visit(static_cast<ClassifyPipeline&>(pipeline));
    case Task::token_classification:
      return visit(static_cast<TokenClassifyPipeline&>(pipeline));
    case Task::question_answering:
      return visit(static_cast<AnswerPipeline&>(pipeline));
    case Task::fill_mask:
      return visit(static_cast<FillPipeline&>(pipeline));
    case Task::feature_extraction:
      return visit(static_cast<EmbedPipeline&>(pipeline));
    case Task::image_classification:
      return visit(static_cast<ImagePipeline&>(pipeline));
    case Task::zero_shot_image_classification:
      return visit(static_cast<MatchPipeline&>(pipeline));
    case Task::translation:
      return visit(static_cast<TranslatePipeline&>(pipeline));
    case Task::text_generation:
    case Task::text2text_generation:
      break;
  }
  return visit(static_cast<GeneratePipeline&>(pipeline));
}

// The JSON of a result, and its tensors.
struct TracedAnswer {
  std::string json;
  std::vector<TracedTensor> tensors;
};

// Writes the tensors of each line's run to a file.
class TraceCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, model_);
    app.add_option("--names", names_,
                   "The tensors: NAME,… * stands for any characters except dots: "
                   "'encoder.layers.*.output'.")
        ->delimiter(',')
        ->required();
    app.add_option(
           "--out", out_,
           "The file to write. With several lines, names begin with the line's number, from 0: "
           "LINE/NAME.")
        ->required();
    app.add_flag(
        "--gradients", gradients_,
        "Write the gradients of the answer with respect to the tensors, instead of the tensors.");
    app.add_flag("--json", json_, "Print the answers, one JSON object per line.");
    app.add_flag("--pairs", pairs_,
                 "For a classifier: a line is two texts, with a tab between them.");
    app.add_option("--task", task_, "For a model that writes texts: as in generate.");
    app.add_flag("--no-prefix", no_prefix_, "For a model that writes texts: as in generate.");
    add_flags(app, languages_);
    add_flags(app, matched_, {.only = {"labels"}});
    add_patch(app, patch_);
    add_compute(app, compute_);
  }
  Exit run() override;

 private:
  // Sets the options of the command. Throws `invalid_option` for options that this task does not
  // have.
  template <class Options>
  void ask(Options& options) const {
    if constexpr (requires { options.encoder; }) {
      (gradients_ ? options.encoder.gradients : options.encoder.trace) = names_;
      options.encoder.patch = read_patches(patch_);
    } else {
      if (gradients_ && (!patch_.path.empty() || !task_.empty() || no_prefix_)) {
        refuse_option(
            "--gradients: expected no --patch, --task or --no-prefix of a model that writes");
      }
      if (!gradients_) options.trace = names_;
      options.patch = read_patches(patch_);
    }
    if constexpr (requires { options.from; }) {
      options.from = languages_.from;
      options.to = languages_.to;
    } else if (languages_.from || languages_.to) {
      refuse_option({"{}, {}: expected a translator", {Field("from"), Field("to")}});
    }
    if constexpr (requires { options.hypothesis_template; }) {
      options.labels = matched_.labels;
    } else if (!matched_.labels.empty()) {
      refuse_option("labels", "expected a model that compares pictures with texts");
    }
    if constexpr (requires { options.prefix; }) {
      if (!task_.empty()) options.task = task_;
      options.prefix = !no_prefix_;
    } else if (!task_.empty() || no_prefix_) {
      refuse_option("--task, --no-prefix: expected a model that continues texts");
    }
  }

  // Starts a line. The gradients of a model that writes are those of its next token.
  template <class OnePipeline, class Options>
  std::unique_ptr<Job> begin_line(OnePipeline& pipeline, std::span<const TextInput> texts,
                                  const Options& options) const {
    if constexpr (!requires { options.encoder; }) {
      if (gradients_) return begin_next_gradients(pipeline, texts, gradient_request(pipeline));
    }
    return begin_job(pipeline, texts, options);
  }
  ExplainRequest gradient_request(const Pipeline& pipeline) const;
  template <class OnePipeline>
  Exit run(OnePipeline& pipeline) const;
  template <class OnePipeline, class Options>
  TracedAnswer answer(OnePipeline& pipeline, const TextInput& text, const Options& options) const;

  std::filesystem::path model_, out_;
  std::vector<std::string> names_;
  std::string task_;  // empty: no task
  Languages languages_;
  MatchedLabels matched_;
  PatchFile patch_;
  std::optional<Compute> compute_;
  bool pairs_ = false, json_ = false, no_prefix_ = false, gradients_ = false;
};

ExplainRequest TraceCommand::gradient_request(const Pipeline& pipeline) const {
  ExplainRequest request = request_for(pipeline, "gradients");
  request.options.names = names_;
  static_cast<Languages&>(request.options) = languages_;
  return request;
}

template <class OnePipeline, class Options>
TracedAnswer TraceCommand::answer(OnePipeline& pipeline, const TextInput& text,
                                  const Options& options) const {
  const auto job = begin_line(pipeline, std::span(&text, 1), options);
  while (job->step()) {
  }
  job->finish();
  TensorsBeside writer;
  job->write(0, writer);
  return {writer.take(), writer.take_tensors()};
}

template <class OnePipeline>
Exit TraceCommand::run(OnePipeline& pipeline) const {
  const std::string name = out_.filename().string();
  NewFiles files(out_.has_parent_path() ? out_.parent_path() : ".", {name});
  typename OnePipeline::Options options;
  ask(options);
  begin_line(pipeline, std::span<const TextInput>(), options);  // rejects bad options first
  const bool pairs = pairs_ || pipeline.config().task == Task::question_answering;
  const LineForm form = pairs ? LineForm::pair : LineForm::text;

  const std::vector<std::string> lines = all_lines();
  Exit exit = Exit::ok;
  std::vector<TracedTensor> tensors;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    try {
      TracedAnswer result = answer(pipeline, to_input(lines[i], form), options);
      const std::string line = lines.size() > 1 ? std::to_string(i) + "/" : "";
      std::ranges::move(traced(std::move(result.tensors), line), std::back_inserter(tensors));
      if (json_) std::cout << result.json << '\n';
    } catch (const Error& error) {
      exit = Exit::bad_input;
      std::cerr << "glassformer: line " << i + 1 << ": " << error.what() << '\n';
      if (json_) std::cout << to_json(error) << '\n';
    }
  }
  if (tensors.empty()) {
    std::cerr << "glassformer: no line has a trace; nothing was written\n";
    return Exit::bad_input;
  }
  const std::uint64_t size = write(tensors, files.path(name));
  files.publish();
  std::cerr << "glassformer: wrote " << tensors.size() << " tensors, " << size << " bytes, to "
            << printable(out_.string()) << '\n';
  return exit;
}

Exit TraceCommand::run() {
  const auto pipeline = load_pipeline(model_, {}, {.compute = compute_});
  return with_task(*pipeline, [this](auto& typed) { return run(typed); });
}

}  // namespace

std::unique_ptr<Command> make_trace_command() { return std::make_unique<TraceCommand>(); }

}  // namespace glassformer
