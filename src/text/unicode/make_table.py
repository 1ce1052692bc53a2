#!/usr/bin/python3
"""Writes table.cpp from the Unicode Character Database.

    src/text/unicode/make_table.py [FOLDER]

FOLDER is that of Debian's package unicode-data (17.0.0), /usr/share/unicode unless given. The output
is a sequence of bytes for each table; table.hpp says how they are read.
"""

import gzip
import pathlib
import re
import sys

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode")
HERE = pathlib.Path(__file__).parent
LAST = 0x10FFFF

# As in table.hpp.
CATEGORIES = ["other", "letter", "digit", "letter_number", "other_number", "nonspacing_mark",
              "other_mark", "connector", "punctuation", "control", "letter_symbol"]
BREAKS = ["other", "cr", "lf", "control", "extend", "linker", "joiner", "regional", "prepend",
          "spacing", "pictographic", "consonant"]


def lines(name):
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        fields = [field.strip() for field in line.split("#")[0].split(";")]
        if len(fields) > 1:
            yield fields


def code_points(field):
    first, _, last = field.partition("..")
    return range(int(first, 16), int(last or first, 16) + 1)


def characters_with(name, *properties):
    return {code for fields in lines(name) if tuple(fields[1:]) == properties
            for code in code_points(fields[0])}


def read_characters():
    """Code point to the fields of UnicodeData.txt, ranges written out."""
    characters = {}
    first = None
    for fields in lines("UnicodeData.txt"):
        code = int(fields[0], 16)
        if fields[1].endswith(", First>"):
            first = code
            continue
        for each in range(code if first is None else first, code + 1):
            characters[each] = fields
        first = None
    return characters


def category(code, general, alphabetic):
    names = {"Nd": "digit", "Nl": "letter_number", "No": "other_number", "Mn": "nonspacing_mark",
             "Mc": "other_mark", "Me": "other_mark", "Pc": "connector", "Cc": "control",
             "Cf": "control", "Co": "control"}
    if general in names:
        return names[general]
    if general[0] == "L":
        return "letter"
    if general[0] == "P":
        return "punctuation"
    return "letter_symbol" if code in alphabetic else "other"


def break_classes():
    names = {"CR": "cr", "LF": "lf", "Control": "control", "Extend": "extend", "ZWJ": "joiner",
             "Regional_Indicator": "regional", "Prepend": "prepend", "SpacingMark": "spacing"}
    classes = {}
    for fields in lines("auxiliary/GraphemeBreakProperty.txt"):
        for code in code_points(fields[0]):
            if fields[1] in names:  # Hangul syllables go by formula
                classes[code] = names[fields[1]]
    for code in characters_with("emoji/emoji-data.txt", "Extended_Pictographic"):
        assert code not in classes
        classes[code] = "pictographic"
    for code in characters_with("DerivedCoreProperties.txt", "InCB", "Linker"):
        assert classes[code] == "extend"
        classes[code] = "linker"
    for code in characters_with("DerivedCoreProperties.txt", "InCB", "Consonant"):
        assert code not in classes
        classes[code] = "consonant"
    extend = characters_with("DerivedCoreProperties.txt", "InCB", "Extend")
    assert extend == {code for code, name in classes.items()
                      if name in ("extend", "joiner") and code != 0x200C}
    return classes


def varint(number):
    data = bytearray()
    while number >= 0x80:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(data + bytes([number]))


def signed(number):
    return varint(number * 2 if number >= 0 else -number * 2 - 1)


def property_table(characters):
    """Runs: length, category | break class << 4."""
    alphabetic = characters_with("DerivedCoreProperties.txt", "Alphabetic")
    classes = break_classes()
    values = []
    for code in range(LAST + 1):
        general = characters[code][2] if code in characters else "Cn"
        name = category(code, general, alphabetic)
        if general == "Cn" or general == "Cs":
            name = "other"
        word = name in ("letter", "digit", "letter_number", "nonspacing_mark", "other_mark",
                        "connector", "letter_symbol")
        assert word or code not in alphabetic or general == "Cn", hex(code)
        values.append(CATEGORIES.index(name) | BREAKS.index(classes.get(code, "other")) << 4)
    return runs(values)


