#!/usr/bin/python3
"""Writes adversarial.txt: 300 lines that are difficult for tokenizers. Each is one text without a newline.

Random characters are in Unicode 8, because some parts of the original library are that old, or are not
assigned at all. It needs Debian's package unicode-data (17.0.0).
"""

import pathlib
import random

HERE = pathlib.Path(__file__).parent

FIXED = [
    "", " ", "  ", "\t", " \t ", "a", " a", "a ", "  a  ", ".", "...", "-", "--", "'", "''", "\u0085", "a\u0085b",
    "Hello, world!", "The quick brown fox jumps over the lazy dog.", "don't can't I'm we've they'll he'd it's you're",
    "DON'T CAN'T I'M WE'VE", "don’t can’t", "'s 't 're 've 'm 'll 'd 'S", "x's's'ts're", "ΟΔΥΣΣΕΥΣ", "ὈΔΥΣΣΕΎΣ Σ ΑΣ",
    "İstanbul ISPARTA ıI", "Straße STRASSE ẞ", "ǅ ǈ ǋ ǲ", "ŉ ǰ ΐ ΰ և", "Å Å Å", "é e\u0301 E\u0301 É",
    "a\u0300\u0301", "a\u0301\u0300", "a\u0323\u0307", "a\u0307\u0323", "q\u0307\u0323q\u0323\u0307", "\u0301a", "\u0301",
    "o\u0302\u0301 ố ố", "Việt Nam tiếng Việt", "ñandú ñandú", "한국어 한국어", "각 각 각", "ᄀ ᅡ ᆨ",
    "日本語のテキスト", "中文字符测试", "你好,世界!", "漢字かな交じり文。", "ｶﾀｶﾅ ﾊﾟ ｶﾞ", "ＡＢＣ　１２３", "𠀀𠀁𪜀", "a𠮷b",
    "\U0002b820\U0002b91f\U0002b920\U0002ceaf\U0002ceb0", "\U00030000\U0003134a\U000323af", "㐀䶿一鿿豈\U0002f800",
    "😀", "😀😃😄", "a😀b", "👍🏽", "👨‍👩‍👧‍👦", "🇫🇷🇩🇪🇫", "❤️ ❤︎ ❤", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "1️⃣ #️⃣",
    "™ ® ©", "ﬁ ﬂ ﬀ ﬃ ﬅ", "½ ¼ ¾ ⅓", "x² + y³ = z₁", "①②③ ⑴ ⒈", "Ⅷ ⅷ", "㎏ ㏒ ㍿", "ℌ ℕ ℤ", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟘𝟙𝟚", "…‥․",
    "Ωm Ω K K", "‐‑‒–—―", "«a» ‹b› „c“ ‚d‘", "¡hola! ¿qué?", "a\u00a0b", "a\u2009b\u202fc\u3000d", "a\u1680b\u2028c\u2029d",
    "a\u180eb", "a\u200bb\u200cc\u200dd\u2060e\ufefff", "\ufeffa", "a\u00adb", "a\x00b", "a\x01\x02b", "a\x7fb", "a\x1bb", "\x0b\x0c",
    "a\x0bb\x0cc\rd", "a\x1cb\x1dc\x1ed\x1fe", "\ufffd", "a\ufffdb", "\ufffe\uffff", "\ue000\uf8ff", "\U000f0000\U0010fffd",
    "\u0378\u0379", "a\u0378b", "\u0530\u1fff\ua7ff", "\U0001fbff\U0001f8ff", "\U000e0001\U000e0100", "\u2fe0\u2fff",
    "\u061c\u200e\u200f\u202a\u202e\u2066\u2069", "שלום עולם", "שָׁלוֹם", "مرحبا بالعالم", "مُحَمَّد", "ﷺ ﷽ ﺍﻟﻠﻪ",
    "हिन्दी क्षत्रिय", "क् ष क्ष ज्ञ", "বাংলা ভাষা", "தமிழ் மொழி", "ไทย ภาษาไทย น้ำ ำ", "ລາວ ນໍ້າ", "မြန်မာ", "ខ្មែរ", "བོད་ཡིག", "አማርኛ",
    "Русский язык", "ёлка ЁЛКА й й", "Ελληνικά ά ά", "Հայերեն", "ქართული ᲥᲐᲠᲗᲣᲚᲘ", "ᏣᎳᎩ ꭰꭱ", "𐐀𐐨 𐓀𐓨", "𞤀𞤢", "Ꭓ ꭓ Ꞗ",
    "٠١٢٣ ०१२३ ৪", "12345 67890", "1,234.56", "3.14159", "1e-10", "100%", "$5.00 €5 £5 ¥5 ₿", "2024-01-31T12:00:00Z",
    "a_b __init__ snake_case", "camelCaseWord", "C++ C# .NET", "user@example.com", "https://example.com/a?b=c&d=e#f", "#hash @user",
    "<html><body>x</body></html>", "{\"a\": [1, 2, null]}", "if (x <= y && z != 0) { return; }", "\\ / | ~ ` ^ * + = < > ( ) [ ] { }",
    "a\\nb", "¬ ± × ÷ ∑ ∏ √ ∞ ≈ ≠ ≤", "← ↑ → ↓ ⇒ ⇔", "▁ ▁a a▁b ▁▁", "a ▁ b", "## ##a a##b #a", "Ġ Ġa aĠb Ċ", "<0x41> <0xFF>", "@@ a@@",
    "[CLS]", "[SEP]", "[MASK]", "[PAD] [UNK]", "a[CLS]b", "[CLS] a [SEP]", "[mask] [Mask]", "x [MASK] y", "[ MASK ]", "[MASK][MASK]", "[[MASK]]",
    "<s>", "</s>", "<pad>", "<unk>", "<mask>", "a<mask>b", "a <mask> b", "a  <mask>  b", "<mask> <mask>", "<s>a</s>", "</s></s>", "<S> </S>",
    "<|endoftext|>", "a<|endoftext|>b", "<|endoftext|> x", "<extra_id_0>", "a<extra_id_1>b", "a <extra_id_99> b", "<extra_id_100>", "< extra_id_0>",
    ">>fr<< Hello", " >>fr<< Hello", ">>fr<<", ">>xx<<>>yy<< a", "a >>fr<< b", ">>fr Hello", "</s>>>fr<< a", "\u3000a\u3000", "a\u3000</s>\u3000b",
    "a" * 99, "a" * 100, "a" * 101, "b" * 200, "é" * 100, "e\u0301" * 60, "日" * 101, "😀" * 101, "x" * 300, "ab" * 150, "." * 150, "!?" * 60, "1" * 120,
    "_" * 110, "antidisestablishmentarianism" * 8, "Donaudampfschifffahrtsgesellschaftskapitän", "pneumonoultramicroscopicsilicovolcanoconiosis",
    "a " * 50, " " * 40 + "a", "a" + " " * 40, "a\tb\t\tc", "word\u0301 wo\u0301rd", "\u0338=\u0338", "Z̷̨a̴l̵g̶o̷", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢",
    "№ ℡ ℻", "㈱ ㌔ ㌢", "Ⓐⓐ🄰🅐🅰", "ºª", "ſ ſt K", "Ɐ Ɑ ⱥ Ⱥ", "ꙁ Ꙁ ꚁ", "ȺȾ", "ᾈ ᾼ ῌ", "ﬓ ﬔ", "ʼn", "ǆ Ǆ", "DŽ", "ϐ ϑ ϕ ϖ", "µ μ", "ͅ ι",
    "a\u034fb", "\u1160\u115f\u3164\uffa0", "ᅟᅠ", "א\u05b8\u05bc", "\u0f73\u0f75\u0f81", "\u0344 \u0340\u0341", "\u212b\u2126\u212a", "\u2000\u2001 \u2002",
    "가\u0301", "\U0001d15e\U0001d160", "\U000110ab\U000110ba", "\U0001e94b\u0301", "·‧・･", "؟ ، ؛", "。、「」", "〈〉《》【】", "〜～~", "“quoted” ‘single’",
    "\u2018\u2019\u201a\u201b\u2032", "A.B.C. U.S.A.", "Mr. Smith's dog", "o'clock rock'n'roll", "e.g., i.e.", "T-shirt x-ray", "one/two", "10km 5kg",
    "Ünïcödé Ñame", "naïve café résumé", "ÀÈÌÒÙ àèìòù", "ÇĞŞ çğş", "ĄĆĘŁŃ", "ŠŽČ", "ØÆÅ", "Þð", "Œuvre", "ĳ Ĳ",
]


