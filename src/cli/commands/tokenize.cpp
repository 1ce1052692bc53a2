#include "tasks/tokenize/tokenize.hpp"
#include "cli/lines.hpp"

namespace glassformer {
namespace {

class TokenizeCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("MODEL_DIR", model_, "The model folder. The tokenizer's files are enough.")
        ->required();
    add_json(app, json_);
    app.add_flag("--special", options_.special_tokens,
                 "Add the special tokens, as the model expects them.");
    add_pairs(app, pairs_);
    app.add_option("--max-length", options_.max_length,
                   "The maximum number of tokens. Default: no limit.")
        ->type_name("N");
    app.add_option("--language", options_.language,
                   "The language of the texts, for a tokenizer of many languages.")
        ->type_name("CODE");
  }

  Exit run() override {
    FolderOnDisk files(model_);
    TokenizePipeline pipeline(files);
    if (!options_.language.empty()) pipeline.encode("", options_);  // rejects bad options
    return answer_with_options(pipeline,
                               {.json = json_,
                                .at_once = lines_at_once,
                                .error = ErrorLine::empty,
                                .form = pairs_ ? LineForm::pair : LineForm::text},
                               options_, line_of);
  }

 private:
  static constexpr std::size_t lines_at_once = 1024;

  static OutputLine line_of(const EncodedText& result) {
    std::string line;
    for (const std::int32_t id : result.ids) {
      if (!line.empty()) line += ' ';
      line += std::to_string(id);
    }
    return {std::move(line), false};
  }

  std::filesystem::path model_;
  bool json_ = false, pairs_ = false;
  EncodeOptions options_{.special_tokens = false};
};

}  // namespace

std::unique_ptr<Command> make_tokenize_command() { return std::make_unique<TokenizeCommand>(); }

}  // namespace glassformer