def runs(values):
    data = b""
    begin = 0
    for code in range(1, LAST + 2):
        if code > LAST or values[code] != values[begin]:
            data += varint(code - begin) + bytes([values[begin]])
            begin = code
    return data


def class_table(characters):
    """Runs of canonical combining classes: length, class."""
    values = [0] * (LAST + 1)
    for code, fields in characters.items():
        values[code] = int(fields[3])
    return runs(values)


def lower_case_table(characters):
    """Runs of capitals `step` apart with small letters equally far away: gap since the last run's
    end, count * 2 + (step == 2), distance."""
    pairs = [(code, int(fields[13], 16)) for code, fields in sorted(characters.items())
             if fields[13]]
    found = []
    for code, lower in pairs:
        if code == 0x130:
            continue  # becomes two characters
        run = found[-1] if found else None
        if run and run["distance"] == lower - code:
            step = code - run["last"]
            if step in (1, 2) and run["step"] in (None, step):
                run.update(last=code, count=run["count"] + 1, step=step)
                continue
        found.append({"first": code, "last": code, "count": 1, "step": None,
                      "distance": lower - code})
    data = b""
    end = 0
    for run in found:
        data += varint(run["first"] - end)
        data += varint(run["count"] * 2 + (run["step"] == 2)) + signed(run["distance"])
        end = run["last"]
    return data


def decomposition_tables(characters):
    """Runs of characters that follow one another, and so do the characters they become. One table
    for each number of a run, which gzip likes better: gap since the last run's end;
    (count - 1) * 4 + compatibility * 2 + never composed; length; of what the first one becomes, the
    first character, as its distance from the last run's; and the others, as theirs from U+0300."""
    excluded = characters_with("DerivedNormalizationProps.txt", "Full_Composition_Exclusion")
    found = []
    for code, fields in sorted(characters.items()):
        if not fields[5] or 0xAC00 <= code <= 0xD7A3:
            continue
        compatibility = fields[5].startswith("<")
        parts = [int(part, 16) for part in re.sub("<.*>", "", fields[5]).split()]
        kind = compatibility * 2 + (not compatibility and code in excluded)
        run = found[-1] if found else None
        if run and run["kind"] == kind and code == run["code"] + run["count"] and parts == [
                part + run["count"] for part in run["parts"]]:
            run["count"] += 1
        else:
            found.append({"code": code, "count": 1, "kind": kind, "parts": parts})
    gaps, counts, lengths, firsts, others = b"", b"", b"", b"", b""
    end = first = 0
    for run in found:
        gaps += varint(run["code"] - end)
        counts += varint((run["count"] - 1) * 4 + run["kind"])
        lengths += varint(len(run["parts"]))
        firsts += signed(run["parts"][0] - first)
        others += b"".join(signed(part - 0x300) for part in run["parts"][1:])
        end = run["code"] + run["count"]
        first = run["parts"][0]
    return {"decomposition_gap": gaps, "decomposition_count": counts,
            "decomposition_length": lengths, "decomposition_first": firsts,
            "decomposition_other": others}


def write(tables):
    version = re.search(r"DerivedAge-([0-9.]+)\.txt", (FOLDER / "DerivedAge.txt").read_text())
    text = f"// Written by make_table.py from version {version.group(1)} of the Unicode Character"
    text += " Database.\n// clang-format off\n\n#include \"text/unicode/table.hpp\"\n\n"
    text += "namespace glassformer::unicode {\n"
    for name, data in tables.items():
        text += f"\nstatic constexpr unsigned char {name}_bytes[] = {{\n"
        row = ""
        for byte in data:
            if len(row) + len(str(byte)) + 1 > 100:
                text += row + "\n"
                row = ""
            row += f"{byte},"
        text += row + "\n};\n"
    text += "\n"
    for name in tables:
        text += f"const Bytes {name}_table({name}_bytes);\n"
    (HERE / "table.cpp").write_text(text + "\n}  // namespace glassformer::unicode\n")
    for name, data in tables.items():
        print(f"{name}: {len(data)} bytes, {len(gzip.compress(data, 9))} as gzip")
    print(f"together {len(gzip.compress(b''.join(tables.values()), 9))} as gzip")


def main():
    characters = read_characters()
    write({"property": property_table(characters), "combining_class": class_table(characters),
           "lower_case": lower_case_table(characters), **decomposition_tables(characters)})


main()
