#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>
#include <map>
#include <new>
#include <system_error>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/manual.hpp"

namespace {

using namespace glassformer;

std::size_t parse_index(const std::string& text, const std::string& option) {
  if (text.empty() || text.size() > 9 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    throw CLI::ValidationError(option, "expected a whole number, got \"" + text + "\"");
  }
  return std::stoul(text);
}

// Parses LAYER.HEAD of the encoder, or SITE.LAYER.HEAD.
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

// Parses LAYER.HEAD.QUERY.KEY.
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

// Accepts these names only, and replaces a name by its value.
template <typename Value>
CLI::Validator one_of(const std::map<std::string, Value>& names) {
  std::string list;
  for (const auto& [name, value] : names) list.append(list.empty() ? "" : ",").append(name);
  const auto replace = [names, list](std::string& text) -> std::string {
    const auto found = names.find(text);
    if (found == names.end()) return text + " not in {" + list + "}";
    text = std::to_string(static_cast<int>(found->second));
    return {};
  };
  return {replace, "{" + list + "}"};
}

void add_early_stopping(CLI::App* app, std::optional<EarlyStopping>& stopping) {
  static const std::map<std::string, EarlyStopping> names = {
      {"false", EarlyStopping::no}, {"true", EarlyStopping::yes}, {"never", EarlyStopping::never}};
  app->add_option("--early-stopping", stopping,
                  "when a search ends: true: with the first texts that are whole; false: when no "
                  "better one is likely; never: when none is possible")
      ->transform(one_of(names));
}

struct CommandLine {
  CLI::App app{"A Transformer you can see through."};
  ClassifyCommand classify;
  TranslateCommand translate;
  TaskCommand ner{.task = Task::token_classification};
  TaskCommand answer{.task = Task::question_answering};
  TaskCommand embed{.task = Task::feature_extraction};
  GenerateCommand generate;
  TraceCommand trace;
  ExplainCommand explain;
  TokenizeCommand tokenize;
  InspectCommand inspect;
  BenchCommand bench;
  InitCommand init;
  ConvertCommand convert;
  QuantizeCommand quantize;
  std::vector<std::string> ablate, mask, edges;
  std::string helped, shell;  // arguments of help and completion

