#include <algorithm>

#include "base/json_writer.hpp"
#include "tasks/options.hpp"
#include "tasks/result_writer.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer {
namespace {

void write(JsonWriter& json, TextRange range) {
  json.object([&] {
    json.field("start", range.start);
    json.field("end", range.end);
  });
}

void write(JsonWriter& json, const AlignmentLink& link) {
  json.object([&] {
    json.key("target");
    write(json, link.target);
    json.key("source");
    write(json, link.source);
    json.field("weight", link.weight);
  });
}

void write(JsonWriter& json, const SearchNode& node) {
  json.object([&] {
    json.field("parent", node.parent);
    json.field("id", node.id);
    json.field("text", node.text);
    json.field("logprob", node.logprob);
    json.field("total", node.total);
    json.field("kept", node.kept);
  });
}

// The maps there are, as tensors.
std::vector<TracedTensor> attention_of(std::optional<AttentionMap> encoder,
                                       std::optional<AttentionMap> decoder,
                                       std::optional<AttentionMap> cross) {
  std::vector<TracedTensor> tensors;
  if (encoder) tensors.push_back(to_tensor("attention.encoder", std::move(*encoder)));
  if (decoder) tensors.push_back(to_tensor("attention.decoder", std::move(*decoder)));
  if (cross) tensors.push_back(to_tensor("attention.cross", std::move(*cross)));
  return tensors;
}

// `path`: where the sentence is in the result.
void write(ResultWriter& json, SentenceTranslation& sentence, const std::string& path) {
  json.object([&] {
    write_fields(json, sentence.output);
    json.field("start", sentence.start);
    json.field("end", sentence.end);
    json.field("targetStart", sentence.target_start);
    json.field("targetEnd", sentence.target_end);
    json.field("clipped", sentence.clipped);
    json.key("sourceTokens");
    write(json, sentence.source_tokens);
    if (sentence.cross) {
      json.tensors(attention_of(std::move(sentence.encoder), std::move(sentence.decoder),
                                std::move(sentence.cross)),
                   path);
    }
    json.trace(std::move(sentence.trace), path);
    if (sentence.alignment) {
      json.key("alignment");
      json.array(*sentence.alignment, [&](const AlignmentLink& link) { write(json, link); });
    }
    if (sentence.tree.empty()) return;
    json.key("hypotheses");
    json.array(sentence.hypotheses, [&](const OutputText& hypothesis) {
      json.object([&] { write_fields(json, hypothesis); });
    });
    json.key("tree");
    json.array(sentence.tree, [&](const SearchNode& node) { write(json, node); });
  });
}

}  // namespace

TranslateOptions parse_translate_options(const TaskOptions& task) {
  OptionsReader reader(task);
  TranslateOptions options;
  if (reader.find("beams")) options.beams = reader.index("beams");
  if (reader.find("lengthPenalty")) {
    options.length_penalty = reader.float_number("lengthPenalty");
  }
  options.early_stopping = reader.stopping("earlyStopping");
  if (reader.find("maxLength")) options.max_length = reader.index("maxLength", 1);
  for (const std::vector<std::size_t>& ids : reader.index_lists("prefixes", "ids")) {
    options.prefixes.emplace_back(ids.begin(), ids.end());
  }
  options.mask_tokens = reader.index_lists("maskTokens", "positions of tokens");
  options.attention = reader.flag("attention");
  options.hypotheses = reader.flag("hypotheses");
  options.stream = reader.flag("stream");
  options.trace = reader.names("trace");
  options.patch = reader.patches("patch");
  options.ablate = reader.heads("ablate", 3);
  if (const JsonValue* wanted = reader.find("alignment")) {
    if (wanted->is_object()) {
      OptionsReader fields(*wanted, "alignment");
      options.alignment.emplace();
      if (fields.find("layer")) options.alignment->layer = fields.index("layer");
      options.alignment->heads = fields.indices("heads", "heads' numbers");
      fields.finish();
    } else if (reader.boolean("alignment")) {
      options.alignment.emplace();
    }
  }
  reader.finish();
  return options;
}

Result to_result(Translation translation, ResultForm form) {
  if (is_line(form)) {
    const bool clipped = std::ranges::any_of(translation.sentences, &SentenceTranslation::clipped);
    return {.text = std::move(translation.text), .clipped = clipped};
  }
  ResultWriter json(form);
  json.object([&] {
    json.field("text", translation.text);
    json.field("score", translation.score);
    json.key("sentences");
    std::size_t index = 0;
    json.array(translation.sentences, [&](SentenceTranslation& sentence) {
      write(json, sentence, "sentences." + std::to_string(index++) + ".");
    });
  });
  return json.take_result();
}

std::optional<Result> TranslationJob::progress() {
  if (!streamed()) return std::nullopt;
  const StreamedToken& step = *streamed();
  const SentenceTranslation& sentence = this->sentence();
  const bool first = sentence.output.tokens.size() == 1;
  if (is_line(form())) return Result{sentence.output.text};
  ResultWriter json(form());
  json.object([&] {
    json.key("token");
    write(json, step.token);
    json.field("text", sentence.output.text);
    if (first) {
      json.field("before", step.before);
      json.key("sentence");
      json.object([&] {
        json.field("index", step.sentence);
        json.field("start", sentence.start);
        json.field("end", sentence.end);
        json.field("targetStart", sentence.target_start);
        json.key("sourceTokens");
        write(json, sentence.source_tokens);
      });
    }
    if (!step.cross) return;
    json.tensors(attention_of(first ? sentence.encoder : std::nullopt, step.decoder, step.cross));
  });
  return json.take_result();
}

std::vector<Outcome> TranslationJob::end() {
  return to_outcomes(take_results(), [&](Translation translation) {
    return to_result(std::move(translation), form());
  });
}

}  // namespace glassformer
