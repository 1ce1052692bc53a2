#pragma once

#include <cstddef>
#include <cstdint>

// The functions that wasm/src/engine/engine.ts calls. binding.cpp and learning.cpp describe them.

extern "C" {

bool gf_relaxed_simd();
void* gf_alloc(std::size_t size);
void gf_free(void* pointer);

int gf_load_begin(const char* options, std::size_t size);
int gf_load_file(const char* name, std::size_t name_size, std::size_t size);
int gf_load_found(const char* name, std::size_t name_size, bool there);
int gf_load_folder();
int gf_load_header(const char* header, std::size_t size, double data_size);
int gf_load_container(const std::uint8_t* start, std::size_t size, double total);
int gf_load_config(const char* yaml, std::size_t size);
int gf_load_plan();
int gf_load_tensor(std::size_t index, const std::uint8_t* bytes, std::size_t size);
int gf_load_end();
int gf_load_random(std::uint32_t seed);
int gf_load_inspect();

int gf_weights();
int gf_weight_row(const char* name, std::size_t size, std::size_t row);
int gf_dictionaries(const char* config, std::size_t config_size, const std::byte* weights_file,
                    std::size_t size);
int gf_vocabulary();
int gf_chat(const char* request, std::size_t size);

void gf_cancel();
int gf_texts(const char* bytes, const std::uint32_t* lengths, std::size_t count);
int gf_pictures(const std::uint8_t* bytes, const std::uint32_t* sizes, std::size_t count);
int gf_begin(const char* options, std::size_t size, const float* values, std::size_t count);
int gf_explain(const char* options, std::size_t size, const float* values, std::size_t count);
bool gf_gradients();
int gf_step();
int gf_end();
const char* gf_result();
std::size_t gf_result_size();
const float* gf_tensor(std::size_t index);
std::size_t gf_tensor_size(std::size_t index);
int gf_set_threads(std::size_t threads);

int gf_learn_begin(const char* config, std::size_t config_size, const char* data,
                   std::size_t data_size, const char* options, std::size_t options_size);
int gf_learn_step(double progress);
int gf_learn_evaluate(const char* data, std::size_t size);
int gf_learn_save();
const char* gf_learn_file(std::size_t index);

}  // extern "C"
