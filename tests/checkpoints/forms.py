"""How published checkpoints differ from what the library saves today."""

import json
import pathlib

import torch


def disordered(config):
    """id2label in another order than its numbers."""
    names = config["id2label"]
    config["id2label"] = {key: names[key] for key in sorted(names, key=lambda key: (int(key) * 7 + 2) % 11)}
    return config


def without(*keys):
    """config.json without some keys: the library falls back to its defaults."""
    return lambda config: {key: value for key, value in config.items() if key not in keys}


def of_2019(config):
    """The keys that the first BERTs had."""
    keys = ("architectures", "attention_probs_dropout_prob", "hidden_act", "hidden_dropout_prob",
            "hidden_size", "id2label", "initializer_range", "intermediate_size", "label2id",
            "max_position_embeddings", "model_type", "num_attention_heads", "num_hidden_layers",
            "type_vocab_size", "vocab_size")
    more = {"directionality": "bidi", "pooler_fc_size": 768, "pooler_type": "first_token_transform",
            "output_past": True}
    return {key: config[key] for key in keys} | more


def as_camembert(config):
    """The same computation under another model_type; the tensors keep their names. What the head is can
    be seen from them alone."""
    return without("architectures")(config) | {"model_type": "camembert"}


def of_2020(config):
    """The keys of the time when the type of numbers was torch_dtype."""
    config = dict(config)
    config["torch_dtype"] = config.pop("dtype")
    return config | {"gradient_checkpointing": False, "position_embedding_type": "absolute",
                     "transformers_version": "4.8.2"}


def of_t5(config):
    """The keys of the first T5s, some of which no code reads."""
    keys = ("d_ff", "d_kv", "d_model", "decoder_start_token_id", "dropout_rate", "eos_token_id",
            "initializer_factor", "is_encoder_decoder", "layer_norm_epsilon", "model_type", "num_heads",
            "num_layers", "pad_token_id", "relative_attention_num_buckets", "vocab_size")
    summaries = {"early_stopping": True, "length_penalty": 2.0, "max_length": 200, "min_length": 30,
                 "no_repeat_ngram_size": 3, "num_beams": 4, "prefix": "summarize: "}
    more = {"architectures": ["T5WithLMHeadModel"], "n_positions": 512, "output_past": True,
            "task_specific_params": {"summarization": summaries}}
    return {key: config[key] for key in keys} | more


def of_flan_t5(config):
    """What the library wrote when Flan-T5 was made, and reads as its own scale_decoder_outputs today."""
    return without("scale_decoder_outputs")(config) | {"tie_word_embeddings": False}


def of_4(*keys, **more):
    """The keys of transformers 4: torch_dtype, and rope_theta and rope_scaling instead of rope_parameters. `keys` are
    left out, `more` are set."""
    def change(config):
        config = without(*keys)(config)
        rope = dict(config.pop("rope_parameters"))
        theta = rope.pop("rope_theta")
        scaling = {"rope_theta": theta, "rope_scaling": None if rope == {"rope_type": "default"} else rope}
        return of_dtype(config, "4.45.0") | scaling | more
    return change


def of_dtype(config, version):
    """What every config.json of transformers 4 says in this way."""
    config = dict(config)
    config["torch_dtype"] = config.pop("dtype")
    config.pop("layer_types", None)
    return config | {"transformers_version": version}


def of_modernbert(config):
    """The keys of the first ModernBERTs, some of which no code reads."""
    parts = config["rope_parameters"]
    config = of_dtype(without("rope_parameters")(config), "4.47.0.dev0")
    return config | {"global_attn_every_n_layers": 3, "global_rope_theta": parts["full_attention"]["rope_theta"],
                     "local_rope_theta": parts["sliding_attention"]["rope_theta"], "gradient_checkpointing": False,
                     "layer_norm_eps": 1e-12, "position_embedding_type": "absolute", "reference_compile": None}


def copied(name, *copies):
    """A tensor under further names."""
    return lambda tensors: tensors | {copy: tensors[name].clone() for copy in copies}


def extended(tensors, shapes):
    """With further tensors, of other values than any that are needed."""
    random = torch.Generator().manual_seed(len(tensors))
    more = {}
    for name, shape in shapes.items():
        if name.endswith("position_ids"):
            more[name] = torch.arange(shape[1]).expand(shape)
        else:
            more[name] = torch.randn(shape, generator=random).to(next(iter(tensors.values())).dtype)
    return tensors | more


