#include "cli/flags.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>

#include "base/spelling.hpp"
#include "base/strings/decimal.hpp"

namespace glassformer {
namespace {

// Returns the text with the names of options, which stand between backquotes, as flags.
std::string with_flags(std::string_view text) {
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t quote = std::min(text.find('`', begin), text.size());
    result += text.substr(begin, quote - begin);
    const std::size_t end = quote < text.size() ? text.find('`', quote + 1) : text.size();
    if (quote < text.size())
      result += spelled(text.substr(quote + 1, end - quote - 1), Spelling::flag);
    begin = end + 1;
  }
  return result;
}

std::size_t parse_index(const std::string& text, const std::string& option) {
  if (text.empty() || text.size() > 9 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    throw CLI::ValidationError(option, "expected a whole number, got \"" + text + "\"");
  }
  return std::stoul(text);
}

HeadIndex parse_head(const std::string& text) {
  static constexpr std::array sites = {"encoder.", "decoder.", "cross."};
  std::string head = text;
  HeadIndex index = {};
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (!head.starts_with(sites[i])) continue;
    index.attention = static_cast<AttentionSite>(i);
    head.erase(0, std::string_view(sites[i]).size());
    break;
  }
  const std::size_t dot = head.find('.');
  if (dot == std::string::npos) {
    throw CLI::ValidationError("--ablate", "expected LAYER.HEAD, got \"" + text + "\"");
  }
  index.layer = parse_index(head.substr(0, dot), "--ablate");
  index.head = parse_index(head.substr(dot + 1), "--ablate");
  return index;
}

AttentionEdge parse_edge(const std::string& text) {
  std::vector<std::size_t> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t dot = std::min(text.find('.', begin), text.size());
    numbers.push_back(parse_index(text.substr(begin, dot - begin), "--edges"));
    begin = dot + 1;
  }
  if (numbers.size() != 4) {
    throw CLI::ValidationError("--edges", "expected LAYER.HEAD.QUERY.KEY, got \"" + text + "\"");
  }
  return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

// Declares an option with values that are separated by commas.
template <class Target, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, Target& target, const Parse& parse,
                        const std::string& help) {
  return app
      .add_option_function<std::vector<std::string>>(
          name,
          [&target, parse](const std::vector<std::string>& texts) {
            std::vector<decltype(parse(std::string()))> values;
            for (const std::string& text : texts) values.push_back(parse(text));
            target = std::move(values);
          },
          help)
      ->delimiter(',');
}

}  // namespace

bool Flags::chosen(std::string_view name) const {
  const auto has = [&](const std::vector<std::string_view>& names) {
    return std::ranges::find(names, name) != names.end();
  };
  return (choice_.only.empty() || has(choice_.only)) && !has(choice_.without);
}

std::string Flags::flag(const char* name) { return spelled(name, Spelling::flag); }

std::string Flags::shown(float number) { return shortest_decimal(number); }

std::string Flags::help(const Option& about, const std::string& usual) {
  std::string text = with_flags(about.help);
  const auto number = [](double limit) {
    if (limit > 1e9) return std::string();
    if (limit == std::floor(limit)) return std::to_string(static_cast<std::int64_t>(limit));
    return shortest_decimal(static_cast<float>(limit));
  };
  const std::string least = about.least == -Option::any ? "" : number(about.least);
  const std::string most = about.most == Option::any ? "" : number(about.most);
  if (!least.empty() && !most.empty()) {
    text.append(" Between ").append(least).append(" and ").append(most).append(".");
  }
  const std::string absent = about.absent[0] != 0 ? with_flags(about.absent) : usual;
  if (!absent.empty()) text.append(" Default: ").append(absent).append(".");
  return text;
}

CLI::Option* Flags::declare(const char* name, bool& option, const Option& about) {
  if (!option) return app_.add_flag(flag(name), option, help(about));
  std::string text = help(about);
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  const std::string no = "--no-" + flag(name).substr(2);
  return app_.add_flag_callback(
      no, [&option] { option = false; }, "Do not " + text);
}

CLI::Option* Flags::declare(const char* name, std::optional<bool>& option, const Option& about) {
  const std::string yes = flag(name), no = "--no-" + yes.substr(2);
  CLI::Option* const declared = app_.add_flag_callback(
      yes, [&option] { option = true; }, help(about));
  app_.add_flag_callback(
          no, [&option] { option = false; }, "The opposite of " + yes + ".")
      ->excludes(declared);
  return declared;
}

CLI::Option* Flags::declare(const char* name, std::vector<HeadIndex>& option, const Option& about) {
  return add_parsed(app_, flag(name), option, parse_head,
                    help(about) +
                        " Written as LAYER.HEAD,… or SITE.LAYER.HEAD,… with the "
                        "site encoder, decoder or cross.");
}

CLI::Option* Flags::declare(const char* name, std::optional<std::vector<AttentionEdge>>& option,
                            const Option& about) {
  return add_parsed(app_, flag(name), option, parse_edge,
                    help(about) + " Written as LAYER.HEAD.QUERY.KEY,…");
}

CLI::Option* Flags::declare(const char* name, std::optional<EarlyStopping>& option,
                            const Option& about) {
  static constexpr std::array stoppings = {"false", "true", "never"};
  return names(name, stoppings, help(about),
               [&option](std::size_t chosen) { option = static_cast<EarlyStopping>(chosen); });
}

CLI::Option* Flags::declare(const char* name, std::optional<std::array<std::size_t, 2>>& option,
                            const Option& about) {
  using Numbers = std::vector<std::size_t>;
  const auto take = [&option](const Numbers& given) { option = {given[0], given[1]}; };
  return app_.add_option_function<Numbers>(flag(name), take, help(about) + " Written as N,N.")
      ->delimiter(',')
      ->expected(2);
}

CLI::Option* Flags::names(const char* name, EnumNames names, const std::string& about,
                          std::function<void(std::size_t)> choose) {
  return add_name(app_, flag(name), {names.begin(), names.end()}, std::move(choose), about);
}

}  // namespace glassformer
