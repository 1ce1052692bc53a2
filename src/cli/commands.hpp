#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/patch_file.hpp"
#include "glassformer/explain.hpp"
#include "tasks/classify/classify.hpp"
#include "tasks/generate/generate.hpp"
#include "tasks/translate/translate.hpp"

namespace glassformer {

/// What a command returns to the shell.
enum class Exit { ok = 0, bad_input = 1, usage = 2 };

struct ClassifyCommand {
  std::filesystem::path model;
  std::optional<Compute> compute;  // none: as stored
  std::size_t threads = 1;
  bool json = false;
  bool pairs = false;  // a line is two texts
  PatchFile patch;
  ClassifyOptions options;
};
/// One line of standard input, one line of standard output.
Exit run(const ClassifyCommand& command);

struct TranslateCommand {
  std::filesystem::path model;
  std::optional<Compute> compute;
  bool shortlist = false;
  std::size_t threads = 1;
  bool json = false;
  PatchFile patch;
  TranslateOptions options;
};
/// One line of standard input, one line of standard output.
Exit run(const TranslateCommand& command);

/// What a model does with each line, where the command has no more to say than this.
struct TaskCommand {
  Task task;
  std::filesystem::path model = {};
  std::optional<Compute> compute = {};
  std::size_t threads = 1;
  bool json = false;
  bool attention = false;
  std::string aggregation = {};            // of ner; empty: none
  std::string window = {};                 // of ner; empty: all
  std::optional<std::size_t> stride = {};  // of ner
  bool no_answer = false;                  // answer: that there is none is an answer, too
  std::optional<std::string> prompt = {}, prompt_name = {};  // of embed
  PatchFile patch = {};
};
/// One line of standard input, one line of standard output.
Exit run(const TaskCommand& command);

/// Continues each line, or says what may come next.
struct GenerateCommand {
  std::filesystem::path model;
  std::optional<Compute> compute;
  std::size_t threads = 1;
  bool json = false;
  bool no_prefix = false;
  std::optional<std::size_t> next;           // so many tokens that may come next
  std::vector<std::string> stop, bad_words;  // empty: as the folder says
  std::vector<std::size_t> suppress, begin_suppress;
  PatchFile patch;
  GenerateOptions options;
};
/// One line of standard input, one line of standard output.
Exit run(const GenerateCommand& command);

/// The numbers between text and answer, in a file.
struct TraceCommand {
  std::filesystem::path model, out;
  std::vector<std::string> names;
  std::string task;        // of a model that writes texts; empty: none
  bool no_prefix = false;  // of the same
  PatchFile patch;
  std::optional<Compute> compute;
  bool pairs = false;
  bool json = false;
};
Exit run(const TraceCommand& command);

/// Why a model answers as it does. What is empty or none is as begin_explanation has it.
struct ExplainCommand {
  std::filesystem::path model;
  std::string method, label, site, of, cut;
  std::optional<Compute> compute;
  std::size_t threads = 1;
  bool json = false;
  bool pairs = false;    // a line is two texts that the model reads together
  bool effects = false;  // of the ledger
  std::optional<std::size_t> head, orders;
  std::optional<std::size_t> beams, words, token, against;  // of what writes
  std::optional<std::size_t> sentence, position;            // of a translation
  std::vector<std::size_t> prefix;                          // ids that it begins with
  std::vector<AttentionEdge> edges;
  std::optional<float> least;
};
/// One line of standard input, one line of standard output; of a transplant two texts.
Exit run(const ExplainCommand& command);

struct TokenizeCommand {
  std::filesystem::path model;
  bool special = false;
};
Exit run(const TokenizeCommand& command);

struct InspectCommand {
  std::filesystem::path model;
};
Exit run(const InspectCommand& command);

struct BenchCommand {
  std::filesystem::path model;
  std::optional<Compute> compute;
  std::vector<std::size_t> lengths = {16, 64, 256};
  std::string text;  // to use instead of texts of these lengths
  bool attention = false;
  bool shortlist = false;
  bool json = false;
};
Exit run(const BenchCommand& command);

struct InitCommand {
  std::filesystem::path config, folder;
  std::uint64_t seed = 0;
};
Exit run(const InitCommand& command);

/// Any model folder as one of ours.
struct ConvertCommand {
  std::filesystem::path model, folder;
  std::optional<Compute> compute;  // none: as stored
};
Exit run(const ConvertCommand& command);

/// One of ours with matrices of 8-bit integers.
struct QuantizeCommand {
  std::filesystem::path model, folder;
};
Exit run(const QuantizeCommand& command);

}  // namespace glassformer
