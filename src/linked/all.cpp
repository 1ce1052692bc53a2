#include <array>

#include "families/linked.hpp"
#include "kernels/kernels.hpp"
#include "models/model.hpp"
#include "tasks/explain/explain.hpp"
#include "tasks/make_pipeline.hpp"
#include "tasks/train/curriculum.hpp"
#include "text/composed/pattern.hpp"
#include "text/hub/tokenizer_classes.hpp"

// The tables of a program with every kind of model.

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

const LinkedFamilies linked_families = {.families = families,
                                        .containers = containers,
                                        .reading = &reading_parts,
                                        .writing = &writing_parts,
                                        .continues = true,
                                        .translates = true};

const std::span<const TaskEntry> linked_tasks = tasks;

const bool links_folders = true;
const bool links_new_models = true;
const bool links_integers = true;
const bool links_decoders = true;
const bool links_texts = true;
const bool links_pictures = true;
const bool links_vocabulary_files = true;
const bool links_regex = true;

std::unique_ptr<Job> (*const begin_linked_explanation)(Pipeline&, const TaskInputs&,
                                                       const TaskOptions&) = begin_explanation_job;

}  // namespace glassformer