  CommandLine() {
    app.name("glassformer");
    app.require_subcommand(1);
    app.set_version_flag("--version", "glassformer " GLASSFORMER_VERSION);
    app.footer(
        "Commands that answer lines read standard input, and write a line for each.\n"
        "glassformer help COMMAND shows a command's options.");

    auto* c = app.add_subcommand("classify", "classify each line of standard input");
    c->add_option("MODEL_DIR", classify.model, "model folder")->required();
    auto* c_json = c->add_flag("--json", classify.json, "one JSON object a line");
    c->add_flag("--attention", classify.options.encoder.attention,
                "with --json: every attention weight")
        ->needs(c_json);
    c->add_flag("--contributions", classify.options.encoder.contributions,
                "with --json: what each token adds to each logit")
        ->needs(c_json);
    c->add_flag("--pairs", classify.pairs, "a line is two texts, with a tab between them");
    static const std::map<std::string, ClassifyWindow> windows = {{"first", ClassifyWindow::first},
                                                                  {"mean", ClassifyWindow::mean},
                                                                  {"max", ClassifyWindow::max}};
    c->add_option(
         "--window", classify.options.window,
         "how a line with more tokens than the model takes is read: first: it is cut; mean, "
         "max: in windows, and a score is the mean of the windows' scores, or the highest")
        ->transform(one_of(windows));
    add_stride(c, classify.options.stride);
    c->add_option("--ablate", ablate, "heads to ablate: LAYER.HEAD,…, both from 0")->delimiter(',');
    c->add_option("--mask", mask, "tokens to treat as padding: POSITION,…, from 0")->delimiter(',');
    add_patch(c, classify.patch);
    add_compute(c, classify.compute);
    add_threads(c, classify.threads);

    auto* r = app.add_subcommand("translate", "translate each line of standard input");
    r->add_option("MODEL_DIR", translate.model, "model folder")->required();
    r->add_option(
        "--beams", translate.options.beams,
        "hypotheses followed at once; 1: greedy; where not given, as the folder says, or 4");
    r->add_option(
        "--length-penalty", translate.options.length_penalty,
        "score = log-probability / tokens ^ this; where not given, as the folder says, or 1");
    add_early_stopping(r, translate.options.early_stopping);
    r->add_flag("--shortlist", translate.shortlist,
                "consider only tokens that the folder's shortlist.bin offers: faster");
    auto* r_json = r->add_flag("--json", translate.json, "one JSON object a line");
    r->add_flag("--attention", translate.options.attention,
                "with --json: every attention weight, and the alignment")
        ->needs(r_json);
    r->add_flag("--hypotheses", translate.options.hypotheses,
                "with --json: the other translations, and what the search considered")
        ->needs(r_json);
    r->add_option("--ablate", ablate,
                  "heads to ablate: SITE.LAYER.HEAD,…, SITE one of encoder, "
                  "decoder, cross")
        ->delimiter(',');
    add_patch(r, translate.patch);
    add_compute(r, translate.compute);
    add_threads(r, translate.threads);

    auto* e = add_task("ner", "the names in each line: of people, places and the like", ner);
    e->add_option("--aggregation", ner.aggregation,
                  "how tokens become entities: none: each token is one; simple: neighbors of one "
                  "label are; first, average, max: words are, with the label of their first "
                  "token, of the mean of their scores, or of the highest")
        ->check(CLI::IsMember({"none", "simple", "first", "average", "max"}));
    e->add_option(
         "--window", ner.window,
         "how a line with more tokens than the model takes is read: all: in windows; first: "
         "it is cut; where not given, all")
        ->check(CLI::IsMember({"all", "first"}));
    add_stride(e, ner.stride);
    auto* a = add_task(
        "answer", "answer each line, a question and a context with a tab between them", answer);
    a->add_flag("--handle-impossible-answer", answer.no_answer,
                "the answer may be empty: there is none");
    auto* embedder = add_task("embed", "a vector of each line", embed);
    embedder->add_option(
        "--prompt", embed.prompt,
        "a text to put before each line; where not given, the folder's default prompt");
    embedder->add_option("--prompt-name", embed.prompt_name,
                         "the name of one of the folder's prompts, such as query");

    auto* g = app.add_subcommand("generate", "continue, or answer, each line of standard input");
    g->add_option("MODEL_DIR", generate.model, "model folder")->required();
    g->add_option("--task", generate.options.task,
                  "use the folder's settings and prefix for this task, such as summarization; "
                  "inspect lists them under task_specific_params");
    g->add_flag("--no-prefix", generate.no_prefix,
                "leave out the prefix that the folder puts before each line");
    g->add_option("--max-new-tokens", generate.options.max_new_tokens,
                  "most tokens to write; where not given, as the folder says, or 64");
    g->add_option("--min-new-tokens", generate.options.min_new_tokens,
                  "least tokens to write before the text may end");
    g->add_option("--beams", generate.options.beams,
                  "hypotheses followed at once, up to 64; 1: greedy");
    g->add_option("--length-penalty", generate.options.length_penalty,
                  "with beams: score = log-probability / tokens ^ this; -10 to 10, above 0 longer "
                  "texts win");
    add_early_stopping(g, generate.options.early_stopping);
    g->add_option("--temperature", generate.options.temperature,
                  "draw tokens; above 1 bolder, below 1 more careful, 0: do not draw; up to 1000");
    g->add_option("--top-k", generate.options.top_k,
                  "draw from so many most probable tokens; 0: from all");
    g->add_option("--top-p", generate.options.top_p,
                  "draw from the fewest tokens whose probabilities reach this; 0 to 1, 1: all");
    g->add_option("--seed", generate.options.seed,
                  "of what is drawn: the same seed, the same text");
    g->add_option("--repetition-penalty", generate.options.repetition_penalty,
                  "above 1: tokens that were there become less probable; 1: as they are");
    g->add_option("--no-repeat-ngram-size", generate.options.no_repeat_ngram_size,
                  "so many tokens in a row come only once in a text; 0: as often as they like");
    g->add_option("--stop", generate.stop,
                  "end with the token that makes the text contain this, which stays in it; may be "
                  "given several times; where not given, as the folder says")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    g->add_option("--bad-words", generate.bad_words,
                  "never write this, at the start or behind a space; may be given several times; "
                  "where not given, as the folder says")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    g->add_option("--suppress-tokens", generate.suppress, "ids never to write: ID,…")
        ->delimiter(',');
    g->add_option("--begin-suppress-tokens", generate.begin_suppress,
                  "ids not to write as the first token: ID,…")
        ->delimiter(',');
    g->add_option("--next", generate.next, "only show so many tokens that may come next; 0: all");
    auto* g_json = g->add_flag("--json", generate.json, "one JSON object a line");
    g->add_flag("--attention", generate.options.attention, "with --json: every attention weight")
        ->needs(g_json);
    g->add_flag("--hypotheses", generate.options.hypotheses,
                "with --json and --beams: the other continuations")
        ->needs(g_json);
    g->add_option("--ablate", ablate,
                  "heads to ablate: decoder.LAYER.HEAD,…; encoder, cross where there is an encoder")
        ->delimiter(',');
    add_patch(g, generate.patch);
    add_compute(g, generate.compute);
    add_threads(g, generate.threads);

    auto* w = app.add_subcommand("trace", "tensors between text and answer, to a safetensors file");
    w->add_option("MODEL_DIR", trace.model, "model folder")->required();
    w->add_option("--names", trace.names,
                  "NAME,…; * stands for what is between two dots: 'encoder.layers.*.output'")
        ->delimiter(',')
        ->required();
    w->add_option(
         "--out", trace.out,
         "file to write; of several lines, names begin with the line's number, from 0: LINE/NAME")
        ->required();
    w->add_flag("--json", trace.json, "print each line's answer, one JSON object a line");
    w->add_flag("--pairs", trace.pairs, "of a classifier: as in classify");
    w->add_option("--task", trace.task, "of a model that writes texts: as in generate");
    w->add_flag("--no-prefix", trace.no_prefix, "of the same: as in generate");
    add_patch(w, trace.patch);
    add_compute(w, trace.compute);

    auto* x = app.add_subcommand("explain", "why a model answers each line as it does");
    x->add_option("MODEL_DIR", explain.model, "model folder")->required();
    x->add_option("--method", explain.method,
                  "rollout: attention through all layers; value_norms: attention times the size "
                  "of what it moves; lens: what each layer would answer; ledger: the answer as a "
                  "sum of what each part adds; transplant: vectors of the line's second text in "
                  "its first; faithfulness: how well scores tell what matters; edges: what some "
                  "arrows of attention do; circuit: the fewest arrows that give the answer; "
                  "decoder_lens: the translation as read from each encoder layer")
        ->check(CLI::IsMember({"rollout", "value_norms", "lens", "ledger", "transplant",
                               "faithfulness", "edges", "circuit", "decoder_lens"}))
        ->required();
    x->add_flag("--json", explain.json, "one JSON object a line");
    x->add_option("--label", explain.label, "what to explain; where not given, the answer");
    x->add_option("--sentence", explain.sentence,
                  "of a translator's ledger: which sentence; else 0, the first");
    x->add_option("--position", explain.position,
                  "of a translator's ledger: which token of its translation; else 0, the first");
    x->add_option(
         "--prefix", explain.prefix,
         "of a translator's ledger: ids that the translation begins with, ID,…; it is then "
         "of the token after these")
        ->delimiter(',');
    x->add_option("--token", explain.token,
                  "of a ledger of what is written next: the id of the token to explain; else the "
                  "likeliest, or what the translation has there");
    x->add_option("--against", explain.against, "and not this one; else the likeliest other");
    x->add_flag("--effects", explain.effects,
                "of ledger: what the answer loses without each column");
    x->add_option("--site", explain.site,
                  "of transplant: what is carried from the second text; else residual, the "
                  "vectors between layers")
        ->check(CLI::IsMember({"residual", "attention", "feed_forward", "head"}));
    x->add_option("--head", explain.head, "of transplant --site head: which");
    x->add_option("--of", explain.of,
                  "of faithfulness: the method whose scores are tested; else rollout")
        ->check(CLI::IsMember({"rollout", "value_norms", "ledger"}));
    x->add_option("--orders", explain.orders, "of faithfulness: how many random orders")
        ->check(CLI::Range(0, 1000));
    x->add_option("--edges", edges, "of edges: the arrows to cut, LAYER.HEAD.QUERY.KEY,…")
        ->delimiter(',');
    x->add_option("--cut", explain.cut,
                  "of edges: cut scores, before the softmax, so that the others share the rest; or "
                  "weights, behind it; else scores")
        ->check(CLI::IsMember({"scores", "weights"}));
    x->add_option("--least", explain.least, "of circuit: the share of the answer to keep")
        ->check(CLI::Range(0.01, 1.0));
    x->add_option("--beams", explain.beams, "of a translator: hypotheses followed at once; else 1");
    x->add_option("--words", explain.words, "of a lens on next words, with --json: how many");
    x->add_flag("--pairs", explain.pairs, "as in classify");
    add_compute(x, explain.compute);
    add_threads(x, explain.threads);

    auto* t = app.add_subcommand("tokenize", "token ids of each line, unclipped");
    t->add_option("MODEL_DIR", tokenize.model, "model folder; the tokenizer's files are enough")
        ->required();
    t->add_flag("--special", tokenize.special, "with the tokens that the model expects around");

    auto* i = app.add_subcommand("inspect", "configuration, tensors and parameters of a model");
    i->add_option("MODEL_DIR", inspect.model, "model folder")->required();

    auto* b = app.add_subcommand("bench", "median time from text to answer");
    b->add_option("MODEL_DIR", bench.model, "model folder")->required();
    b->add_option("--lengths", bench.lengths, "text lengths in tokens")
        ->delimiter(',')
        ->check(CLI::Range(1, 1'000'000));
    b->add_option("--text", bench.text, "a text instead of some of given lengths");
    b->add_flag("--attention", bench.attention, "every attention weight is kept");
    b->add_flag("--shortlist", bench.shortlist, "of a translator: as in translate");
    add_compute(b, bench.compute);
    b->add_flag("--json", bench.json, "a JSON array");

    auto* n = app.add_subcommand("init", "a model with random Xavier-uniform weights");
    n->add_option("CONFIG_JSON", init.config, "configuration; tokenizers beside it are copied")
        ->required();
    n->add_option("OUT_DIR", init.folder, "folder to write")->required();
    n->add_option("--seed", init.seed, "seed of the random numbers")->required();

    auto* v = app.add_subcommand("convert", "a published checkpoint as a model folder of ours");
    v->add_option("CHECKPOINT_DIR", convert.model, "folder as its makers published it")->required();
    v->add_option("OUT_DIR", convert.folder, "folder to write")->required();
    add_compute(v, convert.compute);

    auto* q = app.add_subcommand("quantize", "a model's matrices as 8-bit integers");
    q->add_option("MODEL_DIR", quantize.model, "model folder")->required();
    q->add_option("OUT_DIR", quantize.folder, "folder to write")->required();

    auto* h = app.add_subcommand("help", "what a command does, and its options");
    h->add_option("COMMAND", helped, "a command; where not given, all of them are listed");
    app.add_subcommand("manual", "the manual page, for man");
    auto* k = app.add_subcommand("completion", "what completes this command in a shell");
    k->add_option("SHELL", shell, "the shell")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->required();
  }

