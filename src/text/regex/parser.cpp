#include "text/regex/parser.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json/json.hpp"
#include "text/characters.hpp"

namespace glassformer::regex {
namespace {

using Op = Instruction::Op;
using Greed = Instruction::Greed;
using Steps = std::vector<Instruction>;

constexpr std::size_t max_characters = 4096, max_steps = 4096, max_depth = 32;
constexpr std::uint32_t max_times = 1000;
constexpr std::uint32_t unlimited = 1 << 20;  // above max_times and max_steps

/// The number of times a part is repeated, or of characters it takes.
struct Extent {
  std::uint32_t least = 0, most = 0;
};

/// A part of the expression whose steps were just added.
struct Part {
  Extent width = {};
  bool one_way = true;  // matches in at most one way at a position
};

std::int32_t distance(std::size_t steps) { return static_cast<std::int32_t>(steps); }

/// An escape that the parser replaces by a longer expression.
struct Abbreviation {
  char32_t letter;
  std::string_view meaning;
};
constexpr Abbreviation abbreviations[] = {
    {'A', "(?<!\\O)"},
    {'D', "[^\\p{Nd}]"},
    {'O', "[\\s\\S]"},
    {'S', "[^\t-\r\\x{85}\\p{Z}]"},
    {'b', "(?:(?<=\\w)(?!\\w)|(?<!\\w)(?=\\w))"},
    {'d', "[\\p{Nd}]"},
    {'h', "[0-9A-Fa-f]"},
    {'s', "[\t-\r\\x{85}\\p{Z}]"},
    {'z', "(?!\\O)"},
    // Oniguruma treats these superscripts and fractions as letters, except inside a set.
    {'W', "(?-i:[^\\w\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}])"},
    {'w', "(?-i:[\\w\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}])"},
};

constexpr bool is_digit(char32_t code) { return code >= '0' && code <= '9'; }

constexpr bool is_ascii_letter(char32_t code) {
  return (code | 0x20) >= 'a' && (code | 0x20) <= 'z';
}

// Returns the value of a hexadecimal digit, or 16 for other characters.
constexpr std::uint32_t hex_digit(char32_t code) {
  if (is_digit(code)) return code - '0';
  return is_ascii_letter(code) && (code | 0x20) <= 'f' ? (code | 0x20) - 'a' + 10 : 16;
}

// Returns whether two consecutive letters also match a single character if case is ignored: a
// ligature or the German sharp s.
bool match_one_character(char32_t first, char32_t second) {
  first |= 0x20;
  second |= 0x20;
  return (first == 's' && (second == 's' || second == 't')) ||
         (first == 'f' && (second == 'f' || second == 'i' || second == 'l'));
}

/// A recursive-descent parser that adds steps while it reads. `fold`: case is ignored.
class Parser {
 public:
  explicit Parser(const Source& source)
      : source_(source), text_(read_characters(source.expression)) {
    expect_at_most(max_characters, text_.size(), "characters");
  }

  Parsed parse() {
    choice(false);
    if (!at_end()) expected("a ( for this )");
    return {std::move(steps_), std::move(sets_)};
  }

 private:
  // --- text ---

  bool at_end() const { return at_ == text_.size(); }
  bool next_is(std::string_view wanted) const {
    if (text_.size() - at_ < wanted.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (text_[at_ + i].code != static_cast<unsigned char>(wanted[i])) return false;
    }
    return true;
  }
  bool take(std::string_view wanted) {
    if (!next_is(wanted)) return false;
    at_ += wanted.size();
    return true;
  }
  char32_t take_any() {
    if (at_end()) expected("more");
    return text_[at_++].code;
  }

  // --- errors ---

