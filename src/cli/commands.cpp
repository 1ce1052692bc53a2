#include "cli/commands.hpp"

namespace glassformer {

// Each is defined beside its command, in cli/commands.
std::unique_ptr<Command> make_classify_command(), make_translate_command(), make_ner_command(),
    make_answer_command(), make_fill_command(), make_embed_command(), make_generate_command(),
    make_summarize_command(), make_chat_command(), make_image_command(), make_trace_command(),
    make_explain_command(), make_steer_command(), make_tokenize_command(), make_inspect_command(),
    make_bench_command(), make_init_command(), make_train_command(), make_convert_command(),
    make_quantize_command();

namespace {

constexpr CommandEntry commands[] = {
    {"classify", "classify each line of standard input", make_classify_command},
    {"translate", "translate each line of standard input", make_translate_command},
    {"ner", "the names in each line: of people, places and the like", make_ner_command},
    {"answer", "answer each line, a question and a context with a tab between them",
     make_answer_command},
    {"fill", "the tokens that may stand at the masks of each line", make_fill_command},
    {"embed", "a vector of each line", make_embed_command},
    {"generate", "continue, or answer, each line of standard input", make_generate_command},
    {"summarize", "summarize each line of standard input", make_summarize_command},
    {"chat", "talk with a model: each line is a message", make_chat_command},
    {"image", "classify pictures", make_image_command},
    {"trace", "tensors between text and answer, to a safetensors file", make_trace_command},
    {"explain", "why a model answers each line as it does", make_explain_command},
    {"steer", "the direction between two lists of texts, to steer a model with",
     make_steer_command},
    {"tokenize", "token ids of each line, unclipped", make_tokenize_command},
    {"inspect", "configuration, tensors and parameters of a model", make_inspect_command},
    {"bench", "median time from text to answer", make_bench_command},
    {"init", "a model with random Xavier-uniform weights", make_init_command},
    {"train", "a new model, or one that learns further, from a file of examples",
     make_train_command},
    {"convert", "a published checkpoint as a model folder of ours", make_convert_command},
    {"quantize", "a model's matrices as 8-bit or 4-bit integers", make_quantize_command},
};

}  // namespace

std::span<const CommandEntry> all_commands() { return commands; }

}  // namespace glassformer
