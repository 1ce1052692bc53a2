#include <array>

#include "families/linked.hpp"
#include "kernels/kernels.hpp"
#include "models/model.hpp"
#include "tasks/make_pipeline.hpp"
#include "tasks/train/curriculum.hpp"
#include "text/composed/pattern.hpp"
#include "text/hub/tokenizer_classes.hpp"

// The tables of a program with new models, which learn.

namespace glassformer {

namespace {

constexpr std::array tasks = {TaskEntry{Task::text_classification, make_classify}};

}  // namespace

const LinkedFamilies linked_families = {
    .families = {}, .containers = {}, .reading = &reading_parts_alone, .writing = nullptr};

const std::span<const TaskEntry> linked_tasks = tasks;

const bool links_folders = false;
const bool links_new_models = true;
const bool links_integers = false;
const bool links_decoders = false;
const bool links_texts = true;
const bool links_pictures = false;
const bool links_vocabulary_files = false;
const bool links_regex = false;

}  // namespace glassformer
