#!/usr/bin/python3
"""Writes patterns.json: the places at which the original library splits texts with regular expressions.

It needs the package python3-tokenizers (0.23.1) of Debian sid. The file has the texts and, per pattern, a
list per text: the end of each piece in characters, negative for a piece that did not match.
"""

import json
import pathlib

from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

HERE = pathlib.Path(__file__).parent

# Patterns in tokenizer.json files of published models, by a model that has them.
PUBLISHED = {
    "Llama 3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
               r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    "Qwen 3.5": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
                r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "GPT-4o": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
              r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
              r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}"
              r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "GPT-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "GPT-4": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
             r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "CLIP": r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    "DeepSeek V3, digits": r"\p{N}{1,3}",
    "DeepSeek V3, CJK": "[一-龥\u3040-ゟ゠-ヿ]+",
    "DeepSeek V3": "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
                   "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
    "DeepSeek V2": r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    "DeepSeek V2, end": r"\s+$",
    "BLOOM": " ?[^(\\s|[.,!?…。，、।۔،])]+",
    "Kimi K2": r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
               r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}"
               r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "EXAONE": r"[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s+",
    "Jais 2": r"\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}",
    "Command A": r"\d{1,3}(?=(?:\d{3})*\b)",
    "SuperBPE": r"(?=(\d{3})+(?!\d))",
    "Trinity": r"\p{Nd}{1,5}(?=(?>\p{Nd}{5})*(?:\P{Nd}|$))|\G\p{Nd}{5}",
    "Trinity, first": r"\A\p{Nd}{1,2}(?=\p{Nd}{3}+\z)",
    "Trinity, rest": r"\A\p{Nd}{3}|\G\p{Nd}{3}",
    "SmolLM": r" (?!\h?\p{N})\h?(?:\p{L}\p{M}*)+|\p{N}| ?[^\s\p{L}\p{N}\p{M}]+[\r\n]*|\s+",
    "Laguna": r"(?:\r?\n)+(?!\r?\n)",
    "French": r"(?i: ?(?:[jtmslndcy]['’]|qu['’]|aujourd['’]hui)|['’][stmd]|['’][rv]e|['’]ll)| ?\p{L}+",
    "Bengali": r"(?<=[\u0980-\u09ff]):",
    "spaces at the start": r"(?<!\n)^ ",
    "XLNet": " {2,}",
    "white space": r"\s+",
    "Chameleon": r"([\t\n]|    |  )",
    "characters": "",
}
# A pattern for each part of the pattern language.
LANGUAGE = [
    r"^", r"$", r"^|$", r".$", r"\A.", r".\z", r"\b", r"\b\w|\w\b", r"\G\p{L}",
    r".", r"\O", r"\d+", r"\D+", r"\h+", r"\s", r"\S+", r"\w+", r"\W+", r"[\w]+", r"[^\w\s]+",
    r"\p{L}+", r"\P{L}+", r"\p{^L}+", r"\P{^L}+", r"\p{lu}", *(rf"\p{{{name}}}" for name in (
        "Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cn "
        "Han").split()),
    r"[a-f]+", r"[^a-z]+", r"[]a]", r"[^]a]", r"[a-]", r"[-a]", r"[a-c-e]", r"[a[b-d]]", r"[a-e&&[^b]c]",
    r"[^a-e&&\w]", r"[&]", r"[\]\\\-\^]", r"[\b]", r"\x41|\x{1F600}|\u00e9", r"\.|\-|\ |\/", r"a{|}",
    r"a|ab|abc", r"abc|ab|a", r"a|", r"|a", r"(a|ab)(c|bcd)?", r"(?i)TRA|k", r"a(?i)b|c", r"(?i:a(?-i)b)",
    r"(?i:[sk])", r"(?i:[^s])", r"(?i:'S)", r"(?-i:A)",
    r"\w*", r"\w+?", r"\w??", r"\w*?\d", r"\w{2}", r"\w{2}?", r"\w{2,}", r"\w{2,}?", r"\w{,2}", r"\w{1,2}?",
    r"\w{2}{2}", r"\w{1,2}+", r"\w++\d", r"\w*+\w", r"\w?+\w", r"(?:ab|a)+", r"(?:ab|a)+?c", r"(ab?)*c",
    r"(?:a?)*c", r"(?:a?)+c", r"(?:|a)*", r"(?:a|)*b", r"(?:a*?)*b", r"(?:a??)*", r"(?:(?:a|b)*c?)*d",
    r"(?:\s|(?:a|))*c", r"(?>\w\d)\w", r"(?>ab)+", r"a(?=b)", r"a(?!b)", r"(?=a)\w\w", r"(?!a)\w",
    r"(?<=a)b", r"(?<!a)b", r"(?<=ab)c", r"(?<=a|b)c", r"(?<![ab]\d)\w", r"(?=(?:ab)*c)\w", r"(?!\w*\d)\w+",
    r"(?=.*\d)\w",
]
TEXTS = [
    "I'm YOU'RE we'Ve they'LL 'ſ \u212aelvin's ’tis 'Tis", "a\r\nb\r\n\r\nc\n\n\nd\re \n  \n", "   x  y z   ",
    "\t\t  \n\t x\u00a0\u3000y\u0085z\u2028", "1 12 123 1234 1234567 12,345.678 x9y", "1234567890", "٣٤٥ २३ ½² Ⅷⅻ ①𝟙五",
    "HTTPServer camelCase iPhone McDonald's ÀÉîõüßẞ ǅ ʰaª", "e\u0301cole \u0301n\u0303 अनुच्छेद বাংলা: ก็",
    "中文English混合123。「カタカナ」 々〆〇한국어ㄱ", "👨‍👩‍👧 👍🏽 🇺🇸 ❤️ #️⃣", "\x00\x1b[31m\x7f\xad\u200b\ue000\u0378",
    "def f(x):\n    return x**2  # a_b-c\n\tif x>=3 and y!=4:", "https://a.b/c?d=1&e=[2]{3}\\n #tag @me $5 €6 ^~`|<>",
    "abcabcab ab aab c bcd abd a1b2 ab12cd", "aaaab aaac", "stra STRA ks KS ſk ]a-\\^&{}", "j’aime QU’IL aujourd’hui",
]


def pieces(pattern, text):
    if not text:
        return []
    cut = [span for _, span in Split(Regex(pattern), "isolated").pre_tokenize_str(text)]
    matched = {span for _, span in Split(Regex(pattern), "removed", invert=True).pre_tokenize_str(text)}
    return [end if (begin, end) in matched else -end for begin, end in cut]


def main():
    patterns = [*PUBLISHED.values(), *LANGUAGE]
    lines = ",\n".join(json.dumps([pattern, [pieces(pattern, text) for text in TEXTS]], separators=(",", ":"))
                       for pattern in patterns)
    (HERE / "patterns.json").write_text(f'{{"texts":{json.dumps(TEXTS)},\n"patterns":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
