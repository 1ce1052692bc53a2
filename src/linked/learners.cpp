#include <array>

#include "families/linked.hpp"
#include "kernels/kernels.hpp"
#include "layers/attention/linked_mixers.hpp"
#include "models/model.hpp"
#include "tasks/make_pipeline.hpp"
#include "text/composed/pattern.hpp"
#include "text/hub/tokenizer_classes.hpp"
#include "text/hub/tokenizer_files.hpp"

// The tables of a program with the models that learn.

namespace glassformer {

extern const Family bert, distilbert, roberta, electra, albert, mpnet, deberta, modernbert;

namespace {

constexpr std::array families = {&bert,   &distilbert, &roberta, &electra,
                                 &albert, &mpnet,      &deberta, &modernbert};
constexpr std::array tasks = {TaskEntry{Task::text_classification, make_classify}};

// The modules of sentence-transformers do not learn.
std::optional<SentenceModules> no_modules(ModelFiles&, ModelFiles&) { return std::nullopt; }

}  // namespace

const ReadingParts learning_parts = {.fields = reading_parts.fields, .read_modules = no_modules};

const LinkedFamilies linked_families = {
    .families = families, .containers = {}, .reading = &learning_parts, .writing = nullptr};

const std::span<const TaskEntry> linked_tasks = tasks;

const bool links_integers = false;
const bool links_decoders = false;
const bool links_texts = true;
const bool links_pictures = false;
const bool links_vocabulary_files = false;
const bool links_regex = false;

std::unique_ptr<TokenMixer> (*const make_recurrent_mixer)(std::size_t, Compute) = nullptr;

std::unique_ptr<Tokenizer> (*const read_linked_renumbered)(const FolderFile&, TokenizerSide,
                                                           const TokenizerConfig&,
                                                           std::string_view) = nullptr;

std::unique_ptr<Job> (*const begin_linked_explanation)(Pipeline&, const TaskInputs&,
                                                       const TaskOptions&) = nullptr;

}  // namespace glassformer
