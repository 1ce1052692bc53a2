#include "tasks/reading/encoder_job.hpp"

namespace glassformer {

void EncoderTexts::start(std::span<const TextInput> texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts_.push_back({.text = std::string(texts[i].text)});
    try {
      std::vector<EncoderInput> windows = read(texts[i]);
      texts_[i].windows = windows.size();
      for (EncoderInput& window : windows) batches_.add(i, std::move(window));
    } catch (const Error& error) {
      refuse(i, error);
    }
  }
}

bool EncoderTexts::run_batch() {
  return batches_.step([this](std::size_t index, EncoderAnswer answer) {
    Text& text = texts_[index];
    text.answers.push_back(std::move(answer));
    if (text.answers.size() < text.windows) return;
    try {
      take(index, std::move(text.answers), text.text);
    } catch (const Error& error) {
      refuse(index, error);
    }
  });
}

}  // namespace glassformer
