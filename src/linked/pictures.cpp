#include <array>

#include "families/linked.hpp"
#include "kernels/kernels.hpp"
#include "models/model.hpp"
#include "tasks/make_pipeline.hpp"
#include "tasks/train/curriculum.hpp"
#include "text/composed/pattern.hpp"
#include "text/hub/tokenizer_classes.hpp"

// The tables of a program that reads pictures and learns from them.

namespace glassformer {

extern const Family vit, deit;

namespace {

constexpr std::array families = {&vit, &deit};
constexpr std::array tasks = {TaskEntry{Task::image_classification, make_image}};

}  // namespace

const LinkedFamilies linked_families = {
    .families = families, .containers = {}, .reading = &reading_parts_alone, .writing = nullptr};

const std::span<const TaskEntry> linked_tasks = tasks;

const bool links_folders = true;
const bool links_new_models = true;
const bool links_integers = true;
const bool links_decoders = false;
const bool links_texts = false;
const bool links_pictures = true;
const bool links_vocabulary_files = false;
const bool links_regex = false;

}  // namespace glassformer
