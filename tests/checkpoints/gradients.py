"""Writes expected.gradients.safetensors and expected.gradients.json of the checkpoints that have weights and a head of
their own, expected.integrated.json of those that write texts, and expected.loss.safetensors and expected.loss.json of
some: the gradients that the engine must compute.

    gradients.py            all checkpoints
    gradients.py NAME…      some checkpoints

It needs the packages of make.py, and the folders that make.py, translations.py and multilingual.py wrote. The
gradients come from autograd through the original library, in float64. tests/reference/derivatives.py describes the
files. Before it writes anything, the program compares logits and traces with expected.safetensors, the library with
formulas.py, the gradients with finite differences, and the gradients of linear layers with those of their inputs and
outputs.

An embedding table has the gradient of every row, also of the row that the library never trains (`padding_idx`).
"""

import contextlib
import copy
import json
import pathlib
import re
import sys

import torch
import transformers
from safetensors.torch import load_file
from torch.overrides import TorchFunctionMode
from transformers import MarianMTModel

import make  # before imports that put another make.py on the path
import multilingual
import folders
import traces
import translations

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent / "reference"))
import derivatives  # noqa: E402  (after the path is set)

PROMPT = 12  # most tokens of a text that is continued
LONGEST = 6  # tokens of a target, without the start token
BASELINE = 11  # the token whose embedding integrated gradients begin with, in models whose norms read only embeddings
MADE_UP = [11, 42, 7, 63, 25]  # a target instead of one or two different tokens
LEFT_OUT = ["marian_search"]  # its weights are those of `marian`, up to a bias, so all gradients are the same
LOSSES = {"bert_tokens": [0, 1], "deberta_tokens": [0], "gpt2_generate": [0, 1], "llama": [0, 1]}

# (Library's name, our name), applied in this order. "qkv" and "gate_and_fc1" are several of our matrices in one.
BERT = [
    (r"^(bert|roberta)\.", ""),
    (r"^embeddings\.word_embeddings", "encoder.embed_tokens"),
    (r"^embeddings\.position_embeddings", "encoder.embed_positions"),
    (r"^embeddings\.token_type_embeddings", "encoder.embed_types"),
    (r"^embeddings\.LayerNorm", "encoder.layernorm_embedding"),
    (r"^encoder\.layer\.", "encoder.layers."),
    (r"\.attention\.self\.(q|k|v)[a-z]+\.", r".self_attn.\1_proj."),
    (r"\.attention\.output\.dense", ".self_attn.out_proj"),
    (r"\.attention\.output\.LayerNorm", ".self_attn_layer_norm"),
    (r"\.intermediate\.dense", ".fc1"),
    (r"\.output\.dense", ".fc2"),
    (r"\.output\.LayerNorm", ".final_layer_norm"),
    (r"^pooler\.dense|^classifier\.dense", "head.dense"),
    (r"^classifier\.out_proj", "classifier"),
]
ELECTRA = [(r"^electra\.", ""), (r"^embeddings_project", "encoder.embed_projection"), *BERT]
MPNET = [
    (r"^mpnet\.", ""),
    (r"^encoder\.relative_attention_bias", "encoder.relative_bias"),
    (r"\.attention\.attn\.(q|k|v)\.", r".self_attn.\1_proj."),
    (r"\.attention\.attn\.o\.", ".self_attn.out_proj."),
    (r"\.attention\.LayerNorm", ".self_attn_layer_norm"),
    *BERT,
]
DEBERTA = [
    (r"^deberta\.", ""),
    (r"^encoder\.rel_embeddings", "encoder.relative_embeddings"),
    (r"^encoder\.LayerNorm", "encoder.relative_embeddings.layer_norm"),
    (r"\.attention\.self\.(q|k|v)[a-z]+_proj\.", r".self_attn.\1_proj."),
    *BERT,
]
ALBERT = [
    (r"^albert\.", ""),
    (r"^encoder\.embedding_hidden_mapping_in", "encoder.embed_projection"),
    (r"^encoder\.albert_layer_groups\.(\d+)\.albert_layers\.0\.", r"encoder.layer_groups.\1."),
    (r"\.attention\.dense", ".self_attn.out_proj"),
    (r"\.attention\.LayerNorm", ".self_attn_layer_norm"),
    (r"\.attention\.(q|k|v)[a-z]+\.", r".self_attn.\1_proj."),
    (r"\.ffn_output\.", ".fc2."),
    (r"\.ffn\.", ".fc1."),
    (r"\.full_layer_layer_norm", ".final_layer_norm"),
    (r"^pooler\.", "head.dense."),
    *BERT[1:5],
]
DISTILBERT = [
    (r"^distilbert\.", ""),
    *BERT[1:5],
    (r"^transformer\.layer\.", "encoder.layers."),
    (r"\.attention\.(q|k|v)_lin", r".self_attn.\1_proj"),
    (r"\.attention\.out_lin", ".self_attn.out_proj"),
    (r"\.sa_layer_norm", ".self_attn_layer_norm"),
    (r"\.ffn\.lin([12])", r".fc\1"),
    (r"\.output_layer_norm", ".final_layer_norm"),
    (r"^pre_classifier", "head.dense"),
]
GPT2 = [
    (r"^transformer\.", "decoder."),
    (r"\.wte", ".embed_tokens"),
    (r"\.wpe", ".embed_positions"),
    (r"\.h\.", ".layers."),
    (r"\.ln_1", ".self_attn_layer_norm"),
    (r"\.attn\.c_attn", ".self_attn.qkv"),
    (r"\.attn\.c_proj", ".self_attn.out_proj"),
    (r"\.ln_2", ".final_layer_norm"),
    (r"\.mlp\.c_fc", ".fc1"),
    (r"\.mlp\.c_proj", ".fc2"),
    (r"\.ln_f", ".layer_norm"),
]
LLAMA = [
    (r"^model\.", "decoder."),
    (r"\.input_layernorm", ".self_attn_layer_norm"),
    (r"\.self_attn\.o_proj", ".self_attn.out_proj"),
    (r"\.post_attention_layernorm", ".final_layer_norm"),
    (r"\.mlp\.gate_proj", ".fc1_gate"),
    (r"\.mlp\.up_proj", ".fc1"),
    (r"\.mlp\.down_proj", ".fc2"),
    (r"^decoder\.norm", "decoder.layer_norm"),
]
PHI3 = [*LLAMA, (r"\.mlp\.gate_up_proj", ".gate_and_fc1"), (r"\.qkv_proj", ".qkv")]
GEMMA = [*LLAMA[:3], (r"\.post_attention_layernorm", ".self_attn_output_norm"),
         (r"\.pre_feedforward_layernorm", ".final_layer_norm"), (r"\.post_feedforward_layernorm", ".fc2_output_norm"),
         *LLAMA[4:]]
