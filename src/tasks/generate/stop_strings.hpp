#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search/search.hpp"
#include "tasks/options.hpp"
#include "text/tokenizer.hpp"

namespace glassformer {

/// Strings of which each ends a text, with the token that completes it.
class StopStrings {
 public:
  static constexpr std::size_t most = 64, most_bytes = 1024;

  /// Throws `invalid_option` for too many strings, and for empty or too long ones. The tokenizer
  /// must outlive this.
  StopStrings(std::vector<std::string> strings, const Tokenizer& tokenizer)
      : strings_(std::move(strings)), tokenizer_(tokenizer) {
    if (strings_.size() > most) {
      refuse_option("stop_strings", {"expected at most {} texts, got {}", {most, strings_.size()}});
    }
    for (const std::string& stop : strings_) {
      longest_ = std::max(longest_, stop.size());
      if (!stop.empty() && stop.size() <= most_bytes) continue;
      refuse_option("stop_strings",
                    {"expected texts of 1 to {} bytes, got one of {}", {most_bytes, stop.size()}});
    }
  }

  bool empty() const { return strings_.empty(); }

  /// Returns whether one of them ends within the last token of a text, which consists of the tokens
  /// of `prompt` and of the hypothesis that ends with `last`.
  bool end_text(std::span<const std::int32_t> prompt, const std::vector<Candidate>& tree,
                CandidateIndex last) const {
    // Each token has at least one byte, so these tokens are enough, even if the first one loses its
    // space.
    std::vector<std::int32_t> tail;  // in reverse order
    for (CandidateIndex at = last; at != 0 && tail.size() <= longest_; at = tree[at].parent) {
      tail.push_back(tree[at].id);
    }
    for (std::size_t i = prompt.size(); i > 0 && tail.size() <= longest_;) {
      tail.push_back(prompt[--i]);
    }
    const std::unique_ptr<TextDecoder> decoder = tokenizer_.make_decoder();
    for (std::size_t i = tail.size(); i > 1;) decoder->push(tail[--i]);
    const std::size_t before = decoder->text().size();
    decoder->push(tail[0]);
    const std::string_view text = decoder->text();
    const std::string name = tokenizer_.display_text(tail[0]);
    return std::ranges::any_of(strings_, [&](const std::string& stop) {
      if (text.size() == before) return name.find(stop) != name.npos;  // a special token
      const std::size_t from = before - std::min(before, stop.size() - 1);
      return text.find(stop, from) != text.npos;
    });
  }

 private:
  std::vector<std::string> strings_;
  const Tokenizer& tokenizer_;
  std::size_t longest_ = 0;  // in bytes
};

}  // namespace glassformer
