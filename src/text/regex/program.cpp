#include "text/regex/program.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json/json.hpp"
#include "text/regex/parser.hpp"

namespace glassformer::regex {

using Op = Instruction::Op;

void Source::fail(ErrorCode code, const Message& problem) const {
  const std::string_view cure =
      "; the tokenizer must be saved again without it, or the text prepared elsewhere";
  throw_error(code, {"{}: {}: {}{}",
                     {place, describe(expression), problem,
                      code == ErrorCode::unsupported ? cure : std::string_view()}});
}

std::uint32_t index_of(std::vector<CodeSet>& sets, CodeSet set) {
  const auto place = std::find(sets.begin(), sets.end(), set) - sets.begin();
  if (place == std::ssize(sets)) sets.push_back(std::move(set));
  return static_cast<std::uint32_t>(place);
}

Program::Program(const Source& source) {
  Parsed parsed = parse(source);
  steps_ = std::move(parsed.steps);
  steps_.push_back({.op = Op::end});
  sets_ = std::move(parsed.sets);
  number_shared();
  direct_.resize(sets_.size() * words_per_set);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    sets_[i].mark(&direct_[i * words_per_set], direct_size);
  }
}

void Program::number_shared() {
  const auto reach = [&](std::size_t from, std::int32_t distance) {
    ++steps_[from + static_cast<std::size_t>(distance)]
          .note;  // for now, the number of steps that lead to it
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Instruction& step = steps_[i];
    if (step.op == Op::end) continue;
    reach(i, step.op == Op::run ? 1 : step.next);
    if (step.op == Op::run && step.next != 0) reach(i, step.next + 1);
    if (step.op == Op::fork || step.op == Op::look) reach(i, step.other);
  }
  for (Instruction& step : steps_) {
    step.shared = step.note > 1 || step.op == Op::run || step.op == Op::fork || step.op == Op::look;
    if (step.shared) step.note = static_cast<std::uint32_t>(notes_++);
    has_search_start_ |= step.op == Op::search_start;
  }
}

}  // namespace glassformer::regex