  CLI::App* add_task(const char* name, const char* what, TaskCommand& command) {
    auto* task = app.add_subcommand(name, what);
    task->add_option("MODEL_DIR", command.model, "model folder")->required();
    auto* json = task->add_flag("--json", command.json, "one JSON object a line");
    task->add_flag("--attention", command.attention, "with --json: every attention weight")
        ->needs(json);
    add_patch(task, command.patch);
    add_compute(task, command.compute);
    add_threads(task, command.threads);
    return task;
  }

  void add_stride(CLI::App* command, std::optional<std::size_t>& stride) {
    command->add_option(
        "--stride", stride,
        "how many tokens two neighboring windows share; where not given, 128, or half "
        "of a window if that is less");
  }

  void add_compute(CLI::App* command, std::optional<Compute>& compute) {
    static const std::map<std::string, Compute> names = {{"f32", Compute::f32},
                                                         {"int8", Compute::int8}};
    command
        ->add_option("--compute", compute,
                     "arithmetic: f32: floats; int8: 8-bit integers, faster and with a little less "
                     "precision; where not given, as the weights are stored")
        ->transform(one_of(names));
  }

  void add_patch(CLI::App* command, PatchFile& patch) {
    command->add_option("--patch", patch.path,
                        "safetensors file of numbers, by name, to take the place of the model's");
    command->add_option("--patch-tokens", patch.tokens, "only of these rows: POSITION,…")
        ->delimiter(',');
    command->add_option("--patch-heads", patch.heads, "only of these heads: HEAD,…")
        ->delimiter(',');
  }

