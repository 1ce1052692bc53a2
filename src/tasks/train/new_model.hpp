#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "families/config/model_config.hpp"
#include "models/model.hpp"
#include "tasks/train/picture_data.hpp"
#include "tasks/train/training_options.hpp"

namespace glassformer {

/// Adds the fields that a config.json lacks: those of a small Transformer (4 layers of 8 heads,
/// width 128; an encoder and a decoder for translation) and, for a classifier, the labels. `text`
/// must be a JSON object. Throws `invalid_config`.
std::string complete_config(std::string_view text, Lessons lessons,
                            const std::vector<std::string>& labels, std::size_t vocab_size);

/// Does the same for a classifier of pictures: those of a small Vision Transformer with patches of
/// a seventh of the picture's height and width, and the data's size.
std::string complete_config(std::string_view text, const PictureData& data,
                            const std::vector<std::string>& labels);

/// Returns the task that a config.json names, or text_classification. Throws `invalid_config`.
Task task_of_config(std::string_view text);

/// Returns the configuration of the encoder alone, for vectors of texts.
ModelConfig without_head(ModelConfig config);

/// Returns the configuration of a classifier of texts or of tokens with these labels, on the
/// encoder of another model. Throws `wrong_task` for a model without an encoder.
ModelConfig with_labels(ModelConfig config, const std::vector<std::string>& labels, HeadKind kind);

/// Sets every parameter of `to` that `from` has with the same name and shape, and the others to
/// initial values. Returns the names of the others.
std::vector<std::string> copy_parameters(const Model& from, const Model& to, std::uint64_t seed);

}  // namespace glassformer
