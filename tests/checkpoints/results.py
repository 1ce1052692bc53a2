"""The answers of the original library, with one function per task."""

import copy
import warnings

import torch
from transformers import (FillMaskPipeline, MinLengthLogitsProcessor, NoBadWordsLogitsProcessor, NoRepeatNGramLogitsProcessor,
                          RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper, TextClassificationPipeline,
                          TokenClassificationPipeline, TopKLogitsWarper, TopPLogitsWarper)

import tokens
from traces import near, trace, trace_both


def number(value):
    return float(f"{float(value):.9g}")


def shaken(model):
    """Returns the model with weights that differ by much more than any rounding."""
    random, other = torch.Generator().manual_seed(1), copy.deepcopy(model)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter *= 1 + 2e-6 * torch.randn(parameter.shape, generator=random)
    return other


class Results:
    """The contents of expected.json and expected.safetensors of one variant."""

    def __init__(self, variant, model, tokenizer, formula=None):
        self.formula = formula  # the same model in float64, made only from the folder
        self.variant, self.model, self.tokenizer = variant, model, tokenizer
        self.tensors, self.texts = {}, []
        self.exact = copy.deepcopy(model).double()
        if variant.task == "generate":
            config = copy.deepcopy(model.config)
            config.reorder_and_upcast_attn = False  # the same in another order, for float16
            self.exact = type(model)(config).eval().double()
            self.exact.load_state_dict({name: value.double() for name, value in model.state_dict().items()})
            self.exact.generation_config = copy.deepcopy(model.generation_config)
        self.models = [model, self.exact] + ([shaken(model)] if formula else [])
        self.error = 0.0
        # Ids without a token, in models with a larger table. The output must not contain them.
        self.nameless = list(range(len(tokenizer), model.config.vocab_size))

    def keep(self, name, tensor):
        masked = name.endswith(".scores") & (tensor == -torch.inf)
        assert (torch.isfinite(tensor) | masked).all(), name
        self.tensors[name] = tensor.detach().float().contiguous().clone()

    def run(self, inputs):
        """Runs one text through the model, and through it in float64, to measure the error of float32 here."""
        with torch.no_grad():
            output = self.model(**inputs, output_attentions=True)
            exact = self.exact(**inputs)
        if self.formula:  # in float64, the library still computes norms and rotary positions in float32
            exact[0][0] = self.formula.output(inputs["input_ids"][0])
        error = max(float((output[key].double() - exact[key]).abs().max())
                    for key in ("logits", "start_logits", "end_logits", "last_hidden_state")
                    if key in output)
        self.error = max(self.error, error)
        assert error < 1e-5, (self.variant.name, error)
        return output

    def inputs(self, encoding):
        return {name: torch.tensor([encoding[name]]) for name in self.variant.family.inputs}

    def attention(self, name, output):
        """Stores the weights of an encoder, and of a decoder, if there is one, to its own rows and to the encoder's."""
        both = "cross_attentions" in output
        kinds = {kind: output[f"{kind}_attentions"] for kind in ("encoder", "decoder", "cross")} if both else {
            "attention": output.attentions}
        for kind, layers in kinds.items():
            self.keep(f"{kind}.{name}", torch.cat([weights[:1] for weights in layers]))

    def trace(self, index, inputs):
        names = self.variant.family.trace
        head = names.get("head", {}).get(self.variant.task, {})
        found = (trace_both(names, self.model, inputs, head) if self.model.config.is_encoder_decoder
                 else trace(self.variant, self.model, inputs))
        for name, tensor in found.items():
            before = name.startswith("before.")
            self.keep(f"before_rotary.{index}/{name[7:]}" if before else f"{index}/{name}", tensor)

    def each(self):
        """Yields the index, the entry and the model's inputs of every text."""
        for index, text in enumerate(self.variant.texts):
            text, pair = text if isinstance(text, tuple) else (text, None)
            cut, entry = tokens.encoded(self.tokenizer, text, pair)
            entry = {"text": text} | ({} if pair is None else {"pair": pair}) | entry
            self.texts.append(entry)
            yield index, entry, self.inputs(cut)

    def settled(self, values):
        """Checks that the best value exceeds the second by more than any rounding."""
        best = torch.as_tensor(values).flatten().topk(2).values
        assert best[0] - best[1] > 1e-3, (self.variant.name, best)

    def check_batch(self, key="logits"):
        """Checks that the library gives the same for all texts in one padded, masked batch. In a model with a decoder,
        they must have the same number of end tokens.
        """
        texts = [(entry["text"], entry.get("pair")) for entry in self.texts]
        groups = {}
        for text, entry in zip(texts, self.texts):
            ends = entry["ids"].count(self.model.config.eos_token_id) if self.model.config.is_encoder_decoder else 0
            groups.setdefault((text[1] is None, ends), []).append(text)
        for group in groups.values():
            one, two = ([t[side] for t in group] for side in (0, 1))
            batch = self.tokenizer(one, two if two[0] is not None else None, truncation=True, padding=True,
                                   return_tensors="pt")
            with torch.no_grad():
                together = self.model(**batch)[key]
            for text, row in zip(group, together):
                alone = self.tensors[f"{key}.{texts.index(text)}"]
                near(row[: alone.shape[0]] if alone.dim() > 1 else row, alone)


