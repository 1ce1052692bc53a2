#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "cli/encoder_command.hpp"
#include "tasks/tag/token_classify.hpp"

namespace glassformer {
namespace {

// Each entity's label, words and score.
OutputLine entities_line(const TokenClassification& result) {
  std::string line;
  for (const Entity& entity : result.entities) {
    if (!line.empty()) line += '\t';
    line.append(printable(entity.entity))
        .append("\t")
        .append(entity.word)
        .append("\t")
        .append(six_decimals(entity.score));
  }
  return {std::move(line), result.clipped};
}

}  // namespace

std::unique_ptr<Command> make_ner_command() {
  return std::make_unique<
      EncoderCommand<TokenClassifyPipeline, TokenClassifyOptions, TokenClassification>>(
      entities_line);
}

}  // namespace glassformer
