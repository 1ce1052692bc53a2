#include "text/regex/matcher.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace glassformer::regex {

using Op = Instruction::Op;
using Greed = Instruction::Greed;

namespace {

template <typename Vector>
void shorten(Vector& vector, std::size_t size) {
  vector.erase(vector.begin() + static_cast<std::ptrdiff_t>(size), vector.end());
}

}  // namespace

// --- notes ---

void Notes::prepare(std::size_t notes, std::size_t positions) {
  words_per_position_ = (notes + notes_per_word - 1) / notes_per_word;
  constexpr std::size_t most_bytes = std::size_t{128} << 20;
  if (words_per_position_ * sizeof(Word) > most_bytes / positions) {
    throw_error(
        ErrorCode::too_large,
        "text: a regular expression of tokenizer.json takes too long for it; hand it over in "
        "parts");
  }
  words_.resize(words_per_position_ * positions);
}

Notes::State Notes::try_at(std::uint32_t note, std::size_t position) {
  Word& word = words_[position * words_per_position_ + note / notes_per_word];
  const std::uint32_t shift = 2 * (note % notes_per_word);
  const auto state = static_cast<State>(word >> shift & 3);
  if (state == State::untried) word |= static_cast<Word>(State::failed) << shift;
  return state;
}

void Notes::set_matched(std::uint32_t note, std::size_t position) {
  constexpr Word change = static_cast<Word>(State::failed) ^ static_cast<Word>(State::matched);
  words_[position * words_per_position_ + note / notes_per_word] ^= change
                                                                    << 2 * (note % notes_per_word);
}

void Notes::forget(std::size_t position) {
  std::fill_n(words_.begin() + static_cast<std::ptrdiff_t>(position * words_per_position_),
              words_per_position_, 0);
}

// --- matcher ---

Matcher::Matcher(const Program& program, CharacterSpan text)
    : program_(program), text_(text), most_steps_(4096 + 32 * text.size()) {}

Span Matcher::find(std::size_t from) {
  if (careful_ && program_.has_search_start()) {  // the outcomes at both positions may change
    notes_.forget(search_start_);
    notes_.forget(from);
  }
  search_start_ = from;
  for (std::size_t begin = from; begin <= text_.size(); ++begin) {
    if (fails(program_[0], begin)) continue;
    std::size_t end = match(0, begin, false);
    if (abandoned_) {
      abandoned_ = false;
      careful_ = true;
      notes_.prepare(program_.notes(), text_.size() + 1);
      end = match(0, begin, false);
    }
    if (end == failed) continue;
    if (careful_) notes_.forget(end);  // the next match may begin here
    return {begin, end};
  }
  return {text_.size() + 1, text_.size() + 1};
}

// Returns the end of a match that begins at `begin`, or `failed`. If `part` is set, runs the part
// that a `look` checks; any number other than `failed` then means a match.
std::size_t Matcher::match(std::size_t pc, std::size_t begin, bool part) {
  const std::size_t base = left_.size();
  const std::size_t base_tried = tried_.size();
  std::size_t at = begin;
  bool matched = false;
  while (!matched) {
    Notes::State state = Notes::State::untried;
    if (careful_ && program_[pc].shared) {
      const std::uint32_t note = program_[pc].note;
      state = notes_.try_at(note, at);
      if (part && state == Notes::State::untried) {
        tried_.push_back({note, static_cast<std::uint32_t>(at)});
      }
    }
    if (program_[pc].op == Op::end || state == Notes::State::matched) {
      matched = true;
    } else if (state == Notes::State::failed || !step(pc, at)) {
      if (!go_back(base, pc, at)) break;
    }
  }
  for (std::size_t i = base_tried; matched && i < tried_.size(); ++i) {
    notes_.set_matched(tried_[i].note, tried_[i].position);
  }
  shorten(tried_, base_tried);
  shorten(left_, base);
  return matched ? at : failed;
}

// Runs one step. Returns false if it fails.
bool Matcher::step(std::size_t& pc, std::size_t& at) {
  const Instruction& now = program_[pc];
  std::int32_t distance = now.next;
  switch (now.op) {
    case Op::one:
      if (!in_set(now, at)) return false;
      ++at;
      break;
    case Op::run:
      take_run(pc, at);
      return true;
    case Op::fork:
      if (fails(program_[pc + static_cast<std::size_t>(now.next)], at)) {
        distance = now.other;
      } else {
        leave(pc + static_cast<std::size_t>(now.other), at);
      }
      break;
    case Op::peek:  // before the text there is no character: the position wraps around
      if (in_set(now, at - (now.behind ? 1 : 0)) == now.negative) return false;
      break;
    case Op::look: {
      const bool matches = at >= now.width && match(pc + static_cast<std::size_t>(now.next),
                                                    at - now.width, true) != failed;
      abandoned_ |= !careful_ && steps_ > most_steps_;
      if (abandoned_ || matches == now.negative) return false;
      distance = now.other;
      break;
    }
    case Op::search_start:
      if (at != search_start_) return false;
      break;
    case Op::jump:
    case Op::end:
      break;
  }
  pc += static_cast<std::size_t>(distance);
  return true;
}

void Matcher::take_run(std::size_t& pc, std::size_t& at) {
  const Instruction& now = program_[pc];
  const std::size_t begin = at, again = pc + static_cast<std::size_t>(now.next);
  if (careful_ || now.greed == Greed::lazy) {  // takes one character at a time
    const bool more = in_set(now, at);
    if (more && now.greed == Greed::greedy) leave(pc + 1, at);
    if (more && now.greed == Greed::lazy) leave(again, at + 1);
    const bool takes = more && now.greed != Greed::lazy;
    pc = takes ? again : pc + 1;
    at += takes ? 1 : 0;
    return;
  }
  while (in_set(now, at)) ++at;
  steps_ += at - begin;
  if (at > begin && now.greed == Greed::greedy) leave(again + 1, pc + 1, at - 1, begin);
  pc = (at > begin ? again : pc) + 1;
}

void Matcher::leave(std::size_t pc, std::size_t last_pc, std::size_t high, std::size_t low) {
  const auto narrow = [](std::size_t number) { return static_cast<std::uint32_t>(number); };
  ++steps_;
  left_.push_back({narrow(pc), narrow(last_pc), narrow(high), narrow(low), narrow(tried_.size())});
}

// Returns to the last alternative above `base`. Returns false if none is left.
bool Matcher::go_back(std::size_t base, std::size_t& pc, std::size_t& at) {
  abandoned_ |= !careful_ && ++steps_ > most_steps_;
  if (abandoned_ || left_.size() == base) return false;
  Alternative& last = left_.back();
  at = last.high;
  pc = last.high > last.low ? last.pc : last.last_pc;
  shorten(tried_, last.tried);
  if (last.high-- == last.low) left_.pop_back();
  return true;
}

}  // namespace glassformer::regex