  [[noreturn]] void expected(std::string_view wanted) const {
    const std::size_t place = at_end() ? text_.back().end : text_[at_].begin;
    source_.fail(ErrorCode::invalid_tokenizer,
                 {"expected {} at character {}", {wanted, place + 1}});
  }
  // Throws unsupported for the part of the expression since `begin`.
  [[noreturn]] void refuse(std::size_t begin) const {
    const std::uint32_t first = text_[begin].begin, end = text_[at_ - 1].end;
    Characters part = read_characters(source_.expression);  // without replacements
    std::erase_if(part, [&](const Character& c) { return c.begin < first || c.end > end; });
    source_.fail(ErrorCode::unsupported,
                 {"{} at character {} is not supported", {describe(to_utf8(part)), first + 1}});
  }
  void expect_at_most(std::size_t most, std::size_t got, std::string_view what) const {
    if (got <= most) return;
    source_.fail(ErrorCode::unsupported, {"expected at most {} {}, got {}", {most, what, got}});
  }
  void descend() { expect_at_most(max_depth, ++depth_, "brackets around each other"); }

  // --- steps ---

  Instruction& add(const Instruction& step) {
    expect_at_most(max_steps, steps_.size() + 1, "steps");
    steps_.push_back(step);
    return steps_.back();
  }
  Instruction& add(Op op, std::uint32_t set = 0) { return add({.op = op, .set = set}); }
  void add_all(const Steps& steps) {
    for (const Instruction& step : steps) add(step);
  }
  // Adds a fork between the next `skipped` steps and the steps after them. A lazy fork tries to
  // skip first.
  void add_fork(std::size_t skipped, Greed greed) {
    Instruction& fork = add(Op::fork);
    fork.other = distance(skipped + 1);
    if (greed == Greed::lazy) std::swap(fork.next, fork.other);
  }
  void add_jump(std::int32_t next) { add(Op::jump).next = next; }
  // Removes the steps from `begin` on and returns them.
  Steps cut(std::size_t begin) {
    const auto place = steps_.begin() + distance(begin);
    Steps steps(place, steps_.end());
    steps_.erase(place, steps_.end());
    return steps;
  }
  // Returns whether the steps from `begin` on take exactly one character of a set.
  bool is_set(std::size_t begin) const {
    return steps_.size() == begin + 1 && steps_[begin].op == Op::one;
  }

  // --- grammar ---

  Part one_of(CodeSet set) {
    add(Op::one, index_of(sets_, std::move(set)));
    return {.width = {1, 1}};
  }

  // Reads alternatives up to a ) or the end.
  Part choice(bool fold) {
    const std::size_t begin = steps_.size();
    std::size_t last = begin;  // start of the last alternative
    Part whole = sequence(fold);
    while (take("|")) {
      const Steps alternative = cut(last);
      add_fork(alternative.size() + 1, Greed::greedy);
      add_all(alternative);
      add_jump(0);
      last = steps_.size();
      const Part part = sequence(fold);
      whole.width.least = std::min(whole.width.least, part.width.least);
      whole.width.most = std::max(whole.width.most, part.width.most);
      whole.one_way = false;
    }
    for (std::size_t i = begin; i < last; ++i) {  // make the jumps go to the end
      Instruction& step = steps_[i];
      if (step.op == Op::jump && step.next == 0) step.next = distance(steps_.size() - i);
    }
    return whole;
  }

  Part sequence(bool fold) {
    Part whole;
    char32_t letter = 0;  // the last part, if it is a letter whose case is ignored
    while (!at_end() && !next_is("|") && !next_is(")")) {
      const std::size_t begin = at_, first = steps_.size();
      letter_ = 0;
      Part part = atom(fold);
      const std::size_t end = at_;
      while (const auto repetition = read_repetition()) {
        if (!repeat(part, first, *repetition)) refuse(begin);
      }
      if (at_ != end) letter_ = 0;
      if (fold && match_one_character(letter, letter_)) refuse(begin - 1);
      letter = letter_;
      whole.width.least += part.width.least;
      whole.width.most = std::min(whole.width.most + part.width.most, unlimited);
      whole.one_way &= part.one_way;
    }
    return whole;
  }

