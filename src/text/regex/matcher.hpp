#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/characters.hpp"
#include "text/regex/program.hpp"

namespace glassformer::regex {

/// A match: the characters from `begin` to before `end`.
struct Span {
  std::size_t begin, end;
};

/// Stores the outcome of each shared step at each position of a text.
class Notes {
 public:
  enum class State : std::uint8_t { untried, failed, matched };

  /// Throws too_large if that takes more than 128 MiB.
  void prepare(std::size_t notes, std::size_t positions);

  /// Returns the outcome, and sets it to failed if the step was untried.
  State try_at(std::uint32_t note, std::size_t position);
  /// Changes the outcome from failed to matched.
  void set_matched(std::uint32_t note, std::size_t position);
  /// Sets all steps at a position to untried.
  void forget(std::size_t position);

 private:
  using Word = std::uint32_t;
  static constexpr std::size_t notes_per_word = 16;

  std::size_t words_per_position_ = 0;
  std::vector<Word> words_;
};

/// Finds the matches of a program in one text. Both must outlive it.
///
/// A backtracking matcher: tries alternatives in order and, when a step fails, returns to the last
/// one not tried yet. Backtracking alone can take exponential time, so it counts steps. If there
/// are too many for the text's length, it becomes careful: it stores the outcomes of shared steps
/// and never tries one of them twice at a position. The time is then at most proportional to the
/// text's length times the number of steps in the program.
class Matcher {
 public:
  Matcher(const Program& program, CharacterSpan text);

  /// Returns the first match that begins at `from` or later. Without a match, the result begins
  /// after the text's end. `from` must not be smaller than in the previous call. Throws too_large
  /// if the notes take too much memory.
  Span find(std::size_t from);

 private:
  static constexpr std::size_t failed = static_cast<std::size_t>(-1);

  /// An untried alternative: step `pc` at `high` and at each position below it, then `last_pc` at
  /// `low`.
  struct Alternative {
    std::uint32_t pc, last_pc, high, low;
    std::uint32_t tried;  ///< the size of tried_ when this was added
  };
  struct Tried {
    std::uint32_t note, position;
  };

  std::size_t match(std::size_t pc, std::size_t begin, bool part);
  bool step(std::size_t& pc, std::size_t& at);
  void take_run(std::size_t& pc, std::size_t& at);
  bool go_back(std::size_t base, std::size_t& pc, std::size_t& at);
  void leave(std::size_t pc, std::size_t last_pc, std::size_t high, std::size_t low);
  void leave(std::size_t pc, std::size_t at) { leave(pc, pc, at, at); }

  bool in_set(const Instruction& step, std::size_t at) const {
    return at < text_.size() && program_.contains(step.set, text_[at].code);
  }
  // Returns whether a step fails immediately.
  bool fails(const Instruction& step, std::size_t at) const {
    return step.op == Instruction::Op::one && !in_set(step, at);
  }

  const Program& program_;
  CharacterSpan text_;
  std::vector<Alternative> left_;
  std::size_t search_start_ = 0;
  std::size_t steps_ = 0, most_steps_;
  bool careful_ = false, abandoned_ = false;
  Notes notes_;               // empty until the matcher is careful
  std::vector<Tried> tried_;  // the shared steps on the current path inside a `look`
};

}  // namespace glassformer::regex
