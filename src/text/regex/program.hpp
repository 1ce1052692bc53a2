#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "text/regex/code_set.hpp"

namespace glassformer::regex {

/// One step of a program. It refers to other steps by their distance from itself.
struct Instruction {
  enum class Op : std::uint8_t {
    one,           ///< takes a character of `set`
    run,           ///< takes any number of characters of `set`
    fork,          ///< tries `next`, then `other`
    jump,          ///< goes to `next`
    peek,          ///< checks whether the character here, or the one `behind`, is in `set`
    look,          ///< checks whether the steps at `next` match, then goes to `other`
    search_start,  ///< checks whether the search for this match began here
    end,           ///< the expression, or the part that a `look` checks, matches
  };
  /// The number of characters that `run` tries first. A possessive run tries only the largest.
  enum class Greed : std::uint8_t { greedy, lazy, possessive };

  Op op;
  Greed greed = Greed::greedy;
  bool negative = false;  ///< a check succeeds if its condition is false
  bool behind = false;
  bool shared = false;  ///< several steps lead to this one or follow it
  std::uint32_t set = 0;
  /// After taking a character, a `run` continues after the step `next`; otherwise after itself. The
  /// two differ only in a repeated part that can match an empty string.
  std::int32_t next = 1;
  std::int32_t other = 0;
  std::uint32_t width = 0;  ///< how many characters before the current position a `look` begins
  std::uint32_t note = 0;   ///< the number of a shared step
};

/// A regular expression and its place in the file, for errors.
struct Source {
  std::string_view place;  ///< such as "tokenizer.json: pre_tokenizer: pattern"
  std::string_view expression;

  [[noreturn]] void fail(ErrorCode code, const Message& problem) const;
};

/// Returns the index of a set. Adds it if it is new.
std::uint32_t index_of(std::vector<CodeSet>& sets, CodeSet set);

/// A compiled regular expression.
class Program {
 public:
  /// Throws as Regex does.
  explicit Program(const Source& source);

  const Instruction& operator[](std::size_t i) const { return steps_[i]; }
  /// The number of shared steps.
  std::size_t notes() const { return notes_; }
  bool has_search_start() const { return has_search_start_; }

  bool contains(std::uint32_t set, char32_t code) const {
    if (code >= direct_size) return sets_[set].contains(code);
    return direct_[set * words_per_set + code / 32] >> code % 32 & 1;
  }

 private:
  static constexpr char32_t direct_size = 0x3000;  // covers most alphabets
  static constexpr std::size_t words_per_set = direct_size / 32;

  void number_shared();

  std::vector<Instruction> steps_;
  std::vector<CodeSet> sets_;
  std::vector<std::uint32_t> direct_;  // one bit per set and character below direct_size
  std::size_t notes_ = 0;
  bool has_search_start_ = false;
};

}  // namespace glassformer::regex