def known_to_all():
    """Returns the code points of Unicode 8, and those that are not assigned yet."""
    newer = set()
    for line in pathlib.Path("/usr/share/unicode/DerivedAge.txt").read_text().splitlines():
        fields = line.split("#")[0].split(";")
        if len(fields) == 2 and float(fields[1]) > 8:
            first, _, last = fields[0].strip().partition("..")
            newer.update(range(int(first, 16), int(last or first, 16) + 1))
    return lambda text: not any(ord(character) in newer for character in text)


def random_line(random):
    kinds = [
        lambda: chr(random.randrange(0x20, 0x7F)),
        lambda: chr(random.randrange(0xA0, 0x250)),
        lambda: chr(random.randrange(0x300, 0x370)),
        lambda: chr(random.randrange(0x370, 0x600)),
        lambda: chr(random.randrange(0x900, 0xE00)),
        lambda: chr(random.randrange(0x1E00, 0x2100)),
        lambda: chr(random.randrange(0x2100, 0x2800)),
        lambda: chr(random.randrange(0x3000, 0x3400)),
        lambda: chr(random.randrange(0x4E00, 0x9FFF)),
        lambda: chr(random.randrange(0xAC00, 0xD7A4)),
        lambda: chr(random.randrange(0xF900, 0xFB50)),
        lambda: chr(random.randrange(0xFE20, 0xFFF0)),
        lambda: chr(random.randrange(0x1F300, 0x1F700)),
        lambda: random.choice(["\u200d", "\ufe0f", "\u0301", "\u0327", " ", " ", "'", "s", "the ", "ing", "un"]),
        lambda: random.choice(["the", "of", "and", "in", "Model", "attention", "2026", "don't"]),
    ]
    few = random.sample(kinds, 3)
    return "".join(random.choice(few)() for _ in range(random.randrange(3, 30)))


def main():
    generator = random.Random(18)
    known = known_to_all()
    lines = list(dict.fromkeys(FIXED))
    while len(lines) < 300:
        line = random_line(generator)
        if "\n" not in line and line not in lines and known(line):
            lines.append(line)
    assert all("\n" not in line for line in lines)
    (HERE / "adversarial.txt").write_text("".join(line + "\n" for line in lines), encoding="utf-8",
                                          newline="")
    print(len(lines))


main()
