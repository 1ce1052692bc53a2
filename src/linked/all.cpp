#include <array>

#include "families/linked.hpp"
#include "layers/attention/linked_mixers.hpp"
#include "models/model.hpp"
#include "run/tape.hpp"
#include "tasks/chat/chat_template.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/make_pipeline.hpp"
#include "text/hub/tokenizer_files.hpp"

// The tables of a program with everything but training.

namespace glassformer {

extern const Family bert, distilbert, roberta, electra, albert, mpnet, deberta, modernbert, vit,
    deit, clip, clip_text, gpt2, llama, phi3, gemma, gpt_neox, marian, bart, mbart, m2m_100, t5,
    bergamot;

namespace {

constexpr std::array families = {&bert,    &distilbert, &roberta, &electra, &albert,   &mpnet,
                                 &deberta, &modernbert, &vit,     &deit,    &clip,     &clip_text,
                                 &gpt2,    &llama,      &phi3,    &gemma,   &gpt_neox, &marian,
                                 &bart,    &mbart,      &m2m_100, &t5};
constexpr std::array containers = {&bergamot};
constexpr std::array tasks = {
    TaskEntry{Task::text_classification, make_classify},
    TaskEntry{Task::token_classification, make_token_classify},
    TaskEntry{Task::question_answering, make_answer},
    TaskEntry{Task::fill_mask, make_fill},
    TaskEntry{Task::feature_extraction, make_embed},
    TaskEntry{Task::translation, make_translate},
    TaskEntry{Task::text_generation, make_generate},
    TaskEntry{Task::text2text_generation, make_generate},
    TaskEntry{Task::image_classification, make_image},
    TaskEntry{Task::zero_shot_image_classification, make_match},
};

}  // namespace

const LinkedFamilies linked_families = {
    .families = families, .containers = containers, .writing = &writing_parts};

const std::span<const TaskEntry> linked_tasks = tasks;

std::unique_ptr<Job> (*const begin_linked_explanation)(Pipeline&, const TaskInputs&,
                                                       const TaskOptions&) = begin_explanation_job;

std::vector<NamedParameter> (*const use_linked_dictionaries)(
    Pipeline&, std::string_view, std::span<const std::byte>) = use_dictionaries;

std::string (*const render_linked_chat)(const ChatConfig&, std::string_view) = render_chat;

std::unique_ptr<Tape> (*const make_linked_tape)(Arena&) = make_tape;

std::unique_ptr<StackInput> (*const make_linked_patch_input)(const StackConfig&,
                                                             Compute) = make_patch_input;

std::unique_ptr<TokenMixer> (*const make_recurrent_mixer)(std::size_t,
                                                          Compute) = make_recurrent_unit;

std::unique_ptr<Tokenizer> (*const read_linked_renumbered)(const FolderFile&, TokenizerSide,
                                                           const TokenizerConfig&,
                                                           std::string_view) = read_renumbered;

}  // namespace glassformer
