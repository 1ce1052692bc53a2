#include "cli/manual.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

namespace glassformer {
namespace {

using Apps = std::vector<const CLI::App*>;
using Options = std::vector<const CLI::Option*>;

Apps subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

Options options(const CLI::App& app, bool positional) {
  return app.get_options(
      [positional](const CLI::Option* option) { return option->nonpositional() != positional; });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// Returns the permitted values of an option, given as "{f32,int8}"; empty: any value.
std::vector<std::string> choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.find('}');
  std::vector<std::string> values;
  if (begin == std::string::npos || end == std::string::npos) return values;
  std::string rest = type.substr(begin + 1, end - begin - 1) + ",";
  for (std::size_t comma; (comma = rest.find(',')) != std::string::npos;) {
    values.push_back(rest.substr(0, comma));
    rest.erase(0, comma + 1);
  }
  return values;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    text.append(text.empty() ? "" : between).append(word);
  }
  return text;
}

// Returns the text with a backslash before each of these characters.
std::string escaped(std::string_view text, std::string_view characters) {
  std::string result;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// Escapes a text for a shell's single quotes.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

// Escapes a text for roff, so that no character is a command.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

std::string bash_completion(const CLI::App& app) {
  std::string text =
      "# bash completion for glassformer\n_glassformer() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]}\n"
      "  local before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words='" +
      joined(command_names(app), " ") + " " + joined(option_names(app), " ") +
      "'\n  else\n    case \"$verb $before\" in\n";
  for (const CLI::App* command : subcommands(app)) {
    for (const CLI::Option* option : options(*command, false)) {
      const std::vector<std::string> values = choices(*option);
      if (values.empty()) continue;
      text += "      '" + command->get_name() + " --" + option->get_lnames().front() +
              "') words='" + joined(values, " ") + "' ;;\n";
    }
    for (const CLI::Option* option : options(*command, true)) {
      const std::vector<std::string> values = choices(*option);
      if (values.empty()) continue;
      text += "      '" + command->get_name() + " " + command->get_name() + "') words='" +
              joined(values, " ") + "' ;;\n";
    }
  }
  text += "    esac\n    if [ -z \"$words\" ] && [[ $word == -* ]]; then\n      case $verb in\n";
  for (const CLI::App* command : subcommands(app)) {
    text += "        " + command->get_name() + ") words='" + joined(option_names(*command), " ") +
            "' ;;\n";
  }
  text +=
      "      esac\n    fi\n  fi\n"
      "  if [ -n \"$words\" ]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  else\n    COMPREPLY=($(compgen -f -- \"$word\"))\n  fi\n}\n"
      "complete -o filenames -F _glassformer glassformer\n";
  return text;
}

std::string zsh_completion(const CLI::App& app) {
  std::string text = "#compdef glassformer\nlocal -a verbs\nverbs=(\n";
  for (const CLI::App* command : subcommands(app)) {
    text += "  " + in_quotes(command->get_name() + ":" + command->get_description()) + "\n";
  }
  text +=
      ")\nif (( CURRENT == 2 )); then\n  _describe command verbs\n  return\nfi\n"
      "local verb=$words[2]\nshift words\n(( CURRENT-- ))\ncase $verb in\n";
  for (const CLI::App* command : subcommands(app)) {
    text += "  " + command->get_name() + ")\n    _arguments";
    for (const CLI::Option* option : options(*command, false)) {
      const std::vector<std::string> values = choices(*option);
      std::string spec = "--" + option->get_lnames().front() + "[" +
                         escaped(option->get_description(), "[]\\") + "]";
      if (!values.empty()) {
        spec += ":value:(" + joined(values, " ") + ")";
      } else if (takes_value(*option)) {
        spec += ":value:_files";
      }
      text += " \\\n      " + in_quotes(spec);
    }
    std::size_t place = 1;
    for (const CLI::Option* option : options(*command, true)) {
      const std::vector<std::string> values = choices(*option);
      text += " \\\n      " +
              in_quotes(std::to_string(place++) + ":" + escaped(option->get_name(), ":") + ":" +
                        (values.empty() ? "_files" : "(" + joined(values, " ") + ")"));
    }
    text += "\n    ;;\n";
  }
  return text + "esac\n";
}

std::string fish_completion(const CLI::App& app) {
  std::string text = "# fish completion for glassformer\n";
  for (const CLI::App* command : subcommands(app)) {
    text += "complete -c glassformer -n __fish_use_subcommand -f -a " + command->get_name() +
            " -d " + in_quotes(command->get_description()) + "\n";
  }
  for (const CLI::App* command : subcommands(app)) {
    const std::string begin =
        "complete -c glassformer -n '__fish_seen_subcommand_from " + command->get_name() + "'";
    for (const CLI::Option* option : options(*command, false)) {
      const std::vector<std::string> values = choices(*option);
      text += begin + " -l " + option->get_lnames().front();
      if (!values.empty()) {
        text += " -x -a " + in_quotes(joined(values, " "));
      } else if (takes_value(*option)) {
        text += " -r";
      }
      text += " -d " + in_quotes(option->get_description()) + "\n";
    }
    for (const CLI::Option* option : options(*command, true)) {
      const std::vector<std::string> values = choices(*option);
      if (!values.empty()) text += begin + " -f -a " + in_quotes(joined(values, " ")) + "\n";
    }
  }
  return text;
}

// Returns the edit distance: changes, insertions, deletions and swaps of neighboring letters.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> before, next(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        next[j] = std::min(next[j], before[j - 2] + 1);
      }
    }
    before = row;
    std::swap(row, next);
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : subcommands(app)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options(command, false)) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  word = word.substr(0, 64);
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string found;
  for (const std::string& name : names) {
    // The word may also be the beginning of a name.
    const bool begins = word.size() > 3 && std::string_view(name).starts_with(word);
    const std::size_t changes = begins ? 0 : distance(word, name);
    if (changes >= least) continue;
    least = changes;
    found = name;
  }
  return found;
}

std::string completion(const CLI::App& app, std::string_view shell) {
  if (shell == "bash") return bash_completion(app);
  return shell == "zsh" ? zsh_completion(app) : fish_completion(app);
}

std::string manual_page(const CLI::App& app, std::string_view version) {
  std::string text = ".TH GLASSFORMER 1 \"\" \"glassformer " + roff(version) +
                     "\"\n.SH NAME\nglassformer \\- " + roff(app.get_description()) +
                     "\n.SH SYNOPSIS\n.B glassformer\n.I COMMAND\n[\\fIOPTIONS\\fR] ...\n"
                     ".SH COMMANDS\n";
  for (const CLI::App* command : subcommands(app)) {
    text += ".SS glassformer " + roff(command->get_name());
    for (const CLI::Option* option : options(*command, true)) {
      const bool required = option->get_required();
      text += (required ? " " : " [") + roff(option->get_name()) + (required ? "" : "]");
    }
    text += "\n" + roff(command->get_description()) + ".\n";
    for (const bool positional : {true, false}) {
      for (const CLI::Option* option : options(*command, positional)) {
        text += ".TP\n.B " +
                roff(positional ? option->get_name() : "--" + option->get_lnames().front());
        if (!positional && takes_value(*option)) text += " " + roff(option->get_type_name());
        text += "\n" + roff(option->get_description()) + "\n";
      }
    }
  }
  text +=
      ".SH EXIT STATUS\n.TP\n.B 0\nEverything was answered or done.\n.TP\n.B 1\n"
      "A file cannot be used, or a line has no answer; the other lines have theirs.\n"
      ".TP\n.B 2\nThe command line is wrong.\n";
  return text;
}

}  // namespace glassformer
