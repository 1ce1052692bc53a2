"""The answers of the original library with an encoder that reads a text and a decoder that writes one."""

import torch

from results import CHANCES, NEW_TOKENS, RUNS, chances, continued
from traces import trace_both


def text_to_text(results):
    """Answers with the library's own generate(). For the first run, it stores all numbers."""
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
            for name, tensor in trace_both(results.variant.family.trace, results.model, both).items():
                results.keep(f"{index}/{name}", tensor)
        first = {"input_ids": start}
        entry["next"] = [chances(results, first, output.logits[0, :1], options) for options in CHANCES]
    longest = max(len(text["runs"][0]["ids"]) for text in results.texts)
    assert ended and longest > 3, (results.variant.name, ended, longest)
    return {"new_tokens": NEW_TOKENS}
