#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

// What is said about the command line elsewhere, made of its own definitions, so that it cannot
// differ from them.

namespace glassformer {

/// The manual page, for man.
std::string manual_page(const CLI::App& app, std::string_view version);

/// What completes commands, options and their values in a shell: "bash", "zsh" or "fish".
std::string completion(const CLI::App& app, std::string_view shell);

/// The name that a mistyped word was meant to be, or an empty text if it is not like any.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

/// The names of all commands; of all options of one, with their dashes.
std::vector<std::string> command_names(const CLI::App& app);
std::vector<std::string> option_names(const CLI::App& command);

}  // namespace glassformer
