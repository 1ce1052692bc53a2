#include "tasks/explain/methods.hpp"

#include <algorithm>
#include <array>

#include "tasks/options.hpp"

namespace glassformer {
namespace {

constexpr const char* no = nullptr;

// Text, picture, translation, next token.
constexpr ExplanationMethod methods[] = {
    {.name = "rollout",
     .help = "Attention through all layers, half of each being the token's own state (Abnar and "
             "Zuidema 2020, attention rollout).",
     .options = {"", "", "beams", ""},
     .scores = true},
    {.name = "value_norms",
     .help = "Attention times the size of the vectors that it moves (Kobayashi et al. 2020).",
     .options = {"", "", no, ""},
     .scores = true},
    {.name = "value_zeroing",
     .help = "How much each token's output of a layer turns away if another token's value vector "
             "is zero, multiplied through the layers (Mohebbi et al. 2023). Needs compute f32.",
     .options = {"", "", no, no},
     .scores = true},
    {.name = "lens",
     .help =
         "What each layer would answer, if no layer followed (nostalgebraist 2020, logit lens).",
     .options = {"", "", "beams words", "words"}},
    {.name = "decoder_lens",
     .help = "The translation as decoded from each layer of the encoder (Langedijk et al. 2023).",
     .options = {no, no, "beams", no}},
    {.name = "direct_logit_attribution",
     .help = "The explained number as an exact sum of what embeddings, heads and feed-forward "
             "networks add, with the scales of norms frozen (Elhage et al. 2021).",
     .options = {"label effects", "label effects",
                 "beams sentence position prefix token against effects", "token against effects"},
     .scores = true},
    {.name = "activation_patching",
     .help = "How the answer to a text changes if a vector is replaced by that "
             "of a second text, for every layer and token (Meng et al. 2022). The answer of a "
             "model that writes is the first token in which its outputs for both texts differ.",
     .options = {"label site head on_progress", no,
                 "beams sentence prefix token against on_progress", "token against on_progress"}},
    {.name = "faithfulness",
     .help = "How the number changes as words are deleted and inserted in the order of their "
             "scores, beside random orders (Petsiuk et al. 2018).",
     .options = {"label of scores orders seed", "label of scores orders seed", no, no}},
    {.name = "edges",
     .help = "The number without some attention edges. Needs compute f32.",
     .options = {"label edges cut", "label edges cut", no, no}},
    {.name = "circuit",
     .help = "A small set of heads and edges that keeps the answer (Conmy et al. 2023). Needs "
             "compute f32.",
     .options = {"least", "least", no, no}},
    {.name = "gradient_times_input",
     .help = "The product of each token's embedding and the gradient of the explained number with "
             "respect to it (Shrikumar et al. 2017).",
     .options = {"label", "label", "beams sentence position prefix token against",
                 "beams position prefix token against"},
     .scores = true,
     .gradients = true},
    {.name = "integrated_gradients",
     .help =
         "The product of each token's embedding and the mean gradient along the straight line from "
         "a baseline, by default zeros, to the embeddings (Sundararajan et al. 2017). The line "
         "has 64 points; if the gap is larger than 2 %, it is computed again with twice as "
         "many, up to 256.",
     .options = {"label", "label", "beams sentence position prefix token against baseline_token",
                 "beams position prefix token against baseline_token"},
     .scores = true,
     .gradients = true},
    {.name = "relevance",
     .help = "Attention weights times their gradients, positive parts only, multiplied through the "
             "layers (Chefer et al. 2021). Not for linear attention.",
     .options = {"label", "label", "beams sentence position prefix token against",
                 "beams position prefix token against"},
     .scores = true,
     .gradients = true},
    {.name = "gradients",
     .help = "The gradients of the explained number with respect to tensors.",
     .options = {no, no, "beams sentence position prefix token against names patch",
                 "beams position prefix token against names patch"},
     .gradients = true},
};

bool contains(std::string_view list, std::string_view word) {
  for (std::size_t at = list.find(word); at != std::string_view::npos;
       at = list.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

template <class Is>
std::string names_of(const Is& is) {
  std::string list;
  for (const ExplanationMethod& method : methods) {
    if (is(method)) list.append(list.empty() ? "" : ", ").append(method.name);
  }
  return list;
}

}  // namespace

bool ExplanationMethod::has(Answered answer, std::string_view option) const {
  const auto index = static_cast<std::size_t>(answer);
  return options[index] &&
         (contains(options[index], option) || contains(common_options[index], option));
}

std::span<const ExplanationMethod> explanation_methods() { return methods; }

const ExplanationMethod* find_method(std::string_view name) {
  const auto found = std::ranges::find(methods, name, &ExplanationMethod::name);
  return found == std::ranges::end(methods) ? nullptr : found;
}

std::string list_score_methods() {
  return names_of([](const ExplanationMethod& method) { return method.scores; });
}

const ExplanationMethod& expect_method(const std::string& name, Answered answer, bool gradients) {
  if (name.empty()) refuse_option("method", "missing");
  const auto is = [&](const ExplanationMethod& method) {
    return method.explains(answer) && (gradients || !method.gradients);
  };
  const ExplanationMethod* const method = find_method(name);
  if (method && is(*method)) return *method;
  if (method && !method->explains(answer)) {
    constexpr std::array subjects = {"a text's label", "a picture's label", "a translation",
                                     "the next token of a model that writes"};
    refuse_option("method", {"expected one of {} for {}, got {}, which is for other tasks",
                             {names_of(is), subjects[static_cast<std::size_t>(answer)], name}});
  }
  refuse_option("method", {"expected one of {}, got {}", {names_of(is), describe(name)}});
}

}  // namespace glassformer