  Part atom(bool fold) {
    const std::size_t begin = at_;
    // ^ matches at the start and after a line feed, $ before a line feed and at the end.
    if (take("^")) replace(begin, "(?:(?<!\\O)|(?<=\\n)(?=\\O))");
    if (take("$")) replace(begin, "(?!.)");
    if (take("\\") && !replace_abbreviation(false)) return escape(fold);
    if (take("(")) return group(fold);
    if (take("[")) return one_of(set(fold));
    if (take(".")) return one_of(without({'\n', '\n'}));
    if (read_repetition()) {
      at_ = begin;
      expected("something to repeat");
    }
    const char32_t code = take_any();
    return literal({code, code}, fold);
  }

  // Replaces the expression since `begin` by `meaning` and continues at `begin`.
  void replace(std::size_t begin, std::string_view meaning) {
    Characters characters = read_characters(meaning);
    for (Character& c : characters) c = {c.code, text_[begin].begin, text_[at_ - 1].end};
    const auto place = text_.erase(text_.begin() + distance(begin), text_.begin() + distance(at_));
    text_.insert(place, characters.begin(), characters.end());
    at_ = begin;
  }

  // After a \: replaces it and the next letter if they form an abbreviation. In a set, only
  // abbreviations for sets are allowed.
  bool replace_abbreviation(bool in_set) {
    for (const auto& [letter, meaning] : abbreviations) {
      if (at_end() || text_[at_].code != letter || (in_set && meaning[0] != '[')) continue;
      ++at_;
      replace(at_ - 2, meaning);
      return true;
    }
    return false;
  }

  Part literal(CodeSet character, bool fold) {
    if (fold) {
      if (character.has_unknown_cases()) refuse(at_ - 1);
      letter_ = character.first();
      character.add_cases();
    }
    return one_of(std::move(character));
  }

  // Reads a group after its (.
  Part group(bool fold) {
    const std::size_t begin = at_ - 1;
    if (!take("?") || take(":")) return closed(fold);
    if (take("=")) return look(fold, false);
    if (take("!")) return look(fold, true);
    if (take("<=")) return look_behind(fold, false, begin);
    if (take("<!")) return look_behind(fold, true, begin);
    if (take(">")) {  // it is not matched in a second way
      const Part part = closed(fold);
      if (!part.one_way) refuse(begin);
      return part;
    }
    const std::size_t options = at_;
    for (bool on = true; next_is("i") || next_is("-"); ++at_) {
      if (next_is("i")) fold = on;
      on = on && next_is("i");
    }
    if (at_ > options && take(":")) return closed(fold);
    if (take_any() != ')' || at_ == options + 1) refuse(begin);
    descend();  // the options apply up to the end of the enclosing group
    const Part part = choice(fold);
    --depth_;
    return part;
  }

  // Reads up to the ) of a group.
  Part closed(bool fold) {
    descend();
    const Part part = choice(fold);
    if (!take(")")) expected("a )");
    letter_ = 0;
    --depth_;
    return part;
  }

  Part look(bool fold, bool negative) {
    const std::size_t first = steps_.size();
    closed(fold);
    add_look(first, negative);
    return {};
  }

  Part look_behind(bool fold, bool negative, std::size_t begin) {
    const std::size_t first = steps_.size();
    const auto [least, most] = closed(fold).width;
    if (least != most) refuse(begin);
    add_look(first, negative);
    steps_[first].behind = true;
    steps_[first].width = least;
    return {};
  }

  // Turns the steps from `first` on into a lookaround.
  void add_look(std::size_t first, bool negative) {
    const bool set = is_set(first);
    const Steps part = cut(first);
    Instruction& look = add(set ? Op::peek : Op::look, set ? part[0].set : 0);
    look.negative = negative;
    look.other = distance(part.size() + 2);
    if (set) return;
    add_all(part);
    add(Op::end);
  }

  // --- repetitions ---

  struct Repetition {
    Extent times;
    Greed greed;
  };

