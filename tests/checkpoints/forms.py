"""Differences between published checkpoints and the files that the library saves today."""

import json
import pathlib

import torch


def disordered(config):
    """Reorders id2label, so that its order differs from its numbers."""
    names = config["id2label"]
    config["id2label"] = {key: names[key] for key in sorted(names, key=lambda key: (int(key) * 7 + 2) % 11)}
    return config


def without(*keys):
    """Removes keys from config.json: the library then uses its defaults."""
    return lambda config: {key: value for key, value in config.items() if key not in keys}


def of_2019(config):
    """Returns the keys of the first BERT models."""
    keys = ("architectures", "attention_probs_dropout_prob", "hidden_act", "hidden_dropout_prob",
            "hidden_size", "id2label", "initializer_range", "intermediate_size", "label2id",
            "max_position_embeddings", "model_type", "num_attention_heads", "num_hidden_layers",
            "type_vocab_size", "vocab_size")
    more = {"directionality": "bidi", "pooler_fc_size": 768, "pooler_type": "first_token_transform",
            "output_past": True}
    return {key: config[key] for key in keys} | more


def as_camembert(config):
    """Returns another model_type for the same computation. The tensors keep their names, and only they show
    the head."""
    return without("architectures")(config) | {"model_type": "camembert"}


def of_2020(config):
    """Returns the keys of the versions that stored the number type as torch_dtype."""
    config = dict(config)
    config["torch_dtype"] = config.pop("dtype")
    return config | {"gradient_checkpointing": False, "position_embedding_type": "absolute",
                     "transformers_version": "4.8.2"}


def of_t5(config):
    """Returns the keys of the first T5 models. No code reads some of them."""
    keys = ("d_ff", "d_kv", "d_model", "decoder_start_token_id", "dropout_rate", "eos_token_id",
            "initializer_factor", "is_encoder_decoder", "layer_norm_epsilon", "model_type", "num_heads",
            "num_layers", "pad_token_id", "relative_attention_num_buckets", "vocab_size")
    summaries = {"early_stopping": True, "length_penalty": 2.0, "max_length": 200, "min_length": 30,
                 "no_repeat_ngram_size": 3, "num_beams": 4, "prefix": "summarize: "}
    more = {"architectures": ["T5WithLMHeadModel"], "n_positions": 512, "output_past": True,
            "task_specific_params": {"summarization": summaries}}
    return {key: config[key] for key in keys} | more


def of_bart(config):
    """Returns the keys of the first BART that classifies. It has no decoder_start_token_id."""
    more = {"_num_labels": 3, "add_final_layer_norm": False, "classif_dropout": 0.0, "gradient_checkpointing": False,
            "normalize_before": False, "output_past": False}
    return without("decoder_start_token_id", "tie_word_embeddings", "dtype")(config) | more


def of_flan_t5(config):
    """Returns the keys of the library at the time of Flan-T5. Today it reads them as scale_decoder_outputs."""
    return without("scale_decoder_outputs")(config) | {"tie_word_embeddings": False}


def of_4(*keys, **more):
    """Returns the keys of transformers 4: torch_dtype, and rope_theta and rope_scaling instead of rope_parameters.
    Removes `keys` and sets `more`."""
    def change(config):
        config = without(*keys)(config)
        rope = dict(config.pop("rope_parameters"))
        theta = rope.pop("rope_theta")
        scaling = {"rope_theta": theta, "rope_scaling": None if rope == {"rope_type": "default"} else rope}
        return of_dtype(config, "4.45.0") | scaling | more
    return change


def of_dtype(config, version):
    """Renames dtype to torch_dtype, removes layer_types and sets the version, as in config.json of transformers 4."""
    config = dict(config)
    config["torch_dtype"] = config.pop("dtype")
    config.pop("layer_types", None)
    return config | {"transformers_version": version}


def of_gemma3(config):
    """Returns the keys of transformers 4: a pattern instead of a list of types, and two bases."""
    parts = config["rope_parameters"]
    config = of_dtype(without("rope_parameters", "layer_types", "_sliding_window_pattern")(config), "4.50.0")
    full = dict(parts["full_attention"])
    return config | {"sliding_window_pattern": 3, "rope_theta": full.pop("rope_theta"), "rope_scaling": full,
                     "rope_local_base_freq": parts["sliding_attention"]["rope_theta"]}


def of_gpt_neox(config):
    """Returns the keys of transformers 4."""
    rope = config["rope_parameters"]
    config = of_dtype(without("rope_parameters")(config), "4.24.0")
    return config | {"rotary_emb_base": int(rope["rope_theta"]), "rotary_pct": rope["partial_rotary_factor"]}


def of_dtype_4(config):
    """Returns the keys of transformers 4."""
    return of_dtype(config, "4.30.0")


def of_deberta(config):
    """Returns the keys of DeBERTa-v3: the products as one text, and keys that no code reads."""
    return of_dtype_4(config) | {"pos_att_type": "|".join(config["pos_att_type"]), "pooler_dropout": 0,
                                 "pooler_hidden_size": config["hidden_size"]}