GPT_NEOX = [
    (r"^gpt_neox\.", "decoder."),
    (r"\.embed_in", ".embed_tokens"),
    (r"^embed_out", "lm_head"),
    (r"\.input_layernorm", ".self_attn_layer_norm"),
    (r"\.attention\.query_key_value", ".self_attn.qkv"),
    (r"\.attention\.dense", ".self_attn.out_proj"),
    (r"\.post_attention_layernorm", ".final_layer_norm"),
    (r"\.mlp\.dense_h_to_4h", ".fc1"),
    (r"\.mlp\.dense_4h_to_h", ".fc2"),
    (r"^decoder\.final_layer_norm", "decoder.layer_norm"),
]
MODERNBERT = [
    (r"^model\.", "encoder."),
    (r"\.embeddings\.tok_embeddings", ".embed_tokens"),
    (r"\.embeddings\.norm", ".layernorm_embedding"),
    (r"\.attn_norm", ".self_attn_layer_norm"),
    (r"\.attn\.Wqkv", ".self_attn.qkv"),
    (r"\.attn\.Wo", ".self_attn.out_proj"),
    (r"\.mlp_norm", ".final_layer_norm"),
    (r"\.mlp\.Wi", ".gate_and_fc1"),
    (r"\.mlp\.Wo", ".fc2"),
    (r"\.final_norm", ".layer_norm"),
    (r"^head\.norm", "head.layer_norm"),
]
T5 = [
    (r"^shared", "embed_tokens"),
    (r"\.block\.0\.layer\.0\.SelfAttention\.relative_attention_bias", ".relative_bias"),
    (r"\.final_layer_norm", ".layer_norm"),
    (r"\.block\.", ".layers."),
    (r"\.layer\.0\.SelfAttention\.(q|k|v)\.", r".self_attn.\1_proj."),
    (r"\.layer\.0\.SelfAttention\.o", ".self_attn.out_proj"),
    (r"\.layer\.0\.layer_norm", ".self_attn_layer_norm"),
    (r"\.layer\.1\.EncDecAttention\.(q|k|v)\.", r".encoder_attn.\1_proj."),
    (r"\.layer\.1\.EncDecAttention\.o", ".encoder_attn.out_proj"),
    (r"^(decoder.*)\.layer\.1\.layer_norm", r"\1.encoder_attn_layer_norm"),
    (r"\.layer\.[12]\.layer_norm", ".final_layer_norm"),
    (r"\.layer\.[12]\.DenseReluDense\.wi_0", ".fc1_gate"),
    (r"\.layer\.[12]\.DenseReluDense\.wi(_1)?", ".fc1"),
    (r"\.layer\.[12]\.DenseReluDense\.wo", ".fc2"),
]
MARIAN = [(r"^model\.(shared|)", lambda found: "embed_tokens" if found[1] else ""),
          (r"^final_logits_bias", "lm_head.bias")]
