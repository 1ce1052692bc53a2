#include "text/hub/languages.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.hpp"

namespace glassformer {
namespace {

// The languages by the value of "language_codes" in tokenizer_config.json, in the order of their
// ids.
constexpr std::string_view m2m_100_codes =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga "
    "gd gl gu ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt "
    "lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss "
    "su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
constexpr std::string_view wmt21_codes = "en ha is ja cs ru zh de";
// The languages of mBART (Liu et al. 2020), in the order of their ids, and those that its successor
// (Tang et al. 2020) has in addition.
constexpr std::string_view mbart_codes =
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT "
    "lv_LV my_MM ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN";
constexpr std::string_view more_mbart_codes =
    "af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF "
    "pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";

std::vector<std::string> split(std::string_view codes) {
  std::vector<std::string> list;
  while (!codes.empty()) {
    list.emplace_back(codes.substr(0, codes.find(' ')));
    codes.remove_prefix(std::min(list.back().size() + 1, codes.size()));
  }
  return list;
}

bool is_between(char c, char first, char last) { return c >= first && c <= last; }

// Returns whether a text has the shape of a code: "a" stands for a small letter, "A" for a capital
// one.
bool has_shape(std::string_view text, std::string_view shape) {
  return std::ranges::equal(text, shape, [](char c, char kind) {
    return kind == 'a'   ? is_between(c, 'a', 'z')
           : kind == 'A' ? is_between(c, 'A', 'Z')
                         : c == kind;
  });
}

// A class of multilingual tokenizers. Its languages are the special tokens of this shape. `behind`:
// the text's language stands after the end token, not before the text.
struct MultilingualClass {
  std::string_view name, shape, usual;
  bool behind;
};
constexpr std::array multilingual_classes = {
    MultilingualClass{"NllbTokenizer", "aaa_Aaaa", "eng_Latn", false},
    MultilingualClass{"MBartTokenizer", "aa_AA", "en_XX", true},
    MultilingualClass{"MBart50Tokenizer", "aa_AA", "en_XX", false},
};

}  // namespace

std::vector<Language> listed_languages(const TokenizerConfig& config, std::int32_t first) {
  const std::string list = config.text("language_codes");
  if (!list.empty() && list != "m2m100" && list != "wmt21") {
    throw_error(ErrorCode::unsupported,
                {"tokenizer_config.json: language_codes: expected m2m100 or wmt21, got {}",
                 {describe(list)}});
  }
  std::vector<Language> languages;
  for (std::string& code : split(list == "wmt21" ? wmt21_codes : m2m_100_codes)) {
    languages.push_back({std::move(code), first++});
  }
  return languages;
}

std::vector<std::string> mbart_languages(bool all) {
  std::vector<std::string> codes = split(mbart_codes);
  if (all) std::ranges::move(split(more_mbart_codes), std::back_inserter(codes));
  return codes;
}

std::string language_token(std::string_view code) {
  return std::string("__").append(code).append("__");
}

std::size_t source_language(std::span<const Language> languages, const TokenizerConfig& config,
                            std::string_view usual) {
  const std::string source = config.text("src_lang");
  for (const std::string_view code : {std::string_view(source), usual}) {
    const auto found = std::ranges::find(languages, code, &Language::code);
    if (found != languages.end()) return static_cast<std::size_t>(found - languages.begin());
  }
  return 0;
}

void add_languages(ComposedTokenizer::Parts& parts, std::string_view name,
                   const TokenizerConfig& config) {
  const auto known = std::ranges::find(multilingual_classes, name, &MultilingualClass::name);
  if (known == multilingual_classes.end()) return;
  for (const AddedToken& token : parts.added_tokens) {
    if (token.special && has_shape(token.content, known->shape)) {
      parts.languages.push_back({token.content, token.id});
    }
  }
  if (parts.languages.empty()) {
    throw_error(
        ErrorCode::invalid_tokenizer,
        {"{}: expected special tokens for languages, such as {}, got none", {name, known->usual}});
  }
  const auto end = config.special("eos_token", "</s>");
  if (!end) {
    throw_error(ErrorCode::invalid_tokenizer,
                "tokenizer_config.json: eos_token: expected a token, got null");
  }
  using enum TemplatePart::Kind;
  const std::size_t source = source_language(parts.languages, config, known->usual);
  const TemplatePart language{special, parts.languages[source].id, 0};
  const TemplatePart last{special, parts.find_required(end->content), 0};
  const bool behind = known->behind || config.boolean("legacy_behaviour").value_or(false);
  const auto around = [&](std::vector<TemplatePart> texts) {
    texts.push_back(last);
    texts.insert(behind ? texts.end() : texts.begin(), language);
    return texts;
  };
  TokenTemplate& format = parts.post_processor.around;
  format.single = around({{first_text, 0, 0}});
  format.pair = around({{first_text, 0, 0}, {second_text, 0, 0}});
}

}  // namespace glassformer
