#include "tasks/embed/embed.hpp"
#include "cli/encoder_command.hpp"

namespace glassformer {
namespace {

// The vector's numbers.
OutputLine vector_line(const Embedded& result) {
  std::string line;
  for (const float number : result.embedding) {
    JsonWriter text;
    text.value(number);
    line.append(line.empty() ? "" : " ").append(text.take());
  }
  return {std::move(line), result.clipped};
}

}  // namespace

std::unique_ptr<Command> make_embed_command() {
  return std::make_unique<EncoderCommand<EmbedPipeline, EmbedOptions, Embedded>>(vector_line);
}

}  // namespace glassformer
