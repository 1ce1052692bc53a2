#include "base/decimal.hpp"
#include "base/printable.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/options.hpp"
#include "tasks/result_writer.hpp"

namespace glassformer {
namespace {

std::optional<float> number(OptionsReader& reader, const char* key) {
  if (!reader.find(key)) return std::nullopt;
  return reader.float_number(key);
}

std::optional<std::size_t> index(OptionsReader& reader, const char* key, std::size_t least = 0) {
  if (!reader.find(key)) return std::nullopt;
  return reader.index(key, least);
}

void read(OptionsReader& reader, TaskPromptOptions& options) {
  if (reader.find("task")) options.task = reader.string("task");
  if (reader.find("prefix")) options.prefix = reader.boolean("prefix");
}

void read(OptionsReader& reader, SampleOptions& options) {
  constexpr std::uint64_t most_seed = (std::uint64_t{1} << 53) - 1;  // of JavaScript's numbers
  if (reader.find("sample")) options.sample = reader.boolean("sample");
  options.temperature = number(reader, "temperature");
  options.top_k = index(reader, "topK");
  options.top_p = number(reader, "topP");
  if (reader.find("seed")) options.seed = reader.integer("seed", 0, most_seed);
  options.repetition_penalty = number(reader, "repetitionPenalty");
  options.no_repeat_ngram_size = index(reader, "noRepeatNgramSize");
  if (reader.find("badWords")) options.bad_words = reader.names("badWords");
  if (reader.find("suppressTokens")) {
    options.suppress_tokens = reader.indices("suppressTokens", "ids of tokens");
  }
  if (reader.find("beginSuppressTokens")) {
    options.begin_suppress_tokens = reader.indices("beginSuppressTokens", "ids of tokens");
  }
}

void read(OptionsReader& reader, DecoderOptions& options) {
  options.attention = reader.flag("attention");
  options.trace = reader.names("trace");
  options.patch = reader.patches("patch");
  options.ablate = reader.heads("ablate", 3);
}

void write_shown(ResultWriter& json, GenerationAttention attention,
                 std::vector<TracedTensor> trace) {
  std::vector<TracedTensor> tensors;
  const auto add = [&](const char* name, std::optional<AttentionMap>& map) {
    if (map) tensors.push_back(to_tensor(name, std::move(*map)));
  };
  add("attention.encoder", attention.encoder);
  add("attention.decoder", attention.decoder);
  add("attention.cross", attention.cross);
  json.tensors(std::move(tensors));
  json.trace(std::move(trace));
}

}  // namespace

GenerateTask parse_generate_options(const TaskOptions& task) {
  OptionsReader reader(task);
  if (reader.find("next")) {
    NextOptions options;
    options.count = reader.index("next");
    read(reader, static_cast<TaskPromptOptions&>(options));
    read(reader, static_cast<SampleOptions&>(options));
    read(reader, static_cast<DecoderOptions&>(options));
    reader.finish();
    return options;
  }
  GenerateOptions options;
  options.max_new_tokens = index(reader, "maxNewTokens", 1);
  options.min_new_tokens = index(reader, "minNewTokens");
  options.beams = index(reader, "beams");
  options.length_penalty = number(reader, "lengthPenalty");
  if (reader.find("stopStrings")) options.stop_strings = reader.names("stopStrings");
  options.early_stopping = reader.stopping("earlyStopping");
  options.hypotheses = reader.flag("hypotheses");
  options.stream = reader.flag("stream");
  read(reader, static_cast<TaskPromptOptions&>(options));
  read(reader, static_cast<SampleOptions&>(options));
  read(reader, static_cast<DecoderOptions&>(options));
  reader.finish();
  return options;
}

Result to_result(Generation generation, ResultForm form) {
  if (is_line(form)) {
    return {.text = on_one_line(generation.output.text), .clipped = generation.clipped};
  }
  ResultWriter json(form);
  json.object([&] {
    write_fields(json, generation.output);
    json.key("promptTokens");
    write(json, generation.prompt_tokens);
    json.field("clipped", generation.clipped);
    json.field("ended", generation.ended);
    write_shown(json, std::move(generation.attention), std::move(generation.trace));
    if (generation.hypotheses.empty()) return;
    json.key("hypotheses");
    json.array(generation.hypotheses, [&](const OutputText& hypothesis) {
      json.object([&] { write_fields(json, hypothesis); });
    });
  });
  return json.take_result();
}

Result to_result(Prediction prediction, ResultForm form) {
  if (is_line(form)) {
    std::string line;
    for (const NextToken& token : prediction.next) {
      line.append(line.empty() ? "" : "\t").append(on_one_line(token.text)).append(" ");
      line += six_decimals(token.probability);
    }
    return {.text = std::move(line), .clipped = prediction.clipped};
  }
  ResultWriter json(form);
  json.object([&] {
    json.key("next");
    json.array(prediction.next, [&](const NextToken& token) {
      json.object([&] {
        json.field("id", token.id);
        json.field("text", token.text);
        json.field("logprob", token.logprob);
        json.field("probability", token.probability);
      });
    });
    json.key("promptTokens");
    write(json, prediction.prompt_tokens);
    json.field("clipped", prediction.clipped);
    write_shown(json, std::move(prediction.attention), std::move(prediction.trace));
  });
  return json.take_result();
}

Result to_result(GenerationStep step, const std::vector<InputToken>* prompt, ResultForm form) {
  if (is_line(form)) return {on_one_line(step.text)};
  ResultWriter json(form);
  json.object([&] {
    json.key("token");
    write(json, step.token);
    json.field("text", step.text);
    if (prompt) {
      json.key("promptTokens");
      write(json, *prompt);
    }
    write_shown(json, std::move(step.attention), {});
  });
  return json.take_result();
}

}  // namespace glassformer