def of_modernbert(config):
    """Returns the keys of the first ModernBERT models. No code reads some of them."""
    parts = config["rope_parameters"]
    config = of_dtype(without("rope_parameters")(config), "4.47.0.dev0")
    return config | {"global_attn_every_n_layers": 3, "global_rope_theta": parts["full_attention"]["rope_theta"],
                     "local_rope_theta": parts["sliding_attention"]["rope_theta"], "gradient_checkpointing": False,
                     "layer_norm_eps": 1e-12, "position_embedding_type": "absolute", "reference_compile": None}


def copied(name, *copies):
    """Stores a tensor under further names."""
    return lambda tensors: tensors | {copy: tensors[name].clone() for copy in copies}


def extended(tensors, shapes):
    """Adds tensors whose values differ from all that are needed."""
    random = torch.Generator().manual_seed(len(tensors))
    more = {}
    for name, shape in shapes.items():
        if name.endswith("position_ids"):
            more[name] = torch.arange(shape[1]).expand(shape)
        else:
            more[name] = torch.randn(shape, generator=random).to(next(iter(tensors.values())).dtype)
    return tensors | more


def foreign(shapes):
    """Adds tensors of other tasks' heads and of buffers."""
    return lambda tensors: extended(tensors, shapes)


def old_names(tensors):
    """Renames the norms' weights to gamma and beta, as in the first BERT models."""
    def rename(name):
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    return {rename(name): tensor for name, tensor in tensors.items()}


def bare(prefix):
    """Removes the base model's prefix. The heads keep their names."""
    return lambda tensors: {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}


def in_turn(*changes):
    def change(value):
        for one in changes:
            value = one(value)
        return value
    return change


def cut_and_padded(file):
    """Sets truncation and padding in tokenizer.json, which only apply to the library's batches."""
    file["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    file["padding"] = {"strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": None,
                       "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}


def with_extra_ids(file):
    """Adds SentencePiece's normalizer, and the tokens that T5 appends to its vocabulary in reverse order."""
    precompiled = pathlib.Path(__file__).parent.parent / "data" / "tokenizers" / "precompiled.json"
    file["normalizer"] = json.loads(precompiled.read_text())["normalizer"]
    known = file["added_tokens"][0]
    for i in range(10):
        token = f"<extra_id_{9 - i}>"
        file["added_tokens"].append(known | {"id": len(file["model"]["vocab"]), "content": token})
        file["model"]["vocab"].append([token, 0.0])


def random_weights(seed, shapes):
    """Returns numbers that F16 holds exactly."""
    random = torch.Generator().manual_seed(seed)
    return {name: (torch.randn(shape, generator=random) / shape[-1] ** 0.5).half()
            for name, shape in shapes.items()}


def dense(seed, inputs, outputs, activation, bias=True):
    """Returns a Dense module of sentence-transformers. Without an activation, the file names none."""
    shapes = {"linear.weight": [outputs, inputs]} | ({"linear.bias": [outputs]} if bias else {})
    module = "linear" if activation == "Identity" else "activation"
    named = {"activation_function": f"torch.nn.modules.{module}.{activation}"} if activation else {}
    config = {"in_features": inputs, "out_features": outputs, "bias": bias} | named
    return "Dense", {"config.json": config, "model.safetensors": random_weights(seed, shapes)}


def layer_norm(seed, size):
    return "LayerNorm", {"config.json": {"dimension": size}, "model.safetensors": random_weights(
        seed, {"norm.weight": [size], "norm.bias": [size]})}


def pooling(width, modes, **more):
    """Returns the pooling module as version 5.4 and later write it."""
    return "Pooling", {"config.json": {"embedding_dimension": width, "pooling_mode": modes} | more}


def old_pooling(width, modes):
    known = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens",
             "lasttoken")
    return "Pooling", {"config.json": {"word_embedding_dimension": width}
                       | {f"pooling_mode_{mode}": mode in modes for mode in known}}


def modules(*rest, transformer="", max_length=None, prompts=None):
    """Returns the files of a sentence-transformers folder other than the checkpoint. `transformer` is the
    checkpoint's folder."""
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
    if transformer:  # an old name of config_sentence_transformers.json
        files["config.json"] = {"__version__": "0.2.5"}
    if max_length:
        limits = {"max_seq_length": max_length, "do_lower_case": False}
        files[f"{transformer}/sentence_bert_config.json".lstrip("/")] = limits
    return files


NORMALIZE = ("Normalize", {})


def sentence_transformers(width, modes, normalize, max_length=None):
    """Returns the usual modules: a pooling and optionally Normalize."""
    return modules(old_pooling(width, modes), *[NORMALIZE] * normalize, max_length=max_length)


def renamed(old, new):
    """Renames a tensor."""
    return lambda tensors: {new if name == old else name: tensor for name, tensor in tensors.items()}
