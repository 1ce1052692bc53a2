#include <algorithm>
#include <array>
#include <vector>

#include "base/error.hpp"
#include "base/json/json_writer.hpp"
#include "families/folder/model_folder.hpp"

// Firefox's translators (Bogoychev et al. 2021, "TranslateLocally"; Kim et al. 2019): small student
// models trained with Marian. The decoder layers have a recurrent unit instead of self-attention.
// The weights are 8-bit integers in a container format of their own.

namespace glassformer {
namespace {
namespace bergamot_parts {

constexpr std::int32_t end_id = 0;  // in both vocabularies

constexpr std::string_view cure =
    "; only the translators that Firefox has open as they are, larger models of Marian once they "
    "are converted for the library transformers (convert_marian_to_pytorch)";

struct Field {
  const char* key;
  std::string_view value;
};
// The only supported values of these known_fields. They are also the defaults for missing
// known_fields.
constexpr std::array known_fields = {
    Field{"type", "transformer"},
    Field{"transformer-decoder-autoreg", "rnn"},
    Field{"dec-cell", "ssru"},
    Field{"transformer-preprocess", ""},
    Field{"transformer-postprocess", "dan"},
    Field{"transformer-postprocess-top", ""},
    Field{"transformer-postprocess-emb", "d"},
    Field{"transformer-ffn-activation", "relu"},
    Field{"transformer-no-projection", "false"},
    Field{"transformer-rnn-projection", "false"},
    Field{"transformer-train-position-embeddings", "false"},
    Field{"output-omit-bias", "false"},
    Field{"right-left", "false"},
    Field{"ulr", "false"},
};

constexpr std::array tensors = {
    TensorName{"Wemb", "embed_tokens.weight"},
    TensorName{"encoder_Wemb", "encoder.embed_tokens.weight"},
    TensorName{"decoder_Wemb", "decoder.embed_tokens.weight"},
    TensorName{"encoder_l#_self_%q", "encoder.layers.#.self_attn.q_proj", TensorLayout::transposed},
    TensorName{"encoder_l#_self_%k", "encoder.layers.#.self_attn.k_proj", TensorLayout::transposed},
    TensorName{"encoder_l#_self_%v", "encoder.layers.#.self_attn.v_proj", TensorLayout::transposed},
    TensorName{"encoder_l#_self_%o", "encoder.layers.#.self_attn.out_proj",
               TensorLayout::transposed},
    TensorName{"encoder_l#_self_Wo_ln_", "encoder.layers.#.self_attn_layer_norm"},
    TensorName{"encoder_l#_ffn_%1", "encoder.layers.#.fc1", TensorLayout::transposed},
    TensorName{"encoder_l#_ffn_%2", "encoder.layers.#.fc2", TensorLayout::transposed},
    TensorName{"encoder_l#_ffn_ffn_ln_", "encoder.layers.#.final_layer_norm"},
    TensorName{"decoder_l#_rnn_W", "decoder.layers.#.self_attn.candidate_proj.weight",
               TensorLayout::transposed},
    TensorName{"decoder_l#_rnn_%f", "decoder.layers.#.self_attn.gate_proj",
               TensorLayout::transposed},
    TensorName{"decoder_l#_rnn_ffn_ln_", "decoder.layers.#.self_attn_layer_norm"},
    TensorName{"decoder_l#_context_%q", "decoder.layers.#.encoder_attn.q_proj",
               TensorLayout::transposed},
    TensorName{"decoder_l#_context_%k", "decoder.layers.#.encoder_attn.k_proj",
               TensorLayout::transposed},
    TensorName{"decoder_l#_context_%v", "decoder.layers.#.encoder_attn.v_proj",
               TensorLayout::transposed},
    TensorName{"decoder_l#_context_%o", "decoder.layers.#.encoder_attn.out_proj",
               TensorLayout::transposed},
    TensorName{"decoder_l#_context_Wo_ln_", "decoder.layers.#.encoder_attn_layer_norm"},
    TensorName{"decoder_l#_ffn_%1", "decoder.layers.#.fc1", TensorLayout::transposed},
    TensorName{"decoder_l#_ffn_%2", "decoder.layers.#.fc2", TensorLayout::transposed},
    TensorName{"decoder_l#_ffn_ffn_ln_", "decoder.layers.#.final_layer_norm"},
    TensorName{"decoder_ff_logit_out_b", "lm_head.bias"},
};

[[noreturn]] void refuse(std::string_view what, const Message& expected, const Message& got) {
  throw_error(ErrorCode::unsupported,
              {"special:model.yml: {}: expected {}, got {}{}", {what, expected, got, cure}});
}

constexpr std::array encoder_keys = {
    ConfigKey{"dim-vocabs.0", "vocab_size", "32000"},
    ConfigKey{"enc-depth", "layers", "6"},
    ConfigKey{"dim-emb", "d_model", "512"},
    ConfigKey{"transformer-heads", "n_heads", "8"},
    ConfigKey{"transformer-dim-ffn", "d_ff", "2048"},
};
constexpr std::array decoder_keys = {
    ConfigKey{"dim-vocabs.1", "vocab_size", "32000"},
    ConfigKey{"dec-depth", "layers", "6"},
    ConfigKey{"dim-emb", "d_model", "512"},
    ConfigKey{"transformer-heads", "n_heads", "8"},
    ConfigKey{"transformer-dim-ffn", "d_ff", "2048"},
};

StackConfig usual_stack(Mixer mixer, std::size_t max_length) {
  LayerConfig layer;
  layer.mixer = mixer;
  layer.norm = NormPlacement::post;
  layer.attention.bias = layer.attention.out_bias = true;
  StackConfig stack;
  stack.tokens().scale_embedding = true;
  stack.tokens().positions = PositionKind::sinusoidal_endpoint;
  stack.max_length = max_length;
  stack.layer_norm.eps = 1e-6f;
  stack.layers = {layer};
  return stack;
}

ModelConfig read(HubConfig& config) {
  for (const auto& [key, value] : known_fields) {
    const std::string got = config.text(key, value);
    if (got != value) refuse(key, describe(value), describe(got));
  }
  if (const auto depth = config.free_size("transformer-ffn-depth", 2); depth != 2) {
    refuse("transformer-ffn-depth", "2", std::to_string(depth));
  }
  for (const char* key : {"factors-dim-emb", "lemma-dim-emb"}) {
    if (config.id(key, 0) != 0) refuse(key, "0", "factors");
  }
  if (config.id("transformer-tied-layers.0", 0) != 0) {
    refuse("transformer-tied-layers", "none", "some");
  }
  for (const char* untied : {"decoder_ff_logit_out_W", "decoder_ff_logit_out_Wt"}) {
    if (config.has_tensor(untied)) refuse("tied-embeddings", "true", describe(untied));
  }
  const bool shared = config.has_tensor("Wemb");
  ModelConfig model;
  model.task = Task::translation;
  model.end_token = config.piece("end", end_id);
  model.start_token = model.end_token;  // which is read as zeros
  model.suffix_tokens = {model.end_token};
  model.generation = {.max_length_factor = 2.0f,
                      .beams = 1,
                      .length_penalty = 1.0f,
                      .early_stopping = EarlyStopping::yes,
                      .never = {{config.unk_id()}}};
  Architecture& parts = model.architecture;
  constexpr std::size_t longest = 128;  // as in Firefox: 127 pieces and the end token
  StackConfig& encoder = parts.encoder.emplace(usual_stack(Mixer::full, longest));
  config.read(encoder, {.keys = encoder_keys, .layer_tensors = "encoder_l"});
  StackConfig& decoder = parts.decoder.emplace(usual_stack(Mixer::recurrent, 2 * longest));
  decoder.tokens().zero_start = true;
  config.read(decoder, {.keys = decoder_keys, .layer_tensors = "decoder_l"});
  if (shared) decoder.tokens().vocab_size = encoder.vocab_size();
  if (const auto d_ff = config.id("transformer-decoder-dim-ffn", 0)) {
    for (LayerConfig& layer : decoder.layers) layer.feed_forward.d_ff = d_ff;
  }
  parts.embeddings = shared ? EmbeddingSharing::shared : EmbeddingSharing::tied;
  parts.head = {.kind = HeadKind::next_token, .outputs = decoder.vocab_size()};
  config.finish(model);
  if (parts.encoder->d_model % 2 != 0) refuse("dim-emb", "an even number", "an odd one");
  return model;
}

// Returns the only file with this prefix and suffix, or an empty string.
std::string find_one(const std::vector<std::string>& names, std::string_view begin,
                     std::string_view end) {
  std::string found;
  for (const std::string& name : names) {
    if (!name.starts_with(begin) || !name.ends_with(end)) continue;
    if (!found.empty()) {
      throw_error(ErrorCode::unsupported,
                  {"{}: expected one model in a folder, got {} as well; give each its own folder",
                   {found, name}});
    }
    found = name;
  }
  return found;
}

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string_view::npos &&
         (text.size() == 1 || text[0] != '0');
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

void write_scalar(JsonWriter& json, const std::string& key, std::string_view value) {
  if (is_whole_number(value)) {
    json.key(key);
    json.raw(value);
    return;
  }
  const bool quoted =
      value.size() > 1 && value[0] == value.back() && (value[0] == '"' || value[0] == '\'');
  json.field(key, quoted ? value.substr(1, value.size() - 2) : value);
}

// Converts "key: value" lines to JSON. Items of lists become known_fields "KEY.0".
std::string config_json(std::string_view yaml) {
  yaml = yaml.substr(0, yaml.find('\0'));
  JsonWriter json;
  json.object([&] {
    std::string key;  // of the list that the next lines may continue
    std::size_t items = 0;
    const auto add = [&](std::string_view item) {
      write_scalar(json, key + "." + std::to_string(items++), trimmed(item));
    };
    while (!yaml.empty()) {
      const std::size_t end = std::min(yaml.find('\n'), yaml.size());
      std::string_view line = yaml.substr(0, end);
      yaml.remove_prefix(std::min(end + 1, yaml.size()));
      std::string_view value = trimmed(line);
      if (value.empty() || value[0] == '#') continue;
      if (line[0] != ' ' && line[0] != '-') {
        const std::size_t colon = value.find(':');
        if (colon == std::string_view::npos || colon == 0) {
          throw_error(ErrorCode::invalid_config,
                      {"special:model.yml: expected \"key: value\", got {}", {describe(line)}});
        }
        key = value.substr(0, colon);
        items = 0;
        value = trimmed(value.substr(colon + 1));
        if (!value.empty() && value[0] != '[') write_scalar(json, key, value);
      }
      if (value.starts_with("- ")) add(value.substr(2));
      if (!value.starts_with('[')) continue;
      value = value.substr(1, value.find(']') - 1);
      while (!value.empty()) {
        const std::size_t comma = std::min(value.find(','), value.size());
        add(value.substr(0, comma));
        value.remove_prefix(std::min(comma + 1, value.size()));
      }
    }
  });
  return json.take();
}

std::optional<FolderFiles> find_files(ModelFiles& files) {
  const std::vector<std::string> names = files.names();
  if (std::ranges::find(names, "config.json") != names.end()) return std::nullopt;
  for (const char* packed : {".bin.gz", ".bin.zst"}) {
    if (const std::string name = find_one(names, "model.", packed); !name.empty()) {
      throw_error(ErrorCode::unsupported,
                  {"{}: expected an unpacked file; unpack it and its vocabulary with gunzip or "
                   "unzstd first",
                   {name}});
    }
  }
  FolderFiles found;
  found.weights = find_one(names, "model.", ".bin");
  if (found.weights.empty()) return std::nullopt;
  found.source = find_one(names, "vocab.", ".spm");
  if (found.source.empty()) {
    found.source = find_one(names, "srcvocab.", ".spm");
    found.target = find_one(names, "trgvocab.", ".spm");
    if (found.source.empty() || found.target.empty()) {
      throw_error(ErrorCode::missing_file,
                  {"vocab.LANGUAGES.spm: expected it, or srcvocab and trgvocab, with {}, got none",
                   {found.weights}});
    }
  }
  found.shortlist = find_one(names, "lex.", ".bin");
  // "model.ende.intgemm.alphas.bin"
  const std::size_t begin = std::string_view("model.").size();
  const std::string languages = found.weights.substr(begin, found.weights.find('.', begin) - begin);
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  if (languages.size() == 4 && std::ranges::all_of(languages, is_letter)) {
    found.source_language = languages.substr(0, 2);
    found.target_language = languages.substr(2);
  }
  return found;
}

constexpr ContainerFormat format = {find_files, config_json, "special:model.yml", end_id};

}  // namespace bergamot_parts
}  // namespace

extern const Family bergamot = {.model_types = {},
                                .prefix = "",
                                .tensors = bergamot_parts::tensors,
                                .heads = {},
                                .read = bergamot_parts::read,
                                .container = &bergamot_parts::format,
                                .first_layer = 1,
                                .writes = true};

}  // namespace glassformer