  void add_threads(CLI::App* command, std::size_t& threads) {
    command
        ->add_option("--threads", threads, "lines answered at once, each with weights of its own")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
  }

  Exit run() {
    if (app.got_subcommand("classify")) return glassformer::run(classify);
    if (app.got_subcommand("translate")) return glassformer::run(translate);
    if (app.got_subcommand("ner")) return glassformer::run(ner);
    if (app.got_subcommand("answer")) return glassformer::run(answer);
    if (app.got_subcommand("embed")) return glassformer::run(embed);
    if (app.got_subcommand("generate")) return glassformer::run(generate);
    if (app.got_subcommand("trace")) return glassformer::run(trace);
    if (app.got_subcommand("explain")) return glassformer::run(explain);
    if (app.got_subcommand("tokenize")) return glassformer::run(tokenize);
    if (app.got_subcommand("inspect")) return glassformer::run(inspect);
    if (app.got_subcommand("bench")) return glassformer::run(bench);
    if (app.got_subcommand("convert")) return glassformer::run(convert);
    if (app.got_subcommand("quantize")) return glassformer::run(quantize);
    if (app.got_subcommand("init")) return glassformer::run(init);
    if (app.got_subcommand("manual")) {
      std::cout << manual_page(app, GLASSFORMER_VERSION);
    } else if (app.got_subcommand("completion")) {
      std::cout << completion(app, shell);
    } else {
      return help();
    }
    return Exit::ok;
  }