def sequence(results):
    """Text classification with the library's own pipeline."""
    model, tokenizer = results.model, results.tokenizer
    pipeline = TextClassificationPipeline(model=model, tokenizer=tokenizer, device="cpu")
    labels = [model.config.id2label[i] for i in range(model.config.num_labels)]
    for index, entry, inputs in results.each():
        output = results.run(inputs)
        results.keep(f"logits.{index}", output.logits[0])
        results.attention(index, output)
        if index == results.variant.traced:
            results.trace(index, inputs)
        if model.config.is_encoder_decoder and len(entry["ids"]) > 6:
            entry["masked"] = masked(results, inputs, [2, 4])
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
        if len(labels) > 1:
            results.settled(output.logits)
    results.check_batch()
    return {"labels": labels}


def masked(results, inputs, places):
    """Returns the logits if no row attends to these tokens. A decoder reads a token one row later."""
    masks = {"attention_mask": inputs["attention_mask"].clone(), "decoder_attention_mask": inputs["attention_mask"].clone()}
    for place in places:
        masks["attention_mask"][0, place] = masks["decoder_attention_mask"][0, place + 1] = 0
    return {"tokens": places, "logits": [number(x) for x in results.run(inputs | masks).logits[0]]}


AGGREGATIONS = ("none", "simple", "first", "average", "max")


class Pipeline(TokenClassificationPipeline):
    """The library's pipeline with our ranges. Its own ranges decide where a word begins."""

    def gather_pre_entities(self, *arguments, **options):
        entities = super().gather_pre_entities(*arguments, **options)
        for entity in entities:
            entity["start"], entity["end"] = self.ranges[entity["index"]]
        return entities


def label_tokens(results):
    """Token classification with the library's own pipeline."""
    warnings.filterwarnings("ignore", "Tokenizer does not support real words")
    model, tokenizer = results.model, results.tokenizer
    pipelines = {
        name: Pipeline(model=model, tokenizer=tokenizer, device="cpu", aggregation_strategy=name)
        for name in AGGREGATIONS}
    for index, entry, inputs in results.each():
        output = results.run(inputs)
        results.keep(f"logits.{index}", output.logits[0])
        results.attention(index, output)
        if index == results.variant.traced:
            results.trace(index, inputs)
        for row in output.logits[0]:
            results.settled(row)
        entry["entities"] = {name: [] for name in AGGREGATIONS}
        for name, pipeline in pipelines.items():
            pipeline.ranges = entry["offsets"]
            for found in pipeline(entry["text"]):
                group = {} if name != "none" else {"index": found["index"]}
                entry["entities"][name].append({
                    "entity": found["entity" if name == "none" else "entity_group"],
                    "score": number(found["score"]), **group, "word": found["word"],
                    "start": found["start"], "end": found["end"]})
    results.check_batch()
    return {"labels": [model.config.id2label[i] for i in range(model.config.num_labels)]}


