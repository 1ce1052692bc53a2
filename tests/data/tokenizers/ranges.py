"""The ranges of tokens in their text, in UTF-16 units."""


def utf16_units(text):
    """Returns the start of each code point, and the end."""
    units = [0]
    for character in text:
        units.append(units[-1] + (2 if ord(character) > 0xFFFF else 1))
    return units


def ranges(encoding, text):
    """Returns the original library's ranges, with two exceptions: a prefix that the text does not have covers
    nothing, and if one character becomes several tokens, it belongs to the first. The encoding must not have
    special tokens."""
    units = utf16_units(text)
    offsets = [[units[begin], units[end]] for begin, end in encoding.offsets]
    covered = 0
    for i, offset in enumerate(offsets):
        if encoding.tokens[i] in ("▁", "Ġ") and i + 1 < len(offsets):
            following = units[encoding.offsets[i + 1][0]]
            if following <= offset[0]:
                offset[0] = offset[1] = following
        offset[0] = max(offset[0], covered)
        offset[1] = covered = max(offset[0], offset[1])
    return offsets
