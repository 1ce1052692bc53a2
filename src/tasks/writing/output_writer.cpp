#include "tasks/writing/output_writer.hpp"

#include "base/strings/utf8.hpp"

namespace glassformer {

std::string_view OutputWriter::added() {
  const std::string_view added = std::string_view(decoder_->text()).substr(size_);
  size_ += added.size();
  end_ += utf16_size(added);
  return added;
}

void OutputWriter::push(std::int32_t id, float logprob) {
  decoder_->push(id);
  const std::uint32_t before = end_;
  const std::string_view added = this->added();
  const bool space = added.size() > 1 && added[0] == ' ';
  tokens_.push_back({id, tokenizer_.display_text(id), before + (space ? 1 : 0), end_, logprob});
}

void OutputWriter::finish() {
  decoder_->finish();
  added();
  if (!tokens_.empty()) tokens_.back().end = end_;
}

}  // namespace glassformer
