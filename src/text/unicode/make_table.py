#!/usr/bin/python3
"""Writes table.cpp from the Unicode Character Database.

    src/text/unicode/make_table.py [FOLDER]

FOLDER is the folder of Debian's package unicode-data (17.0.0), by default /usr/share/unicode. The
output is one sequence of bytes per table. table.hpp describes the number format.
"""

import gzip
import pathlib
import re
import sys
from collections import Counter

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode")
HERE = pathlib.Path(__file__).parent
LAST = 0x10FFFF

# In the order of unicode.hpp. "La" means symbols (So) with the property Alphabetic.
CATEGORIES = ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
              "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "La", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co",
              "Cn"]
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
    """Maps each code point to its fields in UnicodeData.txt. Expands ranges."""
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


def break_classes():
    names = {"CR": "cr", "LF": "lf", "Control": "control", "Extend": "extend", "ZWJ": "joiner",
             "Regional_Indicator": "regional", "Prepend": "prepend", "SpacingMark": "spacing"}
    classes = {}
    for fields in lines("auxiliary/GraphemeBreakProperty.txt"):
        for code in code_points(fields[0]):
            if fields[1] in names:  # Hangul syllables are computed instead
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


def property_tables(characters):
    """Returns the runs of characters of the same kind, and the kinds: category, break class. Frequent
    kinds have small numbers, which compress better."""
    alphabetic = characters_with("DerivedCoreProperties.txt", "Alphabetic")
    classes = break_classes()
    properties = []
    for code in range(LAST + 1):
        general = characters[code][2] if code in characters else "Cn"
        if general == "So" and code in alphabetic:
            general = "La"
        word = general[0] in "LM" or general in ("Nd", "Nl", "Pc")
        assert word or code not in alphabetic or general == "Cn", hex(code)
        properties.append((CATEGORIES.index(general), BREAKS.index(classes.get(code, "other"))))
    counts = Counter(kind for _, kind in runs(properties))
    kinds = sorted(counts, key=lambda kind: (-counts[kind], kind))
    return {**run_tables("property", [kinds.index(kind) for kind in properties]),
            "kind": bytes(number for kind in kinds for number in kind)}


def script_table(name):
    """Returns the ranges of a script's characters: gap after the previous range, length."""
    data = b""
    end = 0
    for code in sorted(code for fields in lines("Scripts.txt") if fields[1] == name
                       for code in code_points(fields[0])):
        if data and code == end:
            length += 1
            data = data[: -len(varint(length - 1))] + varint(length)
        else:
            length = 1
            data += varint(code - end) + varint(length)
        end = code + 1
    return data


def runs(values):
    """Yields the length and the value of each run of equal values."""
    begin = 0
    for code in range(1, LAST + 2):
        if code > LAST or values[code] != values[begin]:
            yield code - begin, values[begin]
            begin = code


def run_tables(name, values):
    """Returns the runs of characters with the same value. Lengths and values are in separate tables,
    which compresses better."""
    found = list(runs(values))
    return {f"{name}_length": b"".join(varint(length) for length, _ in found),
            f"{name}_value": bytes(value for _, value in found)}


def class_tables(characters):
    """Returns the runs of canonical combining classes."""
    values = [0] * (LAST + 1)
    for code, fields in characters.items():
        values[code] = int(fields[3])
    return run_tables("combining_class", values)


def lower_case_table(characters):
    """Returns runs of capitals that are `step` apart and have the same distance to their small
    letters: gap after the previous run, count * 2 + (step == 2), distance."""
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
    """Returns runs of consecutive characters whose decompositions are consecutive, too. Each number of
    a run has a table of its own, which compresses better: gap after the previous run;
    (count - 1) * 4 + compatibility * 2 + never composed; length of a decomposition; in the first
    character's decomposition, the first character as the distance from the previous run's, and the
    others as the distance from U+0300."""
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
    write({**property_tables(characters), **class_tables(characters),
           "lower_case": lower_case_table(characters), **decomposition_tables(characters),
           "han": script_table("Han")})


main()
