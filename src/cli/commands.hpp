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

/// A command's exit status.
enum class Exit { ok = 0, bad_input = 1, usage = 2 };

struct ClassifyCommand {
  std::filesystem::path model;
  std::optional<Compute> compute;  // none: as stored
  std::size_t threads = 1;
  bool json = false;
  bool pairs = false;  // a line has two texts
  PatchFile patch;
  ClassifyOptions options;
};
/// Answers each line of standard input with one line on standard output.
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
/// Answers each line of standard input with one line on standard output.
Exit run(const TranslateCommand& command);

/// Runs a model's task on each line; for tasks without a command type of their own.
struct TaskCommand {
  Task task;
  std::filesystem::path model = {};
  std::optional<Compute> compute = {};
  std::size_t threads = 1;
  bool json = false;
  bool attention = false;
  std::string aggregation = {};            // ner only; empty: none
  std::string window = {};                 // ner only; empty: all
  std::optional<std::size_t> stride = {};  // ner only
  bool no_answer = false;                  // answer only: accept that the context has no answer
  std::optional<std::string> prompt = {}, prompt_name = {};  // embed only
  PatchFile patch = {};
};
/// Answers each line of standard input with one line on standard output.
Exit run(const TaskCommand& command);

/// Continues each line, or lists the candidates for its next token.
struct GenerateCommand {
  std::filesystem::path model;
  std::optional<Compute> compute;
  std::size_t threads = 1;
  bool json = false;
  bool no_prefix = false;
  std::optional<std::size_t> next;           // number of candidates to list
  std::vector<std::string> stop, bad_words;  // empty: the folder's
  std::vector<std::size_t> suppress, begin_suppress;
  PatchFile patch;
  GenerateOptions options;
};
/// Answers each line of standard input with one line on standard output.
Exit run(const GenerateCommand& command);

/// Writes a model's intermediate tensors to a file.
struct TraceCommand {
  std::filesystem::path model, out;
  std::vector<std::string> names;
  std::string task;        // models that write texts only; empty: none
  bool no_prefix = false;  // models that write texts only
  PatchFile patch;
  std::optional<Compute> compute;
  bool pairs = false;
  bool json = false;
};
Exit run(const TraceCommand& command);

/// Explains a model's answers. Empty fields get the defaults of begin_explanation.
struct ExplainCommand {
  std::filesystem::path model;
  std::string method, label, site, of, cut;
  std::optional<Compute> compute;
  std::size_t threads = 1;
  bool json = false;
  bool pairs = false;    // a line has two texts that the model reads together
  bool effects = false;  // ledger only
  std::optional<std::size_t> head, orders;
  std::optional<std::size_t> beams, words, token, against;  // models that write texts only
  std::optional<std::size_t> sentence, position;            // translations only
  std::vector<std::size_t> prefix;                          // ids of the first output tokens
  std::vector<AttentionEdge> edges;
  std::optional<float> least;
};
/// Answers each line of standard input with one line on standard output; a transplant takes two
/// texts.
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
  std::string text;  // replaces texts of these lengths
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

/// Converts any supported model folder to our format.
struct ConvertCommand {
  std::filesystem::path model, folder;
  std::optional<Compute> compute;  // none: as stored
};
Exit run(const ConvertCommand& command);

/// Quantizes the matrices of a folder in our format to 8-bit integers.
struct QuantizeCommand {
  std::filesystem::path model, folder;
};
Exit run(const QuantizeCommand& command);

}  // namespace glassformer
