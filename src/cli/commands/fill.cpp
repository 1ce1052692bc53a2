#include "tasks/fill/fill.hpp"

#include "base/strings/decimal.hpp"
#include "base/strings/printable.hpp"
#include "cli/encoder_command.hpp"

namespace glassformer {
namespace {

// The tokens and scores of each mask.
OutputLine filled_line(const FilledText& result) {
  std::string line;
  for (const FilledMask& mask : result.masks) {
    for (const FilledToken& answer : mask.answers) {
      if (!line.empty()) line += '\t';
      line.append(printable(answer.token)).append("\t").append(six_decimals(answer.score));
    }
  }
  return {std::move(line), result.clipped};
}

}  // namespace

std::unique_ptr<Command> make_fill_command() {
  return std::make_unique<EncoderCommand<FillPipeline, FillOptions, FilledText>>(filled_line);
}

}  // namespace glassformer