BART = [*MARIAN, (r"^classification_head\.dense", "head.dense"), (r"^classification_head\.out_proj", "classifier")]
NAMES = {"bart": BART, "deberta-v2": DEBERTA, "electra": ELECTRA, "mpnet": MPNET, "albert": ALBERT, "bert": BERT, "roberta": BERT, "xlm-roberta": BERT, "distilbert": DISTILBERT, "gpt2": GPT2, "llama": LLAMA,
         "phi3": PHI3, "gemma2": GEMMA, "gemma3_text": GEMMA, "gpt_neox": GPT_NEOX, "mistral": LLAMA, "qwen2": LLAMA, "qwen3": LLAMA, "smollm3": LLAMA, "modernbert": MODERNBERT, "t5": T5, "mt5": T5,
         "marian": MARIAN, "m2m_100": BART, "mbart": BART}
# The heads of masked language models.
MASKED = [(r"^(cls\.predictions\.transform|lm_head|generator_predictions|predictions|head)\.dense", "lm_head.dense"),
          (r"^(cls\.predictions\.transform|generator_predictions|predictions)\.LayerNorm", "lm_head.layer_norm"),
          (r"^(cls\.predictions\.bias|predictions\.bias)", "lm_head.bias"),
          (r"^(cls\.predictions\.decoder|lm_head\.decoder|generator_lm_head|predictions\.decoder|decoder)\.", "lm_head."),
          (r"^vocab_transform", "lm_head.dense"), (r"^vocab_layer_norm|^head\.norm", "lm_head.layer_norm"),
          (r"^vocab_projector", "lm_head")]
PARTS = {"qkv": ("q_proj", "k_proj", "v_proj"), "gate_and_fc1": ("fc1_gate", "fc1")}


def split(config, matrix, tensor):
    """Returns the parts of a tensor for several of our matrices."""
    heads = config.num_attention_heads
    if config.model_type == "gpt_neox":  # the parts of one head after those of another
        parts = tensor.unflatten(0, (heads, 3, -1))
        return [parts[:, part].flatten(0, 1) for part in range(3)]
    if config.model_type == "phi3" and matrix == "qkv":
        keys = config.num_key_value_heads
        return tensor.unflatten(0, (heads + 2 * keys, -1)).split([heads, keys, keys])
    return tensor.chunk(len(PARTS[matrix]))


def ours(model, tensors):
    """Returns {our name: tensor} of {library's name: tensor}, in our shapes: matrices are [out, in]."""
    found = {}
    for name, tensor in tensors.items():
        if name == "final_logits_bias":
            tensor = tensor[0]
        if type(model.get_submodule(name.rpartition(".")[0])).__name__ == "Conv1D" and tensor.dim() > 1:
            tensor = tensor.T
        of_head = MASKED if type(model).__name__.endswith("ForMaskedLM") else []
        for pattern, replacement in [*of_head, *NAMES[model.config.model_type]]:
            name = re.sub(pattern, replacement, name)
        layer, _, kind = name.rpartition(".")
        block, _, matrix = layer.rpartition(".")
        parts = PARTS.get(matrix)
        if parts:
            for part, rows in zip(parts, split(model.config, matrix, tensor)):
                found[f"{block}.{part}.{kind}"] = rows.reshape(-1, *tensor.shape[1:])
        else:
            found[name] = tensor
    return found


