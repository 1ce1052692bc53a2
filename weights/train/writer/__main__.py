"""The writer: `python3 -m writer COMMAND ...`."""
from common.commands import run

COMMANDS = {
    "prepare": ("writer.prepare", "trains the tokenizer and writes token ids"),
    "train": ("writer.train", "trains the writer"),
    "shares": ("writer.shares", "measures weights between the start and the end of a run"),
    "export": ("writer.export", "writes a model folder from a checkpoint"),
    "quantize": ("writer.quantize", "chooses the 4-bit integers of a model folder"),
    "evaluate": ("writer.evaluate", "measures a model folder and a 5-gram model on the test reviews"),
    "sample": ("writer.sample", "writes samples"),
    "plot": ("common.plot", "draws the curves of runs"),
}

if __name__ == "__main__":
    run("writer", COMMANDS)
