#include <array>

#include "families/linked.hpp"
#include "layers/attention/linked_mixers.hpp"
#include "models/model.hpp"
#include "run/tape.hpp"
#include "tasks/chat/chat_template.hpp"
#include "tasks/make_pipeline.hpp"
#include "text/hub/tokenizer_files.hpp"

// The tables of a program with the models that read texts, without explanations and gradients.

namespace glassformer {

extern const Family bert, distilbert, roberta, electra, albert, mpnet, deberta, modernbert, t5;

namespace {

constexpr std::array families = {&bert,  &distilbert, &roberta,    &electra, &albert,
                                 &mpnet, &deberta,    &modernbert, &t5};
constexpr std::array tasks = {
    TaskEntry{Task::text_classification, make_classify},
    TaskEntry{Task::token_classification, make_token_classify},
    TaskEntry{Task::question_answering, make_answer},
    TaskEntry{Task::fill_mask, make_fill},
    TaskEntry{Task::feature_extraction, make_embed},
};

}  // namespace

const LinkedFamilies linked_families = {.families = families, .containers = {}, .writing = nullptr};

const std::span<const TaskEntry> linked_tasks = tasks;

std::unique_ptr<Job> (*const begin_linked_explanation)(Pipeline&, const TaskInputs&,
                                                       const TaskOptions&) = nullptr;

std::vector<NamedParameter> (*const use_linked_dictionaries)(Pipeline&, std::string_view,
                                                             std::span<const std::byte>) = nullptr;

std::string (*const render_linked_chat)(const ChatConfig&, std::string_view) = nullptr;

std::unique_ptr<Tape> (*const make_linked_tape)(Arena&) = nullptr;

std::unique_ptr<StackInput> (*const make_linked_patch_input)(const StackConfig&, Compute) = nullptr;

std::unique_ptr<TokenMixer> (*const make_recurrent_mixer)(std::size_t, Compute) = nullptr;

std::unique_ptr<Tokenizer> (*const read_linked_renumbered)(const FolderFile&, TokenizerSide,
                                                           const TokenizerConfig&,
                                                           std::string_view) = nullptr;

}  // namespace glassformer