  std::optional<Repetition> read_repetition() {
    Repetition repetition{{0, unlimited}, Greed::greedy};
    const bool braces = next_is("{");
    if (braces) {
      if (!read_times(repetition.times)) return std::nullopt;  // the { is a literal
      // A ? after a fixed number is another repetition.
      if (repetition.times.least == repetition.times.most) return repetition;
    } else if (take("?")) {
      repetition.times.most = 1;
    } else if (take("+")) {
      repetition.times.least = 1;
    } else if (!take("*")) {
      return std::nullopt;
    }
    if (take("?")) {
      repetition.greed = Greed::lazy;
    } else if (!braces && take("+")) {
      repetition.greed = Greed::possessive;
    }
    return repetition;
  }

  bool read_times(Extent& times) {
    const std::size_t begin = at_++;
    const std::uint32_t least = read_number(0);
    const bool has_least = at_ > begin + 1;
    const bool range = take(",");
    const std::size_t second = at_;
    const std::uint32_t most = range ? read_number(unlimited) : least;
    if ((!has_least && at_ == second) || !take("}")) {
      at_ = begin;
      return false;
    }
    times = {least, most};
    if (least > most) refuse(begin);
    expect_at_most(max_times, most == unlimited ? least : most, "repetitions");
    return true;
  }

  // Returns `none` if there is no number here.
  std::uint32_t read_number(std::uint32_t none) {
    const std::size_t begin = at_;
    std::uint32_t number = 0;
    for (; !at_end() && is_digit(text_[at_].code); ++at_) {
      number = std::min<std::uint32_t>(number * 10 + (text_[at_].code - '0'), max_times * 10);
    }
    return at_ > begin ? number : none;
  }

  // Repeats the part whose steps begin at `first`. Returns false if that is not supported.
  bool repeat(Part& part, std::size_t first, const Repetition& repetition) {
    const auto [times, greed] = repetition;
    const bool set = is_set(first), may_be_empty = part.width.least == 0;
    const bool endless = times.most == unlimited, possessive = greed == Greed::possessive;
    if (part.width.most == 0 || (possessive && !set)) return false;
    // Depending on how it compiles the expression, Oniguruma may stop such a repetition early.
    if (may_be_empty && (endless ? times.least : times.most) > 1) return false;
    const Steps steps = cut(first);
    for (std::uint32_t i = 0; i < times.least; ++i) add_all(steps);
    if (endless && set) {
      Instruction& run = add(Op::run, steps[0].set);
      run.greed = greed;
      run.next = 0;
    } else if (endless) {
      repeat_endlessly(steps, may_be_empty, greed);
    } else if (possessive) {  // a character of the set, or nothing if there is no such character
      add_fork(2, greed);
      add(steps[0]);
      add_jump(2);
      add(Op::peek, steps[0].set).negative = true;
    } else {
      for (std::uint32_t left = times.most - times.least; left > 0; --left) {
        add_fork(left * (steps.size() + 1) - 1, greed);
        add_all(steps);
      }
    }
    part.one_way &= possessive || times.least == times.most;
    part.width.least *= times.least;
    part.width.most = endless ? unlimited : std::min(part.width.most * times.most, unlimited);
    return true;
  }

  // Adds two copies of a part that can match an empty string. Each round begins in the first copy,
  // whose end leaves the repetition. A step that takes a character continues in the second copy,
  // whose end begins the next round. So every round takes a character.
  void repeat_endlessly(const Steps& part, bool may_be_empty, Greed greed) {
    const std::size_t size = part.size() + 1;
    const std::size_t all = may_be_empty ? 2 * size : size;
    add_fork(all, greed);
    if (may_be_empty) {
      for (Instruction step : part) {
        if (step.op == Op::one || step.op == Op::run) step.next += distance(size);
        add(step);
      }
      add_jump(distance(size + 1));
    }
    add_all(part);
    add_jump(-distance(all));
  }

  // --- characters and sets ---

  // Reads the escape after a \ outside a set.
  Part escape(bool fold) {
    const std::size_t begin = at_ - 1;
    if (take("G")) {
      add(Op::search_start);
      return {};
    }
    CodeSet set = read_escape();
    if (set.is_single()) return literal(std::move(set), fold);
    if (fold && set.has_unknown_cases()) refuse(begin);
    return one_of(std::move(set));
  }

