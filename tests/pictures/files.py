"""Picture files of every kind that the decoders read, and what Pillow makes of them.

Each file has a few hundred bytes. PNG files are written here, because Pillow does not write all kinds.
"""

import io
import json
import math
import struct
import zlib

import PIL.Image
import PIL.ImageOps

WIDTH, HEIGHT = 13, 9
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def fnv(data):
    """Returns the 64-bit FNV-1a hash of bytes, as hexadecimal digits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return f"{value:016x}"


def mixed(seed):
    """Yields SplitMix64's numbers."""
    state = seed
    while True:
        state = state + 0x9E3779B97F4A7C15 & (1 << 64) - 1
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        z = (z ^ z >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        yield z ^ z >> 31


def sample(x, y, channel, depth):
    """Returns a value of the picture: a gradient with some noise."""
    smooth = (x * (3 + channel) * 17 + y * (5 - channel) * 23) % 257 / 256
    noise = (x * 7919 + y * 104729 + channel * 1299709) % 61 / 600
    return int(min(smooth * 0.9 + noise, 1) * ((1 << depth) - 1))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed(values, depth):
    """Returns a row of values as bytes."""
    if depth == 16:
        return struct.pack(f">{len(values)}H", *values)
    bits = "".join(f"{value:0{depth}b}" for value in values)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def png(color, depth, *, interlaced=False, before=(), after=(), colors=None, shift=0):
    """Returns a PNG file of a color type and a bit depth, with further chunks before and after its pixels."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]

    def value(x, y, channel):
        if color == 3:
            return (x + y * 3) % (colors or 1 << depth)
        return sample(x + shift, y, channel, depth)

    def rows(left, top, right, down):
        data = b""
        for y in range(top, HEIGHT, down):
            row = [value(x, y, c) for x in range(left, WIDTH, right) for c in range(channels)]
            if row:
                data += b"\0" + packed(row, depth)
        return data

    data = b"".join(rows(*step) for step in ADAM7) if interlaced else rows(0, 0, 1, 1)
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, color, 0, 0, int(interlaced))
    parts = [chunk(b"IHDR", header), *before, chunk(b"IDAT", zlib.compress(data, 9)), *after, chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def palette(count):
    return chunk(b"PLTE", bytes(sample(i, i // 3, c, 8) for i in range(count) for c in range(3)))


def exif(orientation, order=">"):
    """Returns EXIF data with an orientation, after another entry."""
    mark = b"MM" if order == ">" else b"II"
    return mark + struct.pack(order + "HIHHHIIHHIHHI", 42, 8, 2, 0x0100, 3, 1, 77 << (16 if order == ">" else 0),
                              0x0112, 3, 1, orientation, 0, 0)


def png_files():
    transparent = chunk(b"tRNS", b"\0\7")
    frame = struct.pack(">IIIIIHHBB", WIDTH, HEIGHT, 0, 0, 1, 10, 0, 0, 0)
    second = struct.pack(">IIIIIIHHBB", 1, WIDTH, HEIGHT, 0, 0, 1, 10, 0, 0, 0)
    row = zlib.compress((b"\0" + b"\x50" * 3 * WIDTH) * HEIGHT, 9)
    return {
        "gray1": png(0, 1), "gray2": png(0, 2), "gray4": png(0, 4), "gray8": png(0, 8), "gray16": png(0, 16),
        "gray8_transparent": png(0, 8, before=[transparent]),
        "gray_alpha8": png(4, 8), "gray_alpha16": png(4, 16),
        "rgb8": png(2, 8), "rgb16": png(2, 16), "rgb8_transparent": png(2, 8, before=[chunk(b"tRNS", b"\0\7" * 3)]),
        "rgba8": png(6, 8), "rgba16": png(6, 16),
        "palette1": png(3, 1, before=[palette(2)]), "palette2": png(3, 2, before=[palette(4)]),
        "palette4": png(3, 4, before=[palette(11)], colors=11),
        "palette8": png(3, 8, before=[palette(37)], colors=37),
        "palette8_transparent": png(3, 8, before=[palette(37), chunk(b"tRNS", bytes(range(0, 240, 8)))], colors=37),
        "palette4_beyond": png(3, 4, before=[palette(9)], colors=16),
        "interlaced_rgb8": png(2, 8, interlaced=True), "interlaced_gray1": png(0, 1, interlaced=True),
        "interlaced_rgba16": png(6, 16, interlaced=True),
        "gamma": png(2, 8, before=[chunk(b"gAMA", struct.pack(">I", 100000))]),
        "exif6": png(2, 8, before=[chunk(b"eXIf", exif(6))]),
        "exif3_after": png(2, 8, after=[chunk(b"eXIf", exif(3, "<"))]),
        "xmp8": png(0, 8, before=[chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<x tiff:Orientation=\"8\"/>")]),
        "animated": png(2, 8, before=[chunk(b"acTL", struct.pack(">II", 2, 0)), chunk(b"fcTL", struct.pack(">I", 0) + frame)],
                        after=[chunk(b"fcTL", second), chunk(b"fdAT", struct.pack(">I", 2) + row)]),
    }


def picture(mode):
    channels = len(mode)
    data = bytes(sample(x, y, c, 8) for y in range(HEIGHT) for x in range(WIDTH) for c in range(channels))
    return PIL.Image.frombytes(mode, (WIDTH, HEIGHT), data)


def saved(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def large():
    """Returns a larger picture: waves of each color."""
    width, height = 61, 47
    def value(x, y, c):
        return int(127.5 + 80 * math.sin(x / (4 + 3 * c)) + 47 * math.cos(y / (7 - 2 * c) + x / 19)) & 252
    data = bytes(value(x, y, c) for y in range(height) for x in range(width) for c in range(3))
    return PIL.Image.frombytes("RGB", (width, height), data)


def jpeg_files():
    rgb, gray = picture("RGB"), picture("L")
    files = {
        "jpeg_420": saved(rgb, "JPEG", quality=75), "jpeg_444": saved(rgb, "JPEG", quality=90, subsampling=0),
        "jpeg_422": saved(rgb, "JPEG", quality=80, subsampling=1),
        "jpeg_gray": saved(gray, "JPEG", quality=80),
        "jpeg_progressive": saved(rgb, "JPEG", quality=70, progressive=True),
        "jpeg_cmyk": saved(picture("CMYK"), "JPEG", quality=85),
        "jpeg_rgb": saved(rgb, "JPEG", quality=85, keep_rgb=True),
        "jpeg_large": saved(large(), "JPEG", quality=70),
        "jpeg_xmp5": saved(gray, "JPEG", quality=60,
                           xmp=b"<a><tiff:Orientation>5</tiff:Orientation></a>"),
    }
    for orientation in range(1, 9):
        data = b"Exif\0\0" + exif(orientation, "<>"[orientation % 2])
        files[f"jpeg_exif{orientation}"] = saved(gray, "JPEG", quality=60, exif=data)
    return files


def webp_files():
    rgb, rgba = picture("RGB"), picture("RGBA")
    small = PIL.Image.frombytes("RGBA", (4, 4), bytes(range(64)))
    return {
        "webp_lossy": saved(rgb, "WEBP", quality=70), "webp_lossless": saved(rgb, "WEBP", lossless=True),
        "webp_alpha": saved(rgba, "WEBP", quality=70), "webp_alpha_lossless": saved(rgba, "WEBP", lossless=True),
        "webp_animated": saved(rgba, "WEBP", lossless=True, save_all=True, append_images=[rgba.rotate(180)]),
        "webp_exif6": saved(rgb, "WEBP", lossless=True, exif=exif(6)),
        "webp_small": saved(small, "WEBP", lossless=True),
    }


def decoded(file):
    """Returns what the library transformers reads of a file."""
    image = PIL.Image.open(io.BytesIO(file))
    return PIL.ImageOps.exif_transpose(image).convert("RGB")


def resized():
    """Returns the hashes of resized pictures. The bytes of picture i are those of mixed(i)."""
    cases = []
    for i, numbers in zip(range(240), zip(*[mixed(1)] * 5)):
        most = 24 if i % 3 else 90
        width, height, new_width, new_height = (1 + number % most for number in numbers[:4])
        channels = 1 if numbers[4] % 4 == 0 else 3
        random = mixed(i)
        data = bytes(next(random) >> 56 for _ in range(width * height * channels))
        image = PIL.Image.frombytes("L" if channels == 1 else "RGB", (width, height), data)
        resampling = i % 4
        # Pillow 13 resizes some tall pictures along the columns first. Earlier versions always begin with the rows.
        result = image.resize((new_width, height), resampling).resize((new_width, new_height), resampling)
        cases.append([resampling, channels, width, height, new_width, new_height, fnv(result.tobytes())])
    return cases


def write(folder):
    (folder / "files").mkdir(exist_ok=True)
    expected = {}
    for files, end in ((png_files(), "png"), (jpeg_files(), "jpg"), (webp_files(), "webp")):
        for name, data in files.items():
            (folder / "files" / f"{name}.{end}").write_bytes(data)
            image = decoded(data)
            expected[f"{name}.{end}"] = [*image.size, fnv(image.tobytes())]
    lines = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in expected.items())
    (folder / "decoded.json").write_text(f"{{\n  {lines}\n}}\n")
    lines = ",\n  ".join(json.dumps(case) for case in resized())
    (folder / "resized.json").write_text(f"[\n  {lines}\n]\n")
