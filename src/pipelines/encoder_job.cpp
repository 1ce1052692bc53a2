#include "pipelines/encoder_job.hpp"

namespace glassformer {

void EncoderTexts::start(std::span<const TextInput> texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts_.emplace_back(texts[i].text);
    try {
      work_.add(i, read(texts[i]));
    } catch (const Error& error) {
      refuse(i, error);
    }
  }
}

bool EncoderTexts::step() {
  return work_.step([this](std::size_t index, EncoderAnswer answer) {
    try {
      take(index, std::move(answer), texts_[index]);
    } catch (const Error& error) {
      refuse(index, error);
    }
  });
}

}  // namespace glassformer
