#include "cli/generate_arguments.hpp"

namespace glassformer {

void add_lengths(CLI::App& app, GenerateOptions& options, std::size_t usual) {
  app.add_option(
      "--max-new-tokens", options.max_new_tokens,
      "most tokens to write; where not given, as the folder says, or " + std::to_string(usual));
  app.add_option("--min-new-tokens", options.min_new_tokens,
                 "least tokens to write before the text may end");
}

void add_sampling(CLI::App& app, GenerateOptions& options) {
  app.add_option("--temperature", options.temperature,
                 "draw tokens; above 1 bolder, below 1 more careful, 0: do not draw; up to 1000");
  app.add_option("--top-k", options.top_k, "draw from so many most probable tokens; 0: from all");
  app.add_option("--top-p", options.top_p,
                 "draw from the fewest tokens whose probabilities reach this; 0 to 1, 1: all");
  app.add_option("--seed", options.seed, "of what is drawn: the same seed, the same text");
  app.add_option("--repetition-penalty", options.repetition_penalty,
                 "above 1: tokens that were there become less probable; 1: as they are");
  app.add_option("--no-repeat-ngram-size", options.no_repeat_ngram_size,
                 "so many tokens in a row come only once in a text; 0: as often as they like");
  const auto one_each = [](CLI::Option* option) {
    option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  one_each(add_list(app, "--stop", options.stop_strings,
                    "end with the token that makes the text contain this, which stays in it; may "
                    "be given several times; where not given, as the folder says"));
  one_each(add_list(app, "--bad-words", options.bad_words,
                    "never write this, at the start or behind a space; may be given several "
                    "times; where not given, as the folder says"));
  add_list(app, "--suppress-tokens", options.suppress_tokens, "ids never to write: ID,…")
      ->delimiter(',');
  add_list(app, "--begin-suppress-tokens", options.begin_suppress_tokens,
           "ids not to write as the first token: ID,…")
      ->delimiter(',');
}

}  // namespace glassformer
