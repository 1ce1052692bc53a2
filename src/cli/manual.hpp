#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

// Documentation generated from the command line's own definitions, so that the two always agree.

namespace glassformer {

/// Returns the manual page.
std::string manual_page(const CLI::App& app, std::string_view version);

/// Returns the script that completes commands, options and their values in "bash", "zsh" or "fish".
std::string completion(const CLI::App& app, std::string_view shell);

/// Returns the name closest to a mistyped word, or an empty text if none is similar.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

/// Returns the names of all commands, or of all options of one command, with their dashes.
std::vector<std::string> command_names(const CLI::App& app);
std::vector<std::string> option_names(const CLI::App& command);

}  // namespace glassformer