def fill_masks(results):
    """The tokens at masks, with the library's own pipeline."""
    model, tokenizer = results.model, results.tokenizer
    pipeline = FillMaskPipeline(model=model, tokenizer=tokenizer, device="cpu", top_k=3)
    for index, entry, inputs in results.each():
        output = results.run(inputs)
        results.keep(f"logits.{index}", output.logits[0])
        results.attention(index, output)
        if index == results.variant.traced:
            results.trace(index, inputs)
        places = [i for i, token in enumerate(entry["ids"]) if token == tokenizer.mask_token_id]
        found = pipeline(entry["text"])
        entry["masks"] = []
        for place, answers in zip(places, [found] if len(places) == 1 else found):
            best = torch.softmax(output.logits[0, place].double(), 0).topk(4).values
            assert (best[:-1] - best[1:]).min() > 1e-4, (results.variant.name, best)
            filled = [place_filled(tokenizer, entry["ids"], place, answer["token"]) for answer in answers]
            if len(places) == 1:  # with several masks, the library's texts have the special tokens, too
                assert filled == [answer["sequence"] for answer in answers], (filled, answers)
            entry["masks"].append({"index": place, "answers": [
                {"id": answer["token"], "token": tokenizer.convert_ids_to_tokens(answer["token"]),
                 "text": answer["token_str"], "score": number(answer["score"]), "sequence": sequence}
                for answer, sequence in zip(answers, filled)]})
    results.check_batch()
    return {}


def place_filled(tokenizer, ids, place, token):
    return tokenizer.decode([*ids[:place], token, *ids[place + 1:]], skip_special_tokens=True)


OPTIONS = {"max_answer_length": 15, "handle_impossible_answer": False}


def windows(backend, question, context, options):
    """Returns the windows: the question with one part of the context after another. They are made from the library's
    parts, because tokenizers 0.23 reads only max_length tokens of the context if it is asked for overlapping windows.
    """
    processor = backend.post_processor
    backend.post_processor = None
    asked, read = backend.encode(question), backend.encode(context)
    backend.post_processor = processor
    room = options["max_length"] - len(asked.ids) - backend.num_special_tokens_to_add(True)
    read.truncate(room, stride=options["stride"])
    first = backend.post_process(asked, read)
    return [first, *first.overflowing]


