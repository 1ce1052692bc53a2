#include <array>

#include "families/linked.hpp"
#include "kernels/kernels.hpp"
#include "layers/attention/linked_mixers.hpp"
#include "models/model.hpp"
#include "tasks/make_pipeline.hpp"
#include "text/composed/pattern.hpp"
#include "text/hub/tokenizer_classes.hpp"
#include "text/hub/tokenizer_files.hpp"

// The tables of a program that reads pictures and learns from them.

namespace glassformer {

extern const Family vit, deit;

namespace {

constexpr std::array families = {&vit, &deit};
constexpr std::array tasks = {TaskEntry{Task::image_classification, make_image}};

// Only models of texts have modules of sentence-transformers.
std::optional<SentenceModules> no_modules(ModelFiles&, ModelFiles&) { return std::nullopt; }

}  // namespace

const ReadingParts picture_parts = {.fields = reading_parts.fields, .read_modules = no_modules};

const LinkedFamilies linked_families = {
    .families = families, .containers = {}, .reading = &picture_parts, .writing = nullptr};

const std::span<const TaskEntry> linked_tasks = tasks;

const bool links_integers = true;
const bool links_decoders = false;
const bool links_texts = false;
const bool links_pictures = true;
const bool links_vocabulary_files = false;
const bool links_regex = false;

std::unique_ptr<TokenMixer> (*const make_recurrent_mixer)(std::size_t, Compute) = nullptr;

std::unique_ptr<Tokenizer> (*const read_linked_renumbered)(const FolderFile&, TokenizerSide,
                                                           const TokenizerConfig&,
                                                           std::string_view) = nullptr;

std::unique_ptr<Job> (*const begin_linked_explanation)(Pipeline&, const TaskInputs&,
                                                       const TaskOptions&) = nullptr;

}  // namespace glassformer
