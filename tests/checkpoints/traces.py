"""The numbers between text and answer, recorded with hooks, under the engine's names."""

import sys

import torch

# Our name: (the library's module in the base model or in a layer, the recorded value). "in" and "out" are the
# first input and output, "heads" is the output split into heads, "heads in" is the input split into heads, "rows" is
# an output without a batch dimension, "weight" is the module's own.
BERT = {
    "layers": "encoder.layer",
    "stack": {
        "embed_tokens": ("embeddings.word_embeddings", "out"),
        "embed_positions": ("embeddings.position_embeddings", "out"),
        "embed_types": ("embeddings.token_type_embeddings", "out"),
        "embeddings": ("embeddings", "out"),
    },
    "layer": {
        "input": ("", "in"),
        "self_attn.q": ("attention.self.query", "heads"),
        "self_attn.k": ("attention.self.key", "heads"),
        "self_attn.v": ("attention.self.value", "heads"),
        "self_attn.context": ("attention.output.dense", "heads in"),
        "self_attn.output": ("attention.output.dense", "out"),
        "self_attn.residual": ("attention.output.LayerNorm", "in"),
        "self_attn_layer_norm": ("attention.output.LayerNorm", "out"),
        "fc1": ("intermediate", "out"),
        "fc2": ("output.dense", "out"),
        "final_layer_norm": ("output.LayerNorm", "out"),
        "output": ("", "out"),
    },
    # In the whole model. The task decides which of them exist.
    "head": {
        "sequence": {"pooled": ("{base}.pooler.dense", "in"), "head.dense": ("{base}.pooler", "out"),
                     "logits": ("classifier", "out")},
        "tokens": {"logits": ("classifier", "out")},
        "answer": {"logits": ("qa_outputs", "out")},
        "masks": {"head.dense": ("cls.predictions.transform.LayerNorm", "in"),
                  "head.layer_norm": ("cls.predictions.transform.LayerNorm", "out"), "logits": ("cls", "out")},
    },
}
GPT2 = {
    "name": "decoder",
    "layers": "h",
    "stack": {
        "embed_tokens": ("wte", "out"),
        "embed_positions": ("wpe", "out"),
        "embeddings": ("drop", "out"),
        "layer_norm": ("ln_f", "out"),
    },
    "layer": {
        "input": ("", "in"),
        "self_attn_layer_norm": ("ln_1", "out"),
        "self_attn.qkv": ("attn.c_attn", "out"),
        "self_attn.context": ("attn.c_proj", "heads in"),
        "self_attn.output": ("attn.c_proj", "out"),
        "self_attn.residual": ("ln_2", "in"),
        "final_layer_norm": ("ln_2", "out"),
        "fc1": ("mlp.act", "out"),
        "fc2": ("mlp.c_proj", "out"),
        "output": ("", "out"),
    },
    "head": {"generate": {"logits": ("lm_head", "out")}},
}
# In a model with rotary positions, "attention" is the module whose q, k and v are recorded at the dot product. "before" are q
# and k before their rotation.
LLAMA = {
    "name": "decoder",
    "layers": "layers",
    "attention": "self_attn",
    "before": {"q": ("self_attn.q_proj", "out"), "k": ("self_attn.k_proj", "out")},
    "stack": {
        "embed_tokens": ("embed_tokens", "out"),
        "embeddings": ("layers.0", "in"),
        "layer_norm": ("norm", "out"),
    },
    "layer": {
        "input": ("", "in"),
        "self_attn_layer_norm": ("input_layernorm", "out"),
        "self_attn.context": ("self_attn.o_proj", "heads in"),
        "self_attn.output": ("self_attn.o_proj", "out"),
        "self_attn.residual": ("post_attention_layernorm", "in"),
        "final_layer_norm": ("post_attention_layernorm", "out"),
        "fc1": ("mlp.down_proj", "in"),
        "fc2": ("mlp.down_proj", "out"),
        "output": ("", "out"),
    },
    "head": {"generate": {"logits": ("lm_head", "out")}},
}
PHI3 = LLAMA | {"before": {"q": ("self_attn.qkv_proj", "queries"), "k": ("self_attn.qkv_proj", "keys")}}
GEMMA2 = LLAMA | {
    "layer": LLAMA["layer"] | {
        "self_attn_output_norm": ("post_attention_layernorm", "out"),
        "self_attn.residual": ("pre_feedforward_layernorm", "in"),
        "final_layer_norm": ("pre_feedforward_layernorm", "out"),
        "fc2_output_norm": ("post_feedforward_layernorm", "out"),
    },
    "head": {"generate": {"logits": ("", "logits")}},  # after the cap
}
GEMMA3 = GEMMA2 | {"before": {"q": ("self_attn.q_norm", "first heads"), "k": ("self_attn.k_norm", "first heads")}}
# "attention" is called with one argument that has q, k and v of each head side by side.
GPT_NEOX = {
    "name": "decoder",
    "layers": "layers",
    "attention": "attention",
    "before": {"q": ("attention.query_key_value", "first part of heads"),
               "k": ("attention.query_key_value", "second part of heads")},
    "stack": {
        "embed_tokens": ("embed_in", "out"),
        "embeddings": ("layers.0", "in"),
        "layer_norm": ("final_layer_norm", "out"),
    },
    "layer": {
        "input": ("", "in"),
        "self_attn_layer_norm": ("input_layernorm", "out"),
        "self_attn.context": ("attention.dense", "heads in"),
        "self_attn.output": ("attention.dense", "out"),
        "final_layer_norm": ("post_attention_layernorm", "out"),
        "fc1": ("mlp.dense_4h_to_h", "in"),
        "fc2": ("mlp.dense_4h_to_h", "out"),
        "output": ("", "out"),
    },
    "head": {"generate": {"logits": ("embed_out", "out")}},
}
GPT_NEOX_IN_TURN = GPT_NEOX | {
    "layer": GPT_NEOX["layer"] | {"self_attn.residual": ("post_attention_layernorm", "in")}}