# ---------------------------------------------------------------- the library in float64


class Exact(TorchFunctionMode):
    """Computes everything in float64, also where the library asks for float32. `attend` computes the softmax of
    attention scores.
    """

    def __init__(self, attend=None):
        super().__init__()
        self.attend = attend

    def __torch_function__(self, function, types, arguments=(), options=None):
        wider = lambda x: torch.float64 if x is torch.float32 else x
        arguments = tuple(wider(x) for x in arguments)
        options = {name: wider(x) for name, x in (options or {}).items()}
        if function is torch.Tensor.float:
            function = torch.Tensor.double
        if function is torch.nn.functional.softmax and self.attend:
            return self.attend(arguments[0])
        return function(*arguments, **options)


def exact_model(variant, model):
    """Returns the model in float64, with gradients for every parameter that is ours, and {library's name: parameter}."""
    config = copy.deepcopy(model.config)
    config._attn_implementation = "eager"
    if hasattr(config, "reorder_and_upcast_attn"):
        config.reorder_and_upcast_attn = False  # the same in another order, for float16
    with Exact():
        exact = folders.build(variant, config) if isinstance(variant, make.Variant) else type(model)(config)
        exact = exact.eval().double()
    exact.load_state_dict({name: value.double() for name, value in model.state_dict().items()})
    if model.can_generate():
        exact.generation_config = copy.deepcopy(model.generation_config)
    for module in exact.modules():
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None
    parameters = dict(exact.named_parameters())
    assert parameters.keys() == dict(model.named_parameters()).keys(), variant.name
    if isinstance(variant, translations.Variant):
        # The library computes positions without gradients, also where a file has a table of them.
        parameters = {name: x for name, x in parameters.items() if "embed_positions" not in name}
        parameters["final_logits_bias"] = exact.final_logits_bias
    for parameter in parameters.values():
        parameter.requires_grad_()
    return exact, parameters


# ---------------------------------------------------------------- traces


class Trace:
    """The tensors of one run, as the library computes with them, and how a named tensor is a part of them."""

    def __init__(self):
        self.tensors, self.views = {}, {}

    def add(self, name, tensor, view=lambda x: x[0], scale=1):
        if not tensor.requires_grad:  # a table of sinusoids
            tensor.requires_grad_()
        self.tensors[name], self.views[name] = tensor, (view, scale)

    def values(self):
        return {name: view(self.tensors[name].detach()) * scale for name, (view, scale) in self.views.items()}

    def gradients(self, y):
        found = derivatives.gradients(y, self.tensors)
        return {name: view(found[name]) / scale for name, (view, scale) in self.views.items()}


def stacks_of(names, model):
    """Returns {stack: (its module, its layers)}."""
    if hasattr(model, "get_decoder") and model.config.is_encoder_decoder:
        modules = {"encoder": model.get_encoder(), "decoder": model.get_decoder()}
    else:
        modules = {names.get("name", "encoder"): model.base_model}
    return {stack: (module, module.get_submodule(names["layers"])) for stack, module in modules.items()}


def attentions_of(layer):
    """Returns the attention modules of a layer: {our name: module}."""
    found = [module for module in layer.modules() if type(module).__name__.endswith("Attention")]
    found = [module for module in found if not any(other in found for other in list(module.modules())[1:])]
    return dict(zip(("self_attn", "encoder_attn"), found))


def heads_of(config, stack):
    return getattr(config, f"{stack}_attention_heads", None) or config.num_attention_heads


@contextlib.contextmanager
def patched(code, attend):
    theirs = code.eager_attention_forward
    code.eager_attention_forward = lambda module, q, k, v, *more, **options: (
        attend(module, q, k, v) or theirs(module, q, k, v, *more, **options))
    yield
    code.eager_attention_forward = theirs