  Exit help() const {
    const CommandLine other;  // needed because `app` would show the help of the command "help"
    if (helped.empty()) {
      std::cout << other.app.help();
      return Exit::ok;
    }
    const std::vector<std::string> names = command_names(app);
    if (std::ranges::find(names, helped) == names.end()) return refuse_command(helped);
    std::cout << other.app.get_subcommand(helped)->help(app.get_name());
    return Exit::ok;
  }

  Exit refuse_command(const std::string& name) const {
    std::cerr << "glassformer: there is no command \"" << printable(name) << '"';
    suggest(nearest(name, command_names(app)));
    std::cerr << "; glassformer help lists all\n";
    return Exit::usage;
  }

  // Explains what is wrong with the arguments, with suggestions.
  Exit refuse(const CLI::ParseError& error, const std::vector<std::string>& arguments) const {
    const std::vector<std::string> names = command_names(app);
    if (!arguments.empty() && !arguments[0].starts_with('-') &&
        std::ranges::find(names, arguments[0]) == names.end()) {
      return refuse_command(arguments[0]);
    }
    std::cerr << "glassformer: " << printable(error.what());
    const std::vector<CLI::App*> used = app.get_subcommands();
    const CLI::App& command = used.empty() ? app : *used[0];
    const std::vector<std::string> options = option_names(command);
    for (const std::string& argument : arguments) {
      const std::string option = argument.substr(0, argument.find('='));
      if (!option.starts_with("--") || std::ranges::find(options, option) != options.end())
        continue;
      suggest(nearest(option, options));
      break;
    }
    std::cerr << "\nglassformer help " << command.get_name() << (used.empty() ? "COMMAND" : "")
              << " shows the options\n";
    return Exit::usage;
  }

  static void suggest(const std::string& meant) {
    if (!meant.empty()) std::cerr << "; did you mean " << meant << '?';
  }
};

// Parses the command line and runs its command.
Exit run(int argc, char** argv) {
  CommandLine line;
  try {
    line.app.parse(argc, argv);
    for (const std::string& head : line.ablate) {
      line.classify.options.encoder.ablate.push_back(parse_head(head));
    }
    line.translate.options.ablate = line.classify.options.encoder.ablate;
    for (const std::string& edge : line.edges) line.explain.edges.push_back(parse_edge(edge));
    line.generate.options.ablate = line.classify.options.encoder.ablate;
    for (const std::string& position : line.mask) {
      line.classify.options.encoder.mask_tokens.push_back(parse_index(position, "--mask"));
    }
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return line.refuse(error, {argv + 1, argv + argc});
    line.app.exit(error);  // prints help or the version
    return Exit::ok;
  }
  return line.run();
}

// Replaces standard streams that the shell has closed with one on which every call fails.
// Otherwise, the next opened file would get the stream's descriptor.
void replace_closed_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  replace_closed_streams();
  std::ios::sync_with_stdio(false);
  // Commands flush their output before they wait for input. Reading a line or reporting an error
  // must not flush it implicitly, because that could fail.
  std::cin.tie(nullptr);
  std::cerr.tie(nullptr);
  std::cin.exceptions(std::ios::badbit);
  std::cout.exceptions(std::ios::badbit);
  try {
    const Exit exit = run(argc, argv);
    std::cout.flush();
    return static_cast<int>(exit);
  } catch (const Error& error) {
    std::cerr << "glassformer: " << to_string(error.code()) << ": " << error.what() << '\n';
  } catch (const std::ios_base::failure&) {
    const std::string reason = std::generic_category().message(errno);
    std::cerr << "glassformer: "
              << (std::cout.bad() ? "standard output: cannot be written: "
                                  : "standard input: cannot be read: ")
              << reason << '\n';
  } catch (const std::bad_alloc&) {
    std::cerr << "glassformer: " << to_string(ErrorCode::internal) << ": out of memory\n";
  } catch (const std::exception& error) {
    std::cerr << "glassformer: " << printable(error.what()) << '\n';
  }
  return static_cast<int>(Exit::bad_input);
}
