#include <array>

#include "families/linked.hpp"
#include "kernels/kernels.hpp"
#include "layers/attention/linked_mixers.hpp"
#include "models/model.hpp"
#include "tasks/make_pipeline.hpp"
#include "text/composed/pattern.hpp"
#include "text/hub/tokenizer_classes.hpp"
#include "text/hub/tokenizer_files.hpp"

// The tables of a program with the models that write texts.

namespace glassformer {

extern const Family gpt2, llama, phi3, gemma, gpt_neox, marian, bart, mbart, m2m_100, t5_writer,
    bergamot;

namespace {

constexpr std::array families = {&gpt2,   &llama, &phi3,  &gemma,   &gpt_neox,
                                 &marian, &bart,  &mbart, &m2m_100, &t5_writer};
constexpr std::array containers = {&bergamot};
constexpr std::array tasks = {
    TaskEntry{Task::translation, make_translate},
    TaskEntry{Task::text_generation, make_generate},
    TaskEntry{Task::text2text_generation, make_generate},
};

}  // namespace

const LinkedFamilies linked_families = {
    .families = families, .containers = containers, .reading = nullptr, .writing = &writing_parts};

const std::span<const TaskEntry> linked_tasks = tasks;

const bool links_integers = true;
const bool links_decoders = true;
const bool links_texts = true;
const bool links_pictures = false;
const bool links_vocabulary_files = true;
const bool links_regex = true;

std::unique_ptr<TokenMixer> (*const make_recurrent_mixer)(std::size_t,
                                                          Compute) = make_recurrent_unit;

std::unique_ptr<Tokenizer> (*const read_linked_renumbered)(const FolderFile&, TokenizerSide,
                                                           const TokenizerConfig&,
                                                           std::string_view) = read_renumbered;

std::unique_ptr<Job> (*const begin_linked_explanation)(Pipeline&, const TaskInputs&,
                                                       const TaskOptions&) = nullptr;

}  // namespace glassformer