def run(names, task, model, inputs, replaced=lambda name, x: x):
    """Runs one text. Returns the logits, [rows, C], and the trace. replaced(name, x): the numbers of a module's output."""
    trace, hooks, attending = Trace(), [], []

    def catch(full_name, module, what, heads=None, scale=1, calls=(0,)):
        def hook(_, arguments, output, calls=iter(calls)):
            call = next(calls, None)
            if call is None:  # a projection's second call, for distances
                return
            name = full_name.replace("CALL", str(call))
            tensor = arguments[0] if what.endswith("in") else output
            tensor = tensor.logits if what == "logits" else tensor
            tensor = tensor[0] if isinstance(tensor, tuple) else tensor
            tensor.data = replaced(name, tensor.data)
            if name.endswith("self_attn.qkv"):
                for i, part in enumerate("qkv"):
                    trace.add(name[:-3] + part, tensor, lambda x, i=i: x[0].chunk(3, -1)[i].unflatten(-1, (heads, -1)))
            elif what.startswith("heads"):
                trace.add(name, tensor, lambda x: x[0].unflatten(-1, (heads, -1)))
            elif what == "rows":
                trace.add(name, tensor, lambda x: x)
            else:
                trace.add(name, tensor, scale=scale)
        if what == "weight":
            trace.add(full_name, module.weight, lambda x: x)
        elif not isinstance(module, torch.nn.Identity):
            hooks.append(module.register_forward_hook(hook))

    def attend(scores):
        scores = scores.masked_fill(scores < -1e30, -torch.inf)
        weights = torch.softmax(scores, -1)
        trace.add(f"{attending[-1]}.scores", scores)
        trace.add(f"{attending[-1]}.weights", weights)
        return weights

    def record(module, q, k, v):
        for part, x in zip("qkv", (q, k, v)):
            trace.add(f"{attending[-1]}.{part}", x, lambda x: x[0].transpose(0, 1))

    stacks = stacks_of(names, model)
    for stack, (module, layers) in stacks.items():
        heads = heads_of(model.config, stack)
        for name, (part, what) in names["stack"].items():
            scale = module.embed_scale if what == "times embed_scale" else 1
            catch(f"{stack}.{name}", module.get_submodule(part), what, scale=scale)
        calls_of = traces.calls_of(names, model.config) if names.get("repeated") else [[l] for l in range(len(layers))]
        for calls, layer in zip(calls_of, layers):
            for name, (part, what) in (names["layer"] | names.get(stack, {})).items():
                part = part.replace("last", str(len(layer.layer) - 1)) if "last" in part else part
                catch(f"{stack}.layers.CALL.{name}", layer.get_submodule(part), what, heads, calls=calls)
            for name, attention in attentions_of(layer).items():
                hooks.append(attention.register_forward_pre_hook(
                    lambda *_, name=f"{stack}.layers.CALL.{name}", calls=iter(calls): attending.append(
                        name.replace("CALL", str(next(calls))))))
    for name, (part, what) in names.get("head", {}).get(task, {}).items():
        catch(name, model.get_submodule(part.format(base=model.base_model_prefix)), what)

    code = sys.modules[type(model).__module__]
    with Exact(attend), patched(code, record) if "attention" in names else contextlib.nullcontext():
        output = model(**inputs)
    for hook in hooks:
        hook.remove()
    for stack, (_, layers) in stacks.items():
        count = model.config.num_hidden_layers if names.get("repeated") else len(layers)
        last = f"{stack}.layers.{count - 1}.output"
        last = f"{stack}.layer_norm" if f"{stack}.layer_norm" in trace.tensors else last
        trace.add(f"{stack}.output", trace.tensors[last])
    if "logits" in output and len(stacks) == 2:
        trace.add("logits", output.logits)
    logits = trace.tensors["logits"][0]
    return logits if logits.dim() > 1 else logits[None], trace


def check_run(names, task, model, expected, inputs_of):
    """Compares the run with every tensor of expected.safetensors that a trace can name, with its logits and with the
    encoder's output.
    """
    for key in expected:
        kind, _, index = key.partition(".")
        if kind not in ("logits", "states"):
            continue
        logits, trace = run(names, task, model, inputs_of(*(int(i) for i in index.split("."))))
        found = logits.detach() if kind == "logits" else trace.values()["encoder.output"]
        derivatives.near(key, found.reshape(expected[key].shape), expected[key].double(), 2e-5)
    traced = {key.split("/")[0] for key in expected if "/" in key and not key.startswith("before")}
    for index in traced:
        values = run(names, task, model, inputs_of(int(index)))[1].values()
        theirs = {key.partition("/")[2]: x.double() for key, x in expected.items() if key.startswith(f"{index}/")}
        assert values.keys() == theirs.keys(), values.keys() ^ theirs.keys()
        for name, value in values.items():
            seen = ~torch.isinf(theirs[name])
            assert not value[~seen].isfinite().any(), name
            derivatives.near(name, value[seen], theirs[name][seen], 2e-5)


