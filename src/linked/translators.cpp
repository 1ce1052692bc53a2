#include <array>

#include "families/linked.hpp"
#include "kernels/kernels.hpp"
#include "models/model.hpp"
#include "tasks/make_pipeline.hpp"
#include "text/composed/pattern.hpp"
#include "text/hub/tokenizer_classes.hpp"

// The tables of a program with the models that write a text from another one.

namespace glassformer {

extern const Family marian, bart, mbart, m2m_100, t5_writer, bergamot;

namespace {

constexpr std::array families = {&marian, &bart, &mbart, &m2m_100, &t5_writer};
constexpr std::array containers = {&bergamot};
constexpr std::array tasks = {
    TaskEntry{Task::translation, make_translate},
    TaskEntry{Task::text2text_generation, make_generate},
};

}  // namespace

const LinkedFamilies linked_families = {.families = families,
                                        .containers = containers,
                                        .reading = nullptr,
                                        .writing = &writing_parts,
                                        .translates = true};

const std::span<const TaskEntry> linked_tasks = tasks;

const bool links_folders = true;
const bool links_integers = true;
const bool links_decoders = true;
const bool links_texts = true;
const bool links_pictures = false;
const bool links_vocabulary_files = true;
const bool links_regex = true;

}  // namespace glassformer