QWEN3 = LLAMA | {"before": {"q": ("self_attn.q_norm", "out"), "k": ("self_attn.k_norm", "out")}}
MODERNBERT = {
    "layers": "layers",
    "attention": "attn",
    "before": {"q": ("attn.Wqkv", "first third"), "k": ("attn.Wqkv", "second third")},
    "stack": {
        "embed_tokens": ("embeddings.tok_embeddings", "out"),
        "embeddings": ("embeddings", "out"),
        "layer_norm": ("final_norm", "out"),
    },
    "layer": {
        "input": ("", "in"),
        "self_attn_layer_norm": ("attn_norm", "out"),  # layer 0 has no norm
        "self_attn.context": ("attn.Wo", "heads in"),
        "self_attn.output": ("attn.Wo", "out"),
        "self_attn.residual": ("mlp_norm", "in"),
        "final_layer_norm": ("mlp_norm", "out"),
        "fc1": ("mlp.Wo", "in"),
        "fc2": ("mlp.Wo", "out"),
        "output": ("", "out"),
    },
    "head": {
        "sequence": {"pooled": ("head.dense", "in"), "head.dense": ("head.act", "out"),
                     "head.layer_norm": ("head.norm", "out"), "logits": ("classifier", "out")},
        "tokens": {"head.dense": ("head.act", "out"), "head.layer_norm": ("head.norm", "out"),
                   "logits": ("classifier", "out")},
        "masks": {"head.dense": ("head.act", "out"), "head.layer_norm": ("head.norm", "out"),
                  "logits": ("decoder", "out")},
    },
}
# For both stacks: "scale" is the exponent of a head's size by which scores are scaled, "last" is the number of a
# block's last part.
T5 = {
    "layers": "block",
    "scale": 0,
    "stack": {
        "embed_tokens": ("embed_tokens", "out"),
        "embeddings": ("block.0", "in"),
        "layer_norm": ("final_layer_norm", "out"),
    },
    "layer": {
        "input": ("", "in"),
        "self_attn_layer_norm": ("layer.0.layer_norm", "out"),
        "self_attn.q": ("layer.0.SelfAttention.q", "heads"),
        "self_attn.k": ("layer.0.SelfAttention.k", "heads"),
        "self_attn.v": ("layer.0.SelfAttention.v", "heads"),
        "self_attn.context": ("layer.0.SelfAttention.o", "heads in"),
        "self_attn.output": ("layer.0.SelfAttention.o", "out"),
        "self_attn.residual": ("layer.0", "out"),
        "final_layer_norm": ("layer.last.layer_norm", "out"),
        "fc1": ("layer.last.DenseReluDense.wo", "in"),
        "fc2": ("layer.last.DenseReluDense.wo", "out"),
        "output": ("", "out"),
    },
    "encoder": {},
    "decoder": {
        "encoder_attn_layer_norm": ("layer.1.layer_norm", "out"),
        "encoder_attn.q": ("layer.1.EncDecAttention.q", "heads"),
        "encoder_attn.k": ("layer.1.EncDecAttention.k", "heads"),
        "encoder_attn.v": ("layer.1.EncDecAttention.v", "heads"),
        "encoder_attn.context": ("layer.1.EncDecAttention.o", "heads in"),
        "encoder_attn.output": ("layer.1.EncDecAttention.o", "out"),
        "encoder_attn.residual": ("layer.1", "out"),
    },
}
MARIAN = {
    "layers": "layers",
    "scale": -0.5,
    "stack": {
        "embed_tokens": ("embed_tokens", "times embed_scale"),
        "embed_positions": ("embed_positions", "rows"),
        "embeddings": ("layers.0", "in"),
    },
    "layer": {
        "input": ("", "in"),
        "self_attn.q": ("self_attn.q_proj", "heads"),
        "self_attn.k": ("self_attn.k_proj", "heads"),
        "self_attn.v": ("self_attn.v_proj", "heads"),
        "self_attn.context": ("self_attn.out_proj", "heads in"),
        "self_attn.output": ("self_attn.out_proj", "out"),
        "self_attn.residual": ("self_attn_layer_norm", "in"),
        "self_attn_layer_norm": ("self_attn_layer_norm", "out"),
        "fc1": ("fc2", "in"),
        "fc2": ("fc2", "out"),
        "final_layer_norm": ("final_layer_norm", "out"),
        "output": ("", "out"),
    },
    "encoder": {},
    "decoder": {
        "encoder_attn.q": ("encoder_attn.q_proj", "heads"),
        "encoder_attn.k": ("encoder_attn.k_proj", "heads"),
        "encoder_attn.v": ("encoder_attn.v_proj", "heads"),
        "encoder_attn.context": ("encoder_attn.out_proj", "heads in"),
        "encoder_attn.output": ("encoder_attn.out_proj", "out"),
        "encoder_attn.residual": ("encoder_attn_layer_norm", "in"),
        "encoder_attn_layer_norm": ("encoder_attn_layer_norm", "out"),
    },
}
BART = MARIAN | {
    "stack": {
        "embed_tokens": ("embed_tokens", "out"),  # scaled
        "embed_positions": ("embed_positions", "out"),
        "embeddings": ("layernorm_embedding", "out"),
    },
    "head": {
        "sequence": {"pooled": ("classification_head.dense", "in"), "head.dense": ("classification_head.out_proj", "in"),
                     "logits": ("classification_head", "out")},
    },
}
# The norm of a sublayer reads the sum with the one before.
M2M_100 = BART | {
    "stack": {
        "embed_tokens": ("embed_tokens", "out"),  # scaled
        "embed_positions": ("embed_positions", "out"),
        "embeddings": ("layers.0", "in"),
        "layer_norm": ("layer_norm", "out"),
    },
    "encoder": {"self_attn.residual": ("final_layer_norm", "in")},
    "decoder": BART["decoder"] | {
        "self_attn.residual": ("encoder_attn_layer_norm", "in"),
        "encoder_attn.residual": ("final_layer_norm", "in"),
    },
}
MBART = M2M_100 | {"stack": M2M_100["stack"] | {"embeddings": ("layernorm_embedding", "out")}}
ROBERTA = BERT | {
    "head": BERT["head"] | {
        "masks": {"head.dense": ("lm_head.layer_norm", "in"), "head.layer_norm": ("lm_head.layer_norm", "out"),
                  "logits": ("lm_head", "out")},
        "sequence": {"pooled": ("classifier.dense", "in"), "head.dense": ("classifier.out_proj", "in"),
                     "logits": ("classifier", "out")},
    },
}
ELECTRA = ROBERTA | {
    "stack": BERT["stack"] | {"embeddings": ("encoder.layer.0", "in")},  # projected
    "head": ROBERTA["head"] | {
        "masks": {"head.dense": ("generator_predictions.LayerNorm", "in"),
                  "head.layer_norm": ("generator_predictions.LayerNorm", "out"), "logits": ("generator_lm_head", "out")},
    },
}
MPNET = ROBERTA | {
    "stack": {name: what for name, what in BERT["stack"].items() if name != "embed_types"},
    "layer": BERT["layer"] | {
        "self_attn.q": ("attention.attn.q", "heads"),
        "self_attn.k": ("attention.attn.k", "heads"),
        "self_attn.v": ("attention.attn.v", "heads"),
        "self_attn.context": ("attention.attn.o", "heads in"),
        "self_attn.output": ("attention.attn.o", "out"),
        "self_attn.residual": ("attention.LayerNorm", "in"),
        "self_attn_layer_norm": ("attention.LayerNorm", "out"),
    },
}
DEBERTA_PLAIN = BERT | {
    "stack": {name: what for name, what in BERT["stack"].items() if name not in ("embed_types", "embed_positions")},
    "layer": BERT["layer"] | {
        "self_attn.q": ("attention.self.query_proj", "heads"),
        "self_attn.k": ("attention.self.key_proj", "heads"),
        "self_attn.v": ("attention.self.value_proj", "heads"),
    },
    "head": BERT["head"] | {
        "sequence": {"pooled": ("pooler.dense", "in"), "head.dense": ("pooler", "out"), "logits": ("classifier", "out")},
    },
}
# With a table of distances: normed, without a norm, with learned positions and types in addition.
DEBERTA = DEBERTA_PLAIN | {"stack": DEBERTA_PLAIN["stack"] | {"relative_embeddings": ("encoder.LayerNorm", "rows")}}
DEBERTA_BARE = DEBERTA_PLAIN | {
    "stack": DEBERTA_PLAIN["stack"] | {"relative_embeddings": ("encoder.rel_embeddings", "weight")}}