# ---------------------------------------------------------------- texts


class Texts:
    """The inputs of a checkpoint's texts."""

    def __init__(self, variant, model, texts):
        self.variant, self.model, self.texts, self.task = variant, model, texts, variant.task
        self.types = getattr(getattr(variant, "family", None), "inputs", []).count("token_type_ids") > 0
        self.start = model.generation_config.decoder_start_token_id if model.can_generate() else None

    def entry(self, index, window=0):
        text = self.texts[index]
        return text["windows"][window] if self.task == "answer" else text

    def inputs(self, ids, types=None, target=None):
        found = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
        if self.types:
            found["token_type_ids"] = torch.tensor([types])
        if target is not None:
            found["decoder_input_ids"] = torch.tensor([target])
        return found

    def expected(self, index, window=0):
        """Returns the inputs of expected.safetensors."""
        entry = self.entry(index, window)
        target = None
        if self.task in ("translate", "text2text"):
            written = entry["runs"][0]["ids"] if self.task == "text2text" else entry.get("output", [])
            target = [entry.get("start", self.start), *written[:-1]]
        return self.inputs(entry["ids"], entry.get("types"), target)

    def header(self):
        """Returns the text whose y is explained. Only the first tokens of a long text are continued. If all texts are
        very short, the model's own tokens follow the first one.
        """
        text = derivatives.chosen_text([len(self.entry(i)["ids"]) for i in range(len(self.texts))])
        entry = self.entry(text or 0)
        if self.task == "generate":
            more = [] if text is not None else entry["runs"][0]["ids"][:4]
            return {"text": text, "ids": [*entry["ids"][:PROMPT], *more], "types": None}
        header = {"text": text, "ids": entry["ids"], "types": entry["types"] if self.types else None}
        if self.task in ("translate", "text2text"):
            start = entry.get("start", self.start)
            header["target_ids"] = [start, *self.target(entry["ids"], start)]
        return header

    def target(self, ids, start):
        """Returns the first tokens of the greedy output, or made up ones."""
        end, written = self.model.generation_config.eos_token_id, []
        while len(written) < LONGEST:
            with torch.no_grad(), Exact():
                best = int(self.model(**self.inputs(ids, target=[start, *written])).logits[0, -1].argmax())
            if best == end:
                break
            written.append(best)
        return written if len(set(written)) > 2 else MADE_UP


# ---------------------------------------------------------------- files


def contrast_of(task, logits, entry):
    if task == "sequence":
        return derivatives.of_classes(logits)
    if task == "tokens":
        return derivatives.of_tokens(logits)
    if task == "masks":
        return derivatives.of_next(logits[: entry["masks"][0]["index"] + 1])
    if task == "answer":
        return derivatives.of_span(logits, [i for i, part in enumerate(entry["sequences"]) if part == 1])
    return derivatives.of_next(logits)


def make_gradients(folder, names, texts, parameters):
    model, header = texts.model, texts.header()
    inputs = texts.inputs(header["ids"], header["types"], header.get("target_ids"))
    logits, trace = run(names, texts.task, model, inputs)
    contrast = contrast_of(texts.task, logits.detach(), texts.entry(header["text"] or 0))
    y = derivatives.value(contrast, logits)
    found = derivatives.gradients(y, parameters)
    of_ours, of_trace, values = ours(model, found), trace.gradients(y), trace.values()
    derivatives.check_trace(of_trace)
    if not names.get("repeated"):  # else a matrix has the sum of several layers
        derivatives.check_layers(values, of_trace, of_ours, model.config.model_type == "deberta-v2")
    again = lambda: derivatives.value(contrast, run(names, texts.task, model, inputs)[0])
    derivatives.check_differences(again, parameters, found)
    derivatives.save_gradients(folder / "expected.", header, y, contrast, of_trace, of_ours)


