#include "cli/arguments.hpp"

#include "kernels/pool.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace glassformer {
namespace {

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
void add_parsed(CLI::App& app, const std::string& name, Target& target, const Parse& parse,
                const std::string& help) {
  app.add_option_function<std::vector<std::string>>(
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

void add_model(CLI::App& app, std::filesystem::path& folder) {
  app.add_option("MODEL_DIR", folder, "The model folder.")->required();
}

void add_compute(CLI::App& app, std::optional<Compute>& compute) {
  add_name(
      app, "--compute", {"f32", "int8", "int4"},
      [&compute](std::size_t chosen) {
        compute = std::array{Compute::f32, Compute::int8, Compute::int4}[chosen];
      },
      "The arithmetic. f32: floats. int8: 8-bit integers, faster and a little less precise. int4: "
      "4-bit weights, for large models. Default: as the weights are stored.");
}

void add_bits(CLI::App& app, Compute& compute) {
  add_name(
      app, "--weights", {"8", "4"},
      [&compute](std::size_t chosen) { compute = chosen == 0 ? Compute::int8 : Compute::int4; },
      "The bits of a weight. 8: with a scale per output. 4: in groups of 32 with a scale each, in "
      "attention and feed-forward blocks. Default: 8.");
}

void add_threads(CLI::App& app, std::size_t& threads) {
  app.add_option("--threads", threads,
                 "The number of threads that share the work. Default: as many as the machine runs "
                 "at the same time.")
      ->check(CLI::Range(std::size_t{1}, Pool::most));
}

void add_patch(CLI::App& app, PatchFile& patch) {
  app.add_option("--patch", patch.path,
                 "A safetensors file of tensors, by name, that replace those of the model.");
  app.add_option("--patch-tokens", patch.tokens,
                 "The rows that --patch replaces: POSITION,… Default: all.")
      ->delimiter(',');
  app.add_option("--patch-heads", patch.heads,
                 "The heads that --patch replaces: HEAD,… Default: all.")
      ->delimiter(',');
}

void add_run(CLI::App& app, TaskArguments& task) {
  add_patch(app, task.patch);
  add_compute(app, task.model.compute);
  add_threads(app, task.model.threads);
}

CLI::Option* add_json(CLI::App& app, bool& json) {
  return app.add_flag("--json", json, "Print one JSON object per line.");
}

void add_quiet(CLI::App& app, bool& quiet) {
  app.add_flag("--quiet", quiet, "Print no warnings about lines that were cut.");
}

void add_pairs(CLI::App& app, bool& pairs) {
  app.add_flag("--pairs", pairs, "A line is two texts, with a tab between them.");
}

void add_pair(CLI::App& app, std::optional<std::string>& from, std::optional<std::string>& to) {
  app.add_option("--from", from,
                 "For a translator of many languages: the language of the text, such as en or "
                 "eng_Latn. inspect lists them. Default: as the model's files say.");
  app.add_option("--to", to,
                 "For a translator of many languages: the language of the translation. Default: as "
                 "the model's files say.");
}

CLI::Option* add_labels(CLI::App& app, const char* name, std::vector<std::string>& labels) {
  return app
      .add_option(name, labels,
                  "For a model that compares pictures with texts: a label to choose from. May be "
                  "given several times.")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* add_template(CLI::App& app, std::string& form) {
  return app.add_option(
      "--hypothesis-template", form,
      "For a model that compares pictures with texts: the text for a label, with {} in its "
      "place. Default: \"" +
          form + "\".");
}

void add_ablate(CLI::App& app, std::vector<HeadIndex>& heads, const std::string& help) {
  add_parsed(app, "--ablate", heads, parse_head, help);
}

void add_edges(CLI::App& app, std::optional<std::vector<AttentionEdge>>& edges,
               const std::string& help) {
  add_parsed(app, "--edges", edges, parse_edge, help);
}

CLI::Option* add_name(CLI::App& app, const std::string& name, std::vector<std::string> names,
                      std::function<void(std::size_t)> choose, const std::string& help) {
  const auto chosen = [names, choose = std::move(choose)](const std::string& text) {
    choose(static_cast<std::size_t>(std::ranges::find(names, text) - names.begin()));
  };
  return app.add_option_function<std::string>(name, chosen, help)->check(CLI::IsMember(names));
}

}  // namespace glassformer