DEBERTA_POSITIONS = DEBERTA_PLAIN | {"stack": BERT["stack"] | DEBERTA_BARE["stack"]}
# The library's layers are groups, one after another. Each is called several times.
ALBERT = {
    "layers": "encoder.albert_layer_groups",
    "repeated": True,
    "stack": {
        "embed_tokens": ("embeddings.word_embeddings", "out"),
        "embed_positions": ("embeddings.position_embeddings", "out"),
        "embed_types": ("embeddings.token_type_embeddings", "out"),
        "embeddings": ("encoder.embedding_hidden_mapping_in", "out"),
    },
    "layer": {
        "input": ("", "in"),
        "self_attn.q": ("albert_layers.0.attention.query", "heads"),
        "self_attn.k": ("albert_layers.0.attention.key", "heads"),
        "self_attn.v": ("albert_layers.0.attention.value", "heads"),
        "self_attn.context": ("albert_layers.0.attention.dense", "heads in"),
        "self_attn.output": ("albert_layers.0.attention.dense", "out"),
        "self_attn.residual": ("albert_layers.0.attention.LayerNorm", "in"),
        "self_attn_layer_norm": ("albert_layers.0.attention.LayerNorm", "out"),
        "fc1": ("albert_layers.0.ffn_output", "in"),
        "fc2": ("albert_layers.0.ffn_output", "out"),
        "final_layer_norm": ("albert_layers.0.full_layer_layer_norm", "out"),
        "output": ("", "out"),
    },
    "head": BERT["head"] | {
        "sequence": {"pooled": ("{base}.pooler", "in"), "head.dense": ("{base}.pooler_activation", "out"),
                     "logits": ("classifier", "out")},
        "masks": {"head.dense": ("predictions.LayerNorm", "in"), "head.layer_norm": ("predictions.LayerNorm", "out"),
                  "logits": ("predictions", "out")},
    },
}
DISTILBERT = {
    "layers": "transformer.layer",
    "stack": {
        "embed_tokens": ("embeddings.word_embeddings", "out"),
        "embed_positions": ("embeddings.position_embeddings", "out"),
        "embeddings": ("embeddings", "out"),
    },
    "layer": {
        "input": ("", "in"),
        "self_attn.q": ("attention.q_lin", "heads"),
        "self_attn.k": ("attention.k_lin", "heads"),
        "self_attn.v": ("attention.v_lin", "heads"),
        "self_attn.context": ("attention.out_lin", "heads in"),
        "self_attn.output": ("attention.out_lin", "out"),
        "self_attn.residual": ("sa_layer_norm", "in"),
        "self_attn_layer_norm": ("sa_layer_norm", "out"),
        "fc1": ("ffn.activation", "out"),
        "fc2": ("ffn.lin2", "out"),
        "final_layer_norm": ("output_layer_norm", "out"),
        "output": ("", "out"),
    },
    "head": BERT["head"] | {
        "sequence": {"pooled": ("pre_classifier", "in"), "head.dense": ("classifier", "in"),
                     "logits": ("classifier", "out")},
        "masks": {"head.dense": ("vocab_layer_norm", "in"), "head.layer_norm": ("vocab_layer_norm", "out"),
                  "logits": ("vocab_projector", "out")},
    },
}