def answer(results):
    """Question answering. The library removed its pipeline in 5.0; this computes the same."""
    limit = min(results.variant.max_length, 384)
    defaults = OPTIONS | {"max_length": limit, "stride": min(limit // 2, 128)}
    backend = results.tokenizer._tokenizer
    for index, (question, context, given) in enumerate(results.variant.texts):
        options = defaults | given
        encodings = windows(backend, question, context, options)
        alone = [backend.encode(text, add_special_tokens=False) for text in (question, context)]
        entry = {"question": question, "context": context, "options": options, "windows": []}
        outputs, first = [], 0
        for w, encoding in enumerate(encodings):
            own = encoding.sequence_ids
            begin, count = own.index(1), own.count(1)
            # After the first window, tokenizers 0.23 does not know which text a token belongs to.
            types = [0] * begin + [max(encodings[0].type_ids)] * (len(own) - begin)
            assert w > 0 or types == encoding.type_ids
            while alone[1].offsets[first][1] != encoding.offsets[begin][1]:
                first += 1
            while alone[1].ids[first : first + count] != encoding.ids[begin : begin + count]:
                first += 1
            places = [iter(tokens.ranges(alone[0], question)),
                      iter(tokens.ranges(alone[1], context)[first : first + count])]
            entry["windows"].append({
                "ids": encoding.ids, "types": types, "sequences": own,
                "offsets": [None if part is None else next(places[part]) for part in own]})
            given = {"input_ids": encoding.ids, "token_type_ids": types,
                     "attention_mask": encoding.attention_mask}
            inputs = results.inputs(given)
            output = results.run(inputs)
            outputs.append(output)
            both = torch.stack([output.start_logits[0], output.end_logits[0]], -1)
            results.keep(f"logits.{index}.{w}", both)
        entry |= best_span(results, context, encodings, outputs, options)
        if "window" in entry:
            results.attention(index, outputs[entry["window"]])
        results.texts.append(entry)
    return {}


def best_span(results, context, encodings, outputs, options):
    """Returns the best span of all windows, or an empty one if that is allowed and better."""
    candidates, nothing = [], 1.0
    for w, (output, encoding) in enumerate(zip(outputs, encodings)):
        outside = torch.tensor([part != 1 for part in encoding.sequence_ids])
        masked = outside.clone()
        masked[0] = False
        start, end = (torch.softmax(output[key][0].double().masked_fill(masked, -10000.0), 0)
                      for key in ("start_logits", "end_logits"))
        nothing = min(nothing, float(start[0] * end[0]))
        start[0] = end[0] = 0
        spans = (start[:, None] * end[None, :]).triu().tril(options["max_answer_length"] - 1)
        spans[outside] = 0
        best = int(spans.argmax())
        candidates.append((float(spans.max()), w, *divmod(best, len(end))))
        second = float(spans.flatten().topk(2).values[1])
        candidates.append((second, w, 0, 0))
    candidates.sort(key=lambda candidate: -candidate[0])
    score, w, i, j = candidates[0]
    assert score > 1.01 * candidates[1][0], (results.variant.name, candidates[:2])
    if options["handle_impossible_answer"]:
        assert abs(nothing - score) > 0.01 * score
        if nothing > score:
            return {"answer": "", "score": number(nothing), "start": 0, "end": 0}
    encoding = encodings[w]
    first, last = encoding.token_to_word(i), encoding.token_to_word(j)
    begin, end = encoding.word_to_chars(first, 1)[0], encoding.word_to_chars(last, 1)[1]
    assert context[begin:end] == context[begin:end].rstrip()  # a token may begin with the space before its word
    units = tokens.units(context)
    return {"answer": context[begin:end], "score": number(score), "start": units[begin],
            "end": units[end], "window": w, "span": [i, j]}


# The options of each run, with our names, and the library's names for them.
RUNS = [
    {}, {"beams": 3}, {"beams": 4, "lengthPenalty": 0.5}, {"repetitionPenalty": 1.4},
    {"beams": 2, "lengthPenalty": 2.0, "repetitionPenalty": 1.2}, {"beams": 2, "maxNewTokens": 3},
    {"noRepeatNgramSize": 1, "minNewTokens": 12}, {"noRepeatNgramSize": 2, "repetitionPenalty": 1.1},
    {"beams": 3, "noRepeatNgramSize": 2, "minNewTokens": 8},
]
CHANCES = [
    {}, {"temperature": 0.6, "topK": 5}, {"topP": 0.5}, {"temperature": 1.7, "topK": 40, "topP": 0.8},
    {"temperature": 0.9, "topP": 0.3, "repetitionPenalty": 1.3},
    {"noRepeatNgramSize": 1},
]
LIBRARY = {"maxNewTokens": "max_new_tokens", "beams": "num_beams", "lengthPenalty": "length_penalty",
           "repetitionPenalty": "repetition_penalty", "minNewTokens": "min_new_tokens",
           "noRepeatNgramSize": "no_repeat_ngram_size"}
NEW_TOKENS = 12  # if neither an option nor the folder sets it


def generate(results):
    """Continuations with the library's own generate(), and its own processors for the next token's logits."""
    for index, entry, inputs in results.each():
        output = results.run(inputs)
        results.keep(f"logits.{index}", output.logits[0])
        results.attention(index, output)
        if index == results.variant.traced:
            results.trace(index, inputs)
        entry["runs"] = [continued(results, inputs, options) for options in RUNS]
        entry["next"] = [chances(results, inputs, output.logits[0, -1:], options) for options in CHANCES]
        if results.formula and "repetition_penalty" not in results.variant.generation:
            read, wrote = entry["ids"], entry["runs"][0]["ids"]  # the library uses a cache, this run does not
            best = results.formula.output(torch.tensor(read + wrote)).argmax(-1)[len(read) - 1 : -1]
            assert best.tolist() == wrote, (results.variant.name, wrote, best)
    return {}


def continued(results, inputs, options):
    given = dict(results.variant.generation)
    if not {"max_new_tokens", "max_length"} & given.keys():
        options = {"maxNewTokens": NEW_TOKENS} | options
    given |= {LIBRARY[key]: value for key, value in options.items()}
    if given.get("num_beams", 1) == 1:
        given = {key: value for key, value in given.items() if key not in ("early_stopping", "length_penalty")}
    if "max_new_tokens" in given:
        given.pop("max_length", None)
        if not results.model.config.is_encoder_decoder:
            room = results.variant.max_length + 1 - inputs["input_ids"].shape[1]
            given["max_new_tokens"] = min(given["max_new_tokens"], room)
    if results.nameless:
        given["suppress_tokens"] = results.nameless
    one, exact, *other = (written(model, inputs, given) for model in results.models)
    assert one == exact, (results.variant.name, options, one, exact)
    assert all(one["ids"] == found["ids"] for found in other), (results.variant.name, options, one, other)
    return {"options": options} | one


def ends_of(model):
    """Returns the tokens that end a text. generation_config.json may have more than config.json."""
    ends = model.generation_config.eos_token_id
    return ends if isinstance(ends, list) else [ends]


def written(model, inputs, given):
    """Returns the ids up to the first that ends a text, and for beams the score, with five digits."""
    ends = ends_of(model)
    with torch.no_grad():
        found = model.generate(**inputs, **given, do_sample=False, pad_token_id=0, output_scores=True,
                               return_dict_in_generate=True)
    read = 1 if model.config.is_encoder_decoder else inputs["input_ids"].shape[1]  # tokens that the decoder read
    ids = found.sequences[0, read:].tolist()
    first = next((i for i, token in enumerate(ids) if token in ends), len(ids) - 1)
    score = getattr(found, "sequences_scores", None)
    return {"ids": ids[: first + 1]} | ({} if score is None else {"score": float(f"{float(score[0]):.5g}")})


def chances(results, inputs, scores, options):
    """Returns the tokens that may be drawn, and the most probable of them with their probabilities."""
    folder, ends = results.variant.generation, ends_of(results.model)
    processors = [RepetitionPenaltyLogitsProcessor(penalty=options.get("repetitionPenalty",
                                                                       folder.get("repetition_penalty", 1.0)))]
    if ngram := options.get("noRepeatNgramSize", folder.get("no_repeat_ngram_size", 0)):
        processors.append(NoRepeatNGramLogitsProcessor(ngram))
    if "bad_words_ids" in folder:
        processors.append(NoBadWordsLogitsProcessor(folder["bad_words_ids"], ends))
    if "min_length" in folder:
        processors.append(MinLengthLogitsProcessor(folder["min_length"], ends))
    processors.append(TemperatureLogitsWarper(options.get("temperature", 1.0)))
    if "topK" in options:
        processors.append(TopKLogitsWarper(options["topK"]))
    if "topP" in options:
        processors.append(TopPLogitsWarper(options["topP"]))
    if results.nameless:
        scores = scores.index_fill(1, torch.tensor(results.nameless), -torch.inf)
    for process in processors:
        scores = process(inputs["input_ids"], scores)
    kept = torch.isfinite(scores[0]).nonzero()[:, 0].tolist()
    probable = torch.softmax(scores[0].double(), 0).topk(min(5, len(kept)))
    assert len(kept) == 1 or probable.values[0] - probable.values[1] > 1e-5
    best = [[int(id), number(value)] for value, id in zip(*probable)]
    return {"options": options, "ids": kept if len(kept) < 100 else len(kept), "best": best}


TASKS = {"generate": generate, "sequence": sequence, "tokens": label_tokens, "answer": answer,
         "masks": fill_masks}