  // Reads the escape after a \ that is not an abbreviation.
  CodeSet read_escape() {
    const std::size_t begin = at_ - 1;
    char32_t code = take_any();
    switch (code) {
      case 'w':
        return CodeSet(unicode::word_categories);
      case 'W':
        return without(CodeSet(unicode::word_categories));
      case 'p':
      case 'P':
        return read_property(code == 'P');
      case 'n':
        code = '\n';
        break;
      case 'r':
        code = '\r';
        break;
      case 't':
        code = '\t';
        break;
      case 'u':
        code = read_hex(4, 4);
        break;
      case 'x': {
        const bool braces = take("{");
        code = braces ? read_hex(1, 8) : read_hex(2, 2);
        // Without braces it is a byte; above ASCII it would be only a part of a character.
        if (braces ? !take("}") : code > 0x7F) refuse(begin);
        break;
      }
      default:
        if (is_digit(code) || is_ascii_letter(code)) refuse(begin);
    }
    return {code, code};
  }

  char32_t read_hex(std::size_t least, std::size_t most) {
    char32_t number = 0;
    for (std::size_t i = 0; i < most; ++i) {
      const std::uint32_t digit = at_end() ? 16 : hex_digit(text_[at_].code);
      if (digit == 16 && i >= least) break;
      number = number * 16 + digit;
      if (digit == 16 || number > unicode::last_code) expected("a hexadecimal digit");
      ++at_;
    }
    return number;
  }

  // Reads the property after \p or \P.
  CodeSet read_property(bool inverted) {
    const std::size_t begin = at_ - 2;
    const bool braces = take("{");
    if (braces && take("^")) inverted = !inverted;
    std::string name;
    while (braces && !take("}")) name += static_cast<char>(std::min<char32_t>(take_any(), 0x7F));
    CodeSet set = CodeSet::named(name);
    if (set.empty()) refuse(begin);
    if (inverted) set.invert();
    return set;
  }

  static CodeSet without(CodeSet set) {
    set.invert();
    return set;
  }

  // Reads a set after its [, up to its ].
  CodeSet set(bool fold) {
    const std::size_t begin = at_ - 1;
    descend();
    const bool negative = take("^");
    CodeSet members, left;  // left: the part before the last &&
    bool intersects = false;
    for (bool first = true; first || !next_is("]"); first = false) {  // a first ] is a member
      if (at_end()) expected("a ]");
      if (take("&&")) {
        if (intersects) members.keep(left);
        intersects = true;
        left = std::exchange(members, {});
      } else {
        add_member(members);
      }
    }
    ++at_;
    if (intersects) members.keep(left);
    if (fold) {
      if (members.has_unknown_cases()) refuse(begin);
      members.add_cases();
    }
    if (negative) members.invert();
    --depth_;
    return members;
  }

  // Reads a character, a range or a set inside a set.
  void add_member(CodeSet& members) {
    const std::size_t begin = at_;
    if (take("[:")) refuse(begin);
    if (take("\\") && !replace_abbreviation(true)) --at_;
    if (take("[")) {
      members.add(set(false));
      return;
    }
    CodeSet member = read_member();
    if (member.is_single() && next_is("-") && at_ + 1 < text_.size() &&
        text_[at_ + 1].code != ']') {
      ++at_;
      const CodeSet end = read_member();
      if (!end.is_single() || end.first() < member.first()) refuse(begin);
      member = {member.first(), end.first()};
    }
    members.add(member);
  }

  CodeSet read_member() {
    if (take("\\b")) return {'\b', '\b'};
    if (take("\\")) return read_escape();
    const char32_t code = take_any();
    return {code, code};
  }

  const Source& source_;
  Characters text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  char32_t letter_ = 0;  // the last atom, if it is a character whose case is ignored
  std::vector<CodeSet> sets_;
  Steps steps_;
};

}  // namespace

Parsed parse(const Source& source) { return Parser(source).parse(); }

}  // namespace glassformer::regex
