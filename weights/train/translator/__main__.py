"""The translators: `python3 -m translator COMMAND ...`."""
from common.commands import run

COMMANDS = {
    "prepare": ("translator.prepare", "trains the tokenizer and writes token ids"),
    "train": ("translator.train", "trains a translator"),
    "export": ("common.export", "writes a model folder from a checkpoint"),
    "quantize": ("translator.quantize", "chooses the 4-bit integers of a model folder"),
    "shortlist": ("translator.shortlist", "writes shortlist.bin"),
    "plot": ("common.plot", "draws the curves of runs"),
}

if __name__ == "__main__":
    run("translator", COMMANDS)
