"""What the original library answers, one function a task."""

import torch
from transformers import TextClassificationPipeline

import tokens
from traces import near, trace


def number(value):
    return float(f"{float(value):.9g}")


class Results:
    """What expected.json and expected.safetensors of one variant will hold."""

    def __init__(self, variant, model, tokenizer):
        self.variant, self.model, self.tokenizer = variant, model, tokenizer
        self.tensors, self.texts = {}, []
        self.exact = type(model)(model.config).eval().double()
        self.exact.load_state_dict({name: value.double() for name, value in model.state_dict().items()})
        self.error = 0.0

    def keep(self, name, tensor):
        assert torch.isfinite(tensor).all(), name
        self.tensors[name] = tensor.detach().float().contiguous().clone()

    def run(self, inputs):
        """One text through the model; and, for the error of float32 here, through it in float64."""
        with torch.no_grad():
            output = self.model(**inputs, output_attentions=True)
            exact = self.exact(**inputs)
        error = max(float((output[key].double() - exact[key]).abs().max())
                    for key in ("logits", "start_logits", "end_logits", "last_hidden_state")
                    if key in output)
        self.error = max(self.error, error)
        assert error < 2e-5, (self.variant.name, error)
        return output

    def inputs(self, encoding):
        return {name: torch.tensor([encoding[name]]) for name in self.variant.family.inputs}

    def attention(self, name, output):
        self.keep(f"attention.{name}", torch.cat([weights[:1] for weights in output.attentions]))

    def trace(self, index, inputs):
        for name, tensor in trace(self.variant, self.model, inputs).items():
            self.keep(f"{index}/{name}", tensor)

    def each(self):
        """Every text: its index, its entry, what goes into the model."""
        for index, text in enumerate(self.variant.texts):
            text, pair = text if isinstance(text, tuple) else (text, None)
            cut, entry = tokens.encoded(self.tokenizer, text, pair)
            entry = {"text": text} | ({} if pair is None else {"pair": pair}) | entry
            self.texts.append(entry)
            yield index, entry, self.inputs(cut)

    def check_batch(self, key="logits"):
        """Padded and masked, all texts in one batch, the library says the same."""
        texts = [(entry["text"], entry.get("pair")) for entry in self.texts]
        groups = [[t for t in texts if t[1] is None], [t for t in texts if t[1] is not None]]
        for group in filter(None, groups):
            one, two = ([t[side] for t in group] for side in (0, 1))
            batch = self.tokenizer(one, two if two[0] is not None else None, truncation=True, padding=True,
                                   return_tensors="pt")
            with torch.no_grad():
                together = self.model(**batch)[key]
            for text, row in zip(group, together):
                alone = self.tensors[f"{key}.{texts.index(text)}"]
                near(row[: alone.shape[0]] if alone.dim() > 1 else row, alone)


def sequence(results):
    """Text classification: the library's own pipeline."""
    model, tokenizer = results.model, results.tokenizer
    pipeline = TextClassificationPipeline(model=model, tokenizer=tokenizer, device="cpu")
    labels = [model.config.id2label[i] for i in range(model.config.num_labels)]
    for index, entry, inputs in results.each():
        output = results.run(inputs)
        results.keep(f"logits.{index}", output.logits[0])
        results.attention(index, output)
        if index == results.variant.traced:
            results.trace(index, inputs)
        given = {"text": entry["text"]} | ({"text_pair": entry["pair"]} if "pair" in entry else {})
        answers = pipeline(given, top_k=None, truncation=True)
        scores = {answer["label"]: answer["score"] for answer in answers}
        entry["label"], entry["score"] = answers[0]["label"], number(answers[0]["score"])
        entry["scores"] = [number(scores[label]) for label in labels]
        z = output.logits[0].double()
        if results.variant.score == "sigmoid":
            z = torch.sigmoid(z)
        elif results.variant.score == "softmax":
            z = torch.softmax(z, 0)
        near(torch.tensor(entry["scores"]).double(), z, 1e-6)
    results.check_batch()
    return {"labels": labels}


TASKS = {"sequence": sequence}
