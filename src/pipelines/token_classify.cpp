#include "pipelines/token_classify.hpp"

#include "io/decimal.hpp"
#include "pipelines/encoder_job.hpp"
#include "pipelines/input_tokens.hpp"
#include "pipelines/result_writer.hpp"
#include "pipelines/scores.hpp"
#include "printable.hpp"

namespace glassformer {

TokenClassifyOptions parse_token_classify_options(const TaskOptions& task) {
  OptionsReader reader(task);
  TokenClassifyOptions options;
  options.encoder = read_encoder_options(reader);
  if (reader.find("aggregation")) {
    options.aggregation = parse_aggregation(reader.string("aggregation"));
  }
  if (reader.find("ignoreLabels")) options.ignore_labels = reader.names("ignoreLabels");
  reader.finish();
  return options;
}

std::unique_ptr<Job> TokenClassifyPipeline::begin(std::span<const TextInput> texts,
                                                  const TaskOptions& options, ResultForm form) {
  return std::make_unique<EncoderJob<TokenClassifyPipeline, TokenClassifyOptions>>(
      *this, texts, parse_token_classify_options(options), form);
}

TokenClassification TokenClassifyPipeline::classify(std::string_view text,
                                                    const TokenClassifyOptions& options) {
  return only(classify_batch(std::span(&text, 1), options));
}

std::vector<std::variant<TokenClassification, Error>> TokenClassifyPipeline::classify_batch(
    std::span<const std::string_view> texts, const TokenClassifyOptions& options) {
  return run_all(*this, to_inputs(texts), options);
}

TokenClassification TokenClassifyPipeline::answer(EncoderAnswer answer, std::string_view text,
                                                  const TokenClassifyOptions& options) const {
  const std::vector<Token>& tokens = answer.input.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    to_scores(Scoring::softmax, std::span(answer.rows).subspan(i * answer.columns, answer.columns));
  }
  std::vector<LabeledToken> labeled;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    labeled.push_back({.piece = tokenizer().piece(tokens[i].id),
                       .start = tokens[i].start,
                       .end = tokens[i].end,
                       .special = answer.input.kinds[i] == TemplatePart::Kind::special,
                       .unknown = tokens[i].id == tokenizer().unk_id(),
                       .part = tokens[i].start == tokens[i].end && !tokens[i].starts_word});
  }
  const PieceRules rules = {.marks_subwords = tokenizer().marks_subwords(),
                            .decode = [this](const std::vector<std::string>& pieces) {
                              return tokenizer().join(pieces);
                            }};
  TokenClassification result;
  result.entities = find_entities(
      text, labeled, const_view<2>(answer.rows.data(), {tokens.size(), answer.columns}), rules,
      {.labels = config().labels,
       .aggregation = options.aggregation,
       .ignore_labels = options.ignore_labels});
  result.tokens = input_tokens(tokens, tokenizer());
  result.clipped = answer.input.clipped;
  result.attention = std::move(answer.attention);
  result.trace = std::move(answer.trace);
  return result;
}

Result TokenClassifyPipeline::to_result(TokenClassification result, ResultForm form) const {
  if (is_line(form)) {
    std::string line;
    for (const Entity& entity : result.entities) {
      const std::string score = six_decimals(entity.score);
      if (!line.empty()) line += '\t';
      line.append(printable(entity.entity))
          .append("\t")
          .append(entity.word)
          .append("\t")
          .append(score);
    }
    return {std::move(line)};
  }
  ResultWriter json(form);
  json.object([&] {
    json.key("entities");
    json.array(result.entities, [&](const Entity& entity) {
      json.object([&] {
        json.field("entity", entity.entity);
        json.field("score", entity.score);
        json.field("word", entity.word);
        json.field("start", entity.start);
        json.field("end", entity.end);
        if (entity.index) json.field("index", *entity.index);
      });
    });
    json.key("tokens");
    write(json, result.tokens);
    json.field("clipped", result.clipped);
    if (result.attention) {
      json.tensors({to_tensor("attention.encoder", std::move(*result.attention))});
    }
    json.trace(std::move(result.trace));
  });
  return json.take_result();
}

}  // namespace glassformer
