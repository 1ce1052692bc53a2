#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "kernels/kernels.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/image/image.hpp"
#include "tasks/load.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::string_view sample =
    "The first hour is gripping and beautifully shot, and the two leads are a joy to watch, but "
    "the ending drags on so long that even the most patient viewer will look for the door. ";

// Returns a text of `tokens` tokens, or slightly fewer, since it consists of whole words.
std::string text_of(std::size_t tokens, const Tokenizer& tokenizer) {
  std::string words;
  while (tokenizer.encode(words).size() <= tokens) words += sample;
  while (tokenizer.encode(words).size() > tokens && words.find(' ') != std::string::npos) {
    words.resize(words.find_last_of(' '));
  }
  return words;
}

/// The options of a measurement.
struct BenchPlan {
  std::filesystem::path model = {};
  std::optional<Compute> compute = {};
  std::vector<std::size_t> lengths = {16, 64, 256};
  std::string text = {};  // replaces texts of these lengths
  std::optional<std::string> from = {}, to = {};
  bool attention = false, shortlist = false, json = false;
  std::size_t threads = 0;
  std::size_t output_tokens = 0;  // of a translation or a continuation; 0: see the option
};

// Returns the texts to measure: the plan's own, or one for each requested number of tokens.
std::vector<std::string> texts_of(const BenchPlan& plan, const Tokenizer& tokenizer,
                                  std::size_t around = 0) {
  if (!plan.text.empty()) return {plan.text};
  std::vector<std::string> texts;
  for (const std::size_t length : plan.lengths) {
    texts.push_back(text_of(length - std::min(length, around), tokenizer));
  }
  return texts;
}

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Returns the median result of `measure`, called for at least a second and ten times. A median of
// many short calls is robust against noisy neighbors.
template <class Measure>
double median(const Measure& measure) {
  std::vector<double> values;
  const auto start = Clock::now();
  while (values.size() < 10 || Clock::now() - start < std::chrono::seconds(1)) {
    values.push_back(measure());
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Prints rows as they arrive: as a JSON array, or one line per row.
class Report {
 public:
  Report(const BenchPlan& plan, const std::string& task, Pipeline& pipeline)
      : json_(plan.json),
        common_({{"engine", "glassformer"},
                 {"build", "native-" + std::string(kernels().name)},
                 {"precision", to_string(pipeline.compute())},
                 {"threads", pipeline.thread_pool().threads()},
                 {"model", std::filesystem::canonical(plan.model).filename().string()},
                 {"task", task}}) {}

  void add(const Json& figures, const std::string& line) {
    Json row = common_;
    row.update(figures);
    if (json_) {
      std::cout << (rows_ == 0 ? "[" : ",\n ") << row.dump() << std::flush;
    } else {
      const auto text = [&](const char* key) { return common_.at(key).get<std::string>(); };
      std::cout << text("build") << "  " << text("precision") << "  " << text("model") << "  "
                << text("task") << "  " << line << std::endl;
    }
    ++rows_;
  }

  void finish() {
    if (json_) std::cout << (rows_ == 0 ? "[]\n" : "]\n");
  }

 private:
  bool json_;
  Json common_;
  std::size_t rows_ = 0;
};

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

void bench(const BenchPlan& plan, ClassifyPipeline& pipeline) {
  Report report(plan, "classify", pipeline);
  const Tokenizer& tokenizer = pipeline.tokenizer();
  const std::size_t around = pipeline.classify("a").tokens.size() - tokenizer.encode("a").size();
  for (const std::string& text : texts_of(plan, tokenizer, around)) {
    const std::size_t tokens = pipeline.classify(text).tokens.size();
    const double ms = median([&] {
      const auto begin = Clock::now();
      pipeline.classify(text, {.encoder = {.attention = plan.attention}});
      return milliseconds_since(begin);
    });
    report.add({{"tokens", tokens}, {"ms_median", ms}}, format("%zu tokens  %.3f ms", tokens, ms));
  }
  report.finish();
}

// Measures a gray picture of the model's size, which needs no resizing.
void bench(const BenchPlan& plan, ImagePipeline& pipeline) {
  Report report(plan, "image", pipeline);
  const PatchInput& input = std::get<PatchInput>(pipeline.config().encoder().input);
  Picture picture = {input.width, input.height, input.channels, {}};
  picture.bytes.assign(input.width * input.height * input.channels, 128);
  const ImageOptions options = {.encoder = {.attention = plan.attention},
                                .size = {{input.height, input.width}}};
  const double ms = median([&] {
    const auto begin = Clock::now();
    pipeline.classify(picture, options);
    return milliseconds_since(begin);
  });
  report.add({{"tokens", input.rows()}, {"ms_median", ms}},
             format("%zu rows  %.3f ms", input.rows(), ms));
  report.finish();
}

// Returns the options of a translation. A search with a length of its own ends there.
TranslateOptions translation(const BenchPlan& plan, std::size_t beams) {
  TranslateOptions options = {
      .from = plan.from, .to = plan.to, .beams = beams, .attention = plan.attention};
  if (plan.output_tokens > 0) {
    options.early_stopping = EarlyStopping::yes;
    options.max_length = plan.output_tokens;
  }
  return options;
}

// Returns the time from the text to the first token of a greedy stream.
double first_token_ms(const BenchPlan& plan, TranslatePipeline& pipeline, std::string_view text) {
  TranslateOptions options = translation(plan, 1);
  options.attention = false;
  options.stream = true;
  const auto begin = Clock::now();
  auto job = pipeline.begin(std::span(&text, 1), options);
  while (!job->streamed()) job->step();
  return milliseconds_since(begin);
}

void bench(const BenchPlan& plan, TranslatePipeline& pipeline) {
  Report report(plan, "translate", pipeline);
  for (const std::string& text : texts_of(plan, pipeline.source_tokenizer())) {
    const double first = median([&] { return first_token_ms(plan, pipeline, text); });
    for (const std::size_t beams : {std::size_t{1}, std::size_t{4}}) {
      const TranslateOptions options = translation(plan, beams);
      std::size_t source = 0, target = 0;
      for (const auto& sentence : pipeline.translate(text, options).sentences) {
        source += sentence.source_tokens.size();
        target += sentence.output.tokens.size();
      }
      const double ms = median([&] {
        const auto begin = Clock::now();
        pipeline.translate(text, options);
        return milliseconds_since(begin);
      });
      const double per_second = 1000 * static_cast<double>(target) / ms;
      report.add(
          {{"tokens", source},
           {"ms_median", ms},
           {"beams", beams},
           {"output_tokens", target},
           {"tokens_per_second", per_second},
           {"ms_first_token", first}},
          format("%zu beam%s  %zu -> %zu tokens  %.3f ms  %.0f tokens/s  first after %.3f ms",
                 beams, beams == 1 ? " " : "s", source, target, ms, per_second, first));
    }
  }
  report.finish();
}

// Returns the time to continue a text greedily.
double generation_ms(GeneratePipeline& pipeline, std::string_view text,
                     const GenerateOptions& options) {
  const auto begin = Clock::now();
  auto job = pipeline.begin(std::span(&text, 1), options);
  only(run_all(*job));
  return milliseconds_since(begin);
}

void bench(const BenchPlan& plan, GeneratePipeline& pipeline) {
  const std::size_t more = plan.output_tokens > 0 ? plan.output_tokens : 32;  // after the first
  Report report(plan, "generate", pipeline);
  GenerateOptions options;
  options.sample = false;
  options.beams = 1;
  options.attention = plan.attention;
  for (const std::string& text : texts_of(plan, pipeline.tokenizer())) {
    const std::size_t prompt = pipeline.tokenizer().encode(text).size();
    options.max_new_tokens = 1;
    const double first = median([&] { return generation_ms(pipeline, text, options); });
    options.max_new_tokens = 1 + more;
    const std::string_view view = text;
    auto job = pipeline.begin(std::span(&view, 1), options);
    const std::size_t written = only(run_all(*job)).output.tokens.size();
    const double ms = median([&] { return generation_ms(pipeline, text, options); });
    const double later = std::max(ms - first, 1e-6);
    const double per_second = 1000 * static_cast<double>(written - 1) / later;
    report.add({{"tokens", prompt},
                {"ms_median", ms},
                {"output_tokens", written},
                {"tokens_per_second", per_second},
                {"ms_first_token", first}},
               format("%zu -> %zu tokens  %.3f ms  first after %.3f ms, then %.0f tokens/s", prompt,
                      written, ms, first, per_second));
  }
  report.finish();
}

class BenchCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_model(app, plan_.model);
    app.add_option("--lengths", plan_.lengths, "The lengths of the texts, in tokens: N,…")
        ->delimiter(',')
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--text", plan_.text, "A text, instead of texts of given lengths.");
    app.add_flag("--attention", plan_.attention, "Keep all attention weights.");
    Flags flags(app, {});
    language_fields(flags, plan_);
    app.add_flag("--shortlist", plan_.shortlist, "For a translator: as in translate.");
    app.add_option(
           "--output-tokens", plan_.output_tokens,
           "The most tokens of a translation, or the number of tokens to write after the first.")
        ->check(CLI::Range(1, 1'000'000));
    add_compute(app, plan_.compute);
    add_threads(app, plan_.threads);
    app.add_flag("--json", plan_.json, "Print a JSON array.");
  }
  Exit run() override;

 private:
  BenchPlan plan_;
};

Exit BenchCommand::run() {
  const auto pipeline = load_pipeline(
      plan_.model, {},
      {.compute = plan_.compute, .shortlist = plan_.shortlist, .threads = plan_.threads});
  if (auto* translator = dynamic_cast<TranslatePipeline*>(pipeline.get())) {
    bench(plan_, *translator);
  } else if (auto* generator = dynamic_cast<GeneratePipeline*>(pipeline.get())) {
    bench(plan_, *generator);
  } else if (auto* pictures = dynamic_cast<ImagePipeline*>(pipeline.get())) {
    bench(plan_, *pictures);
  } else {
    expect_task(pipeline->config(), ClassifyPipeline::tasks);
    bench(plan_, static_cast<ClassifyPipeline&>(*pipeline));
  }
  return Exit::ok;
}

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace glassformer
