"""What the original library answers where an encoder reads a text and a decoder writes another."""

import torch

from results import CHANCES, NEW_TOKENS, RUNS, chances, continued
from traces import near


def text_to_text(results):
    """Answers: the library's own generate(); what the first run below read and wrote, number by number."""
    start = torch.tensor([[results.model.config.decoder_start_token_id]])
    ended = 0
    for index, entry, inputs in results.each():
        entry["runs"] = [continued(results, inputs, options) for options in RUNS]
        ids = entry["runs"][0]["ids"]
        entry["answer"] = results.tokenizer.decode(ids, skip_special_tokens=True)
        ended += ids[-1] == results.model.config.eos_token_id
        both = inputs | {"decoder_input_ids": torch.cat([start, torch.tensor([ids[:-1]]).long()], 1)}
        output = results.run(both)
        for kind in ("encoder", "decoder", "cross"):
            results.keep(f"{kind}.{index}", torch.cat([weights[:1] for weights in output[f"{kind}_attentions"]]))
        results.keep(f"states.{index}", output.encoder_last_hidden_state[0])
        results.keep(f"logits.{index}", output.logits[0])
        if index == results.variant.traced:
            for name, tensor in trace(results.variant.family.trace, results.model, both).items():
                results.keep(f"{index}/{name}", tensor)
        first = {"input_ids": start}
        entry["next"] = [chances(results, first, output.logits[0, :1], options) for options in CHANCES]
    longest = max(len(text["runs"][0]["ids"]) for text in results.texts)
    assert ended and longest > 3, (results.variant.name, ended, longest)
    return {"new_tokens": NEW_TOKENS}


def trace(names, model, inputs):
    """Every named tensor of a run, without the batch's dimension."""
    found, hooks = {}, []

    def catch(name, module, what):
        def hook(_, arguments, output):
            value = arguments[0] if what.endswith("in") else output
            value = (value[0] if isinstance(value, tuple) else value).detach()[0]
            if what.startswith("heads"):
                value = value.unflatten(-1, (model.config.num_heads, -1))
            found[name] = value.clone()
        hooks.append(module.register_forward_hook(hook))

    stacks = {"encoder": model.encoder, "decoder": model.decoder}
    for stack, module in stacks.items():
        for name, (part, what) in names["stack"].items():
            catch(f"{stack}.{name}", module.get_submodule(part), what)
        for l, block in enumerate(module.block):
            for name, (part, what) in (names["layer"] | names[stack]).items():
                part = part.replace("last", str(len(block.layer) - 1))
                catch(f"{stack}.layers.{l}.{name}", block.get_submodule(part), what)
    catch("logits", model.lm_head, "out")
    with torch.no_grad():
        output = model(**inputs, output_attentions=True)
    for hook in hooks:
        hook.remove()

    def add_maps(attention, weights, bias, causal):
        q, k, v = (found[f"{attention}.{part}"].transpose(0, 1) for part in "qkv")
        scores = q @ k.transpose(1, 2) + bias
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf)
        found[f"{attention}.scores"], found[f"{attention}.weights"] = scores, weights[0]
        near(torch.softmax(scores, -1), weights[0])
        near((weights[0] @ v).transpose(0, 1), found[f"{attention}.context"])

    for stack, module in stacks.items():
        length = found[f"{stack}.embed_tokens"].shape[0]
        with torch.no_grad():
            bias = module.block[0].layer[0].SelfAttention.compute_bias(length, length)[0]
        for l, weights in enumerate(output[f"{stack}_attentions"]):
            add_maps(f"{stack}.layers.{l}.self_attn", weights, bias, stack == "decoder")
        found[f"{stack}.output"] = found[f"{stack}.layer_norm"]
    for l, weights in enumerate(output.cross_attentions):
        add_maps(f"decoder.layers.{l}.encoder_attn", weights, 0, False)
    return found
