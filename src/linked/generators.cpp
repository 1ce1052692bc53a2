#include <array>

#include "families/linked.hpp"
#include "kernels/kernels.hpp"
#include "models/model.hpp"
#include "tasks/make_pipeline.hpp"
#include "text/composed/pattern.hpp"
#include "text/hub/tokenizer_classes.hpp"

// The tables of a program with the models that continue texts.

namespace glassformer {

extern const Family gpt2, llama, phi3, gemma, gpt_neox;

namespace {

constexpr std::array families = {&gpt2, &llama, &phi3, &gemma, &gpt_neox};
constexpr std::array tasks = {TaskEntry{Task::text_generation, make_generate}};

}  // namespace

const LinkedFamilies linked_families = {.families = families,
                                        .containers = {},
                                        .reading = nullptr,
                                        .writing = &writing_parts,
                                        .continues = true};

const std::span<const TaskEntry> linked_tasks = tasks;

const bool links_folders = true;
const bool links_integers = true;
const bool links_decoders = true;
const bool links_texts = true;
const bool links_pictures = false;
const bool links_vocabulary_files = true;
const bool links_regex = true;

}  // namespace glassformer
