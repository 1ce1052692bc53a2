"""The sentiment classifier: `python3 -m classifier COMMAND ...`."""
from common.commands import run

COMMANDS = {
    "tokenizer": ("classifier.tokenizer", "trains the tokenizer"),
    "word-vectors": ("classifier.teachers.word_vectors", "trains word vectors for the teachers"),
    "sentence-teacher": ("classifier.teachers.sentences", "trains the teacher of sentences and scores sentences"),
    "review-teacher": ("classifier.teachers.reviews", "trains the teacher of reviews and scores reviews"),
    "prepare": ("classifier.prepare", "writes token ids and soft labels"),
    "prepare-sst5": ("classifier.prepare_sst5", "writes token ids and labels of the five-class task"),
    "score": ("classifier.teachers.score", "scores the texts of the negation stage with one teacher"),
    "prepare-negation": ("classifier.negation.prepare", "writes token ids and soft labels of the negation stage"),
    "train": ("classifier.train", "runs one stage of the training"),
    "shares": ("classifier.shares", "measures weights between the start and the end of a run"),
    "export": ("common.export", "writes a model folder from a checkpoint"),
    "quantize": ("classifier.quantize", "chooses the 4-bit integers of a model folder"),
    "evaluate": ("classifier.evaluate", "measures a model folder on the test files"),
    "probe": ("classifier.probe", "runs a model folder on a file of probes"),
    "plot": ("common.plot", "draws the curves of runs"),
}

if __name__ == "__main__":
    run("classifier", COMMANDS)