def make_integrated(folder, names, texts):
    """Explains the number of expected.gradients.json."""
    model, found = texts.model, json.loads((folder / "expected.gradients.json").read_text())
    target, special = found.get("target_ids"), model.generation_config
    if found["text"] is None or texts.entry(found["text"])["ids"] != found["ids"]:
        return  # the tokens are not those of a text
    ids = {"decoder": target, "encoder": found["ids"]} if target else {"decoder": found["ids"]}
    ends = special.eos_token_id if isinstance(special.eos_token_id, list) else [special.eos_token_id]
    kept = {special.bos_token_id, *ends, special.pad_token_id, special.decoder_start_token_id} - {None}
    if isinstance(texts.variant, multilingual.Variant):
        kept |= set(multilingual.language_ids(texts.variant))

    def run_at(ids, moved):
        replaced = lambda name, x: moved(name.split(".")[0], x) if name.endswith(".embed_tokens") else x
        inputs = texts.inputs(ids.get("encoder", ids["decoder"]), found["types"], target and ids["decoder"])
        logits, trace = run(names, texts.task, model, inputs, replaced)
        embeddings = {stack: trace.tensors[f"{stack}.embed_tokens"] for stack in ids}
        return derivatives.value(found["contrast"], logits), embeddings

    header = {"text": found["text"], "target_ids": target}
    # A norm of embeddings alone removes their length: on the way from zeros, almost all changes near zero.
    rms = model.config.model_type == "gpt_neox" or any("RMSNorm" in type(module).__name__ or type(module).__name__.endswith("T5LayerNorm") for module in model.modules())
    scores = derivatives.integrated(run_at, ids, kept, BASELINE if rms else None)
    derivatives.save_integrated(folder / "expected.", header, found["contrast"], kept, scores)


def make_loss(folder, names, texts, parameters, chosen):
    entries = [texts.entry(text) for text in chosen]
    types = [entry["types"] for entry in entries] if texts.types else None
    header = {"ids": [entry["ids"] for entry in entries], "types": types}
    count = len(getattr(texts.variant, "labels", []))
    if texts.task == "tokens":  # every third token counts
        labels = [[(i + t) % count if t % 3 == 1 else None for t in range(len(ids))] for i, ids in enumerate(header["ids"])]
    else:
        labels = [[*ids[1:], None] for ids in header["ids"]]

    def loss_of():
        rows = []
        for i, ids in enumerate(header["ids"]):
            logits, _ = run(names, texts.task, texts.model, texts.inputs(ids, texts.types and header["types"][i]))
            rows += [(z, label) for z, label in zip(logits, labels[i]) if label is not None]
        return derivatives.smoothed_loss(rows)

    loss = loss_of()
    found = derivatives.gradients(loss, parameters)
    derivatives.check_differences(loss_of, parameters, found)
    derivatives.save_loss(folder / "expected.", header, labels, loss, ours(texts.model, found))


def load(variant):
    """Returns the library's model of a checkpoint, the same in float64, and its parameters."""
    folder = HERE / variant.name
    model_class = getattr(variant, "model_class", MarianMTModel)
    model, info = model_class.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
    assert not info["missing_keys"] and not info["mismatched_keys"], (variant.name, info)
    exact, parameters = exact_model(variant, model)
    formula = isinstance(variant, make.Variant) and variant.family.formula
    if formula:
        ids = (torch.arange(19) * 37 + 5) % model.config.vocab_size
        with torch.no_grad(), Exact():
            output = exact(input_ids=ids[None], attention_mask=torch.ones_like(ids)[None])
        derivatives.near("the formula", output[0][0], formula(folder).output(ids))
    return exact, parameters


def make_variant(variant):
    folder = HERE / variant.name
    model, parameters = load(variant)
    names = variant.family.trace if isinstance(variant, make.Variant) else getattr(variant, "names", traces.MARIAN)
    texts = Texts(variant, model, json.loads((folder / "expected.json").read_text())["texts"])
    check_run(names, variant.task, model, load_file(folder / "expected.safetensors"), texts.expected)
    make_gradients(folder, names, texts, parameters)
    if variant.task in ("generate", "translate", "text2text"):
        make_integrated(folder, names, texts)
    if variant.name in LOSSES:
        make_loss(folder, names, texts, parameters, LOSSES[variant.name])


def main():
    transformers.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    for variant in make.VARIANTS + translations.VARIANTS + multilingual.VARIANTS:
        wanted = not sys.argv[1:] or variant.name in sys.argv[1:]
        if wanted and not variant.same_as and variant.task != "embed" and variant.name not in LEFT_OUT:
            make_variant(variant)


if __name__ == "__main__":
    main()