def calls_of(names, config):
    """Returns, for each layer of the library's list, the numbers of the layers that it is."""
    layers = config.num_hidden_layers
    if not names.get("repeated"):
        return [[layer] for layer in range(layers)]
    groups = config.num_hidden_groups
    return [[layer for layer in range(layers) if layer * groups // layers == group] for group in range(groups)]


def trace(variant, model, inputs):
    """Returns every named tensor of a run on one text, without the batch dimension."""
    names = variant.family.trace
    base_name = model.base_model_prefix if hasattr(model, model.base_model_prefix) else ""
    base = getattr(model, base_name) if base_name else model
    layers = base.get_submodule(names["layers"])
    heads = base.config.num_attention_heads
    stack = names.get("name", "encoder")
    causal = stack == "decoder"
    found, hooks = {}, []

    def catch(full_name, module, what, calls=(0,)):
        if isinstance(module, torch.nn.Identity):  # the model has no such module
            return
        if what == "weight":
            found[full_name] = module.weight.detach().clone()
            return

        def hook(_, arguments, output, calls=iter(calls)):
            call = next(calls, None)
            if call is None:  # a projection's second call, for distances
                return
            name = full_name.replace("CALL", str(call))
            value = arguments[0] if what.endswith("in") else output
            value = value.logits if what == "logits" else value
            value = (value[0] if isinstance(value, tuple) else value).detach()
            value = value if what == "rows" else value[0]
            if what in ("queries", "keys"):  # of one matrix for q, k and v
                d = getattr(base.config, "head_dim", base.config.hidden_size // heads)
                end = (heads + base.config.num_key_value_heads) * d
                value = value[:, : heads * d] if what == "queries" else value[:, heads * d : end]
            if what == "first heads":  # [heads, T, d]
                value = value.transpose(0, 1)
            if what.endswith("part of heads"):
                value = value.unflatten(-1, (heads, 3, -1))[:, :, int(what.startswith("second"))]
            if what.startswith("heads"):
                value = value.unflatten(-1, (heads, -1))
            if what.endswith("third"):
                value = value.chunk(3, -1)[what == "second third"]
            found[name] = value.clone()
        hooks.append(module.register_forward_hook(hook))

    for name, (module, what) in names["stack"].items():
        catch(f"{stack}.{name}", base.get_submodule(module), what)
    for calls, layer in zip(calls_of(names, base.config), layers):
        for name, (module, what) in names["layer"].items():
            catch(f"{stack}.layers.CALL.{name}", layer.get_submodule(module), what, calls)
        for name, (module, what) in names.get("before", {}).items():
            catch(f"before.{stack}.layers.CALL.self_attn.{name}", layer.get_submodule(module), what, calls)
    for name, (module, what) in names["head"].get(variant.task, {}).items():
        catch(name, model.get_submodule(module.format(base=base_name)), what)
    if "attention" in names:
        output = turned(names, layers, found, stack, lambda: model(**inputs, output_attentions=True))
    else:
        with torch.no_grad():
            output = model(**inputs, output_attentions=True)
    for hook in hooks:
        hook.remove()

    for l, weights in enumerate(output.attentions if "attention" not in names else []):
        attention = f"{stack}.layers.{l}.self_attn"
        if f"{attention}.qkv" in found:
            parts = found.pop(f"{attention}.qkv").chunk(3, -1)
            found |= {f"{attention}.{part}": x.unflatten(-1, (heads, -1)) for part, x in zip("qkv", parts)}
        q, k, v = (found[f"{attention}.{part}"].transpose(0, 1) for part in "qkv")
        scores = q @ k.transpose(1, 2) * q.shape[-1] ** -0.5
        if model.config.model_type == "deberta-v2":
            scores = disentangled(base.encoder, l, q, k)
        if model.config.model_type == "mpnet":
            with torch.no_grad():
                scores = scores + base.encoder.compute_position_bias(q.transpose(0, 1)[None])[0]
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf)
        found[f"{attention}.scores"], found[f"{attention}.weights"] = scores, weights[0]
        near(torch.softmax(scores, -1), weights[0])
        near((weights[0] @ v).transpose(0, 1), found[f"{attention}.context"])
    last = f"{stack}.layers.{base.config.num_hidden_layers - 1}.output"
    found[f"{stack}.output"] = found.get(f"{stack}.layer_norm", found[last])
    return found


def disentangled(encoder, layer, q, k):
    """Returns the scores of a layer whose products with distances the library computes: [heads, T, T]."""
    attention = encoder.layer[layer].attention.self
    terms = 1 + len(set(attention.pos_att_type))
    scores = q @ k.transpose(1, 2) * (terms * q.shape[-1]) ** -0.5
    if not attention.relative_attention:
        return scores
    with torch.no_grad():
        return scores + attention.disentangled_attention_bias(q, k, None, encoder.get_rel_embedding(), terms)


def turned(names, layers, found, stack, run):
    """Runs a model with rotary positions, and records the inputs of the library's attention function: q
    [T, heads, d_head], k and v [T, n_kv_heads, d_head]. Returns the result of `run`."""
    attentions = [layer.get_submodule(names["attention"]) for layer in layers]
    code = sys.modules[type(attentions[0]).__module__]
    theirs = code.eager_attention_forward

    def attend(module, q, k, v, mask, scaling, **more):
        context, weights = theirs(module, q, k, v, mask, scaling=scaling, **more)
        name = f"{stack}.layers.{attentions.index(module)}.self_attn"
        for part, x in zip("qkv", (q, k, v)):
            found[f"{name}.{part}"] = x[0].transpose(0, 1).clone()
        for part in "qk":
            found[f"before.{name}.{part}"] = found[f"before.{name}.{part}"].reshape(found[f"{name}.{part}"].shape)
        each = q.shape[1] // k.shape[1]  # query heads of one key and value head
        keys, values = (x[0].repeat_interleave(each, 0) for x in (k, v))
        scores = q[0] @ keys.transpose(1, 2) * scaling
        if cap := more.get("softcap"):
            scores = cap * torch.tanh(scores / cap)
        if mask is not None:
            assert set(mask.unique().tolist()) <= {0.0, torch.finfo(mask.dtype).min}
            scores = scores.masked_fill(mask[0] < 0, -torch.inf)
        assert scaling == getattr(module.config, "query_pre_attn_scalar", q.shape[-1]) ** -0.5
        found[f"{name}.scores"], found[f"{name}.weights"] = scores, weights[0]
        near(torch.softmax(scores, -1), weights[0])
        near((weights[0] @ values).transpose(0, 1), context[0])
        return context, weights

    code.eager_attention_forward = attend
    try:
        with torch.no_grad():
            return run()
    finally:
        code.eager_attention_forward = theirs


def trace_both(names, model, inputs, head=None):
    """Returns every named tensor of a run through two stacks and, with the names of its tensors, a head."""
    found, hooks = {}, []
    stacks = {"encoder": model.get_encoder(), "decoder": model.get_decoder()}
    layers = {stack: module.get_submodule(names["layers"]) for stack, module in stacks.items()}

    def catch(full_name, module, what, stack=None):
        def hook(_, arguments, output):
            value = arguments[0] if what.endswith("in") else output
            value = (value[0] if isinstance(value, tuple) else value).detach()
            value = value if what == "rows" else value[0]
            if what.startswith("heads"):
                heads = getattr(model.config, f"{stack}_attention_heads", None) or model.config.num_heads
                value = value.unflatten(-1, (heads, -1))
            if what == "times embed_scale":
                value = value * stacks[stack].embed_scale
            found[full_name] = value.clone()
        hooks.append(module.register_forward_hook(hook))

    for stack, module in stacks.items():
        for name, (part, what) in names["stack"].items():
            catch(f"{stack}.{name}", module.get_submodule(part), what, stack)
        for l, block in enumerate(layers[stack]):
            for name, (part, what) in (names["layer"] | names[stack]).items():
                if "last" in part:
                    part = part.replace("last", str(len(block.layer) - 1))
                catch(f"{stack}.layers.{l}.{name}", block.get_submodule(part), what, stack)
    for name, (part, what) in (head or {}).items():
        catch(name, model.get_submodule(part), what)
    with torch.no_grad():
        output = model(**inputs, output_attentions=True)
    for hook in hooks:
        hook.remove()
    found["logits"] = output.logits[0]

    def add_maps(attention, weights, bias, causal):
        q, k, v = (found[f"{attention}.{part}"].transpose(0, 1) for part in "qkv")
        scores = q @ k.transpose(1, 2) * q.shape[-1] ** names["scale"] + bias
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf)
        found[f"{attention}.scores"], found[f"{attention}.weights"] = scores, weights[0]
        near(torch.softmax(scores, -1), weights[0])
        near((weights[0] @ v).transpose(0, 1), found[f"{attention}.context"])

    for stack in stacks:
        length, bias = found[f"{stack}.embed_tokens"].shape[0], 0
        if hasattr(layers[stack][0], "layer"):
            with torch.no_grad():
                bias = layers[stack][0].layer[0].SelfAttention.compute_bias(length, length)[0]
        for l, weights in enumerate(output[f"{stack}_attentions"]):
            add_maps(f"{stack}.layers.{l}.self_attn", weights, bias, stack == "decoder")
        last = f"{stack}.layers.{len(layers[stack]) - 1}.output"
        found[f"{stack}.output"] = found.get(f"{stack}.layer_norm", found[last])
    for l, weights in enumerate(output.cross_attentions):
        add_maps(f"decoder.layers.{l}.encoder_attn", weights, 0, False)
    return found


def near(a, b, tolerance=2e-5):
    assert (a - b).abs().max() <= tolerance, float((a - b).abs().max())