def foreign(shapes):
    """Tensors of other tasks' heads and of buffers, left in."""
    return lambda tensors: extended(tensors, shapes)


def old_names(tensors):
    """gamma and beta, as the first BERTs called the norms' weights."""
    def rename(name):
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    return {rename(name): tensor for name, tensor in tensors.items()}


def bare(prefix):
    """Without the base model's prefix; the heads keep their names."""
    return lambda tensors: {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}


def in_turn(*changes):
    def change(value):
        for one in changes:
            value = one(value)
        return value
    return change


def cut_and_padded(file):
    """tokenizer.json's own truncation and padding, which are for the library's batches only."""
    file["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    file["padding"] = {"strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": None,
                       "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}


def with_extra_ids(file):
    """SentencePiece's normalizer, and the tokens that T5 puts behind its vocabulary, the last one first."""
    precompiled = pathlib.Path(__file__).parent.parent / "data" / "tokenizers" / "precompiled.json"
    file["normalizer"] = json.loads(precompiled.read_text())["normalizer"]
    known = file["added_tokens"][0]
    for i in range(10):
        token = f"<extra_id_{9 - i}>"
        file["added_tokens"].append(known | {"id": len(file["model"]["vocab"]), "content": token})
        file["model"]["vocab"].append([token, 0.0])


def random_weights(seed, shapes):
    """Numbers that F16 holds exactly."""
    random = torch.Generator().manual_seed(seed)
    return {name: (torch.randn(shape, generator=random) / shape[-1] ** 0.5).half()
            for name, shape in shapes.items()}


def dense(seed, inputs, outputs, activation, bias=True):
    """A Dense of sentence-transformers; no activation: the file names none."""
    shapes = {"linear.weight": [outputs, inputs]} | ({"linear.bias": [outputs]} if bias else {})
    module = "linear" if activation == "Identity" else "activation"
    named = {"activation_function": f"torch.nn.modules.{module}.{activation}"} if activation else {}
    config = {"in_features": inputs, "out_features": outputs, "bias": bias} | named
    return "Dense", {"config.json": config, "model.safetensors": random_weights(seed, shapes)}


def layer_norm(seed, size):
    return "LayerNorm", {"config.json": {"dimension": size}, "model.safetensors": random_weights(
        seed, {"norm.weight": [size], "norm.bias": [size]})}


def pooling(width, modes, **more):
    """As version 5.4 and later write it."""
    return "Pooling", {"config.json": {"embedding_dimension": width, "pooling_mode": modes} | more}


def old_pooling(width, modes):
    known = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens",
             "lasttoken")
    return "Pooling", {"config.json": {"word_embedding_dimension": width}
                       | {f"pooling_mode_{mode}": mode in modes for mode in known}}


def modules(*rest, transformer="", max_length=None, prompts=None):
    """The files that a folder of sentence-transformers has besides the checkpoint; `transformer`: the
    checkpoint's own folder."""
    listed, files = [("Transformer", transformer)], {}
    for i, (name, own) in enumerate(rest):
        path = f"{i + 1}_{name}"
        listed.append((name, path))
        files |= {f"{path}/{file}": value for file, value in own.items()}
    files["modules.json"] = [{"idx": i, "name": str(i), "path": path,
                              "type": f"sentence_transformers.models.{name}"}
                             for i, (name, path) in enumerate(listed)]
    files["config_sentence_transformers.json"] = {"__version__": {
        "sentence_transformers": "2.0.0", "transformers": "4.6.1", "pytorch": "1.8.1"}} | (prompts or {})
    if transformer:  # what the library once called config_sentence_transformers.json
        files["config.json"] = {"__version__": "0.2.5"}
    if max_length:
        limits = {"max_seq_length": max_length, "do_lower_case": False}
        files[f"{transformer}/sentence_bert_config.json".lstrip("/")] = limits
    return files


NORMALIZE = ("Normalize", {})


def sentence_transformers(width, modes, normalize, max_length=None):
    """The usual modules: a pooling and, perhaps, Normalize."""
    return modules(old_pooling(width, modes), *[NORMALIZE] * normalize, max_length=max_length)


def renamed(old, new):
    """A tensor under another name."""
    return lambda tensors: {new if name == old else name: tensor for name, tensor in tensors.items()}
