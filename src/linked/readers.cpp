#include <array>

#include "families/linked.hpp"
#include "kernels/kernels.hpp"
#include "models/model.hpp"
#include "tasks/make_pipeline.hpp"
#include "text/composed/pattern.hpp"
#include "text/hub/tokenizer_classes.hpp"

// The tables of a program with the models that read texts.

namespace glassformer {

extern const Family bert, distilbert, roberta, electra, albert, mpnet, deberta, modernbert,
    t5_reader;

namespace {

constexpr std::array families = {&bert,  &distilbert, &roberta,    &electra,  &albert,
                                 &mpnet, &deberta,    &modernbert, &t5_reader};
constexpr std::array tasks = {
    TaskEntry{Task::text_classification, make_classify},
    TaskEntry{Task::token_classification, make_token_classify},
    TaskEntry{Task::question_answering, make_answer},
    TaskEntry{Task::fill_mask, make_fill},
    TaskEntry{Task::feature_extraction, make_embed},
};

}  // namespace

const LinkedFamilies linked_families = {
    .families = families, .containers = {}, .reading = &reading_parts, .writing = nullptr};

const std::span<const TaskEntry> linked_tasks = tasks;

const bool links_folders = true;
const bool links_integers = true;
const bool links_decoders = false;
const bool links_texts = true;
const bool links_pictures = false;
const bool links_vocabulary_files = true;
const bool links_regex = true;

}  // namespace glassformer
