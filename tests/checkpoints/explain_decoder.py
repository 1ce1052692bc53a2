#!/usr/bin/python3
"""Writes bart_sequence/expected.explain.safetensors: explanations of the best label of a text by a classifier with a
decoder, computed with the library's modules in float64. T tokens, C labels, L layers of the decoder.

    lens       [L + 1, T, C]        the logits of each row before each layer and after the last
    ledger     [2 T, columns]       by the token that is read: the decoder's, then the encoder's; without the biases
    relevance  [T, 2 T]             Chefer et al. 2021, "Generic Attention-model Explainability", equations 5 to 10
    value      [1]                  the explained number
"""

import json
import pathlib

import torch
import transformers
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parent / "bart_sequence"


def leaf(into, name):
    def replace(_, __, output):
        given = output[0] if isinstance(output, tuple) else output
        into[name] = given.detach().requires_grad_()
        return (into[name], *output[1:]) if isinstance(output, tuple) else into[name]
    return replace


def frozen_norm(self, x):
    spread = (x.var(-1, correction=0, keepdim=True) + self.eps).sqrt().detach()
    return (x - x.mean(-1, keepdim=True)) / spread * self.weight + self.bias


def positive_means(maps):
    return [(weights * weights.grad)[0].clamp(min=0).mean(0).double() for weights in maps]


def normalized(matrix):
    more = matrix - torch.eye(len(matrix)).double()
    sums = more.sum(-1, keepdim=True)
    return torch.where(sums == 0, more, more / sums) + torch.eye(len(matrix)).double()


def relevance(output, tokens):
    source = torch.eye(tokens).double()
    for mean in positive_means(output.encoder_attentions):
        source = source + mean @ source
    own, read = torch.eye(tokens).double(), torch.zeros(tokens, tokens).double()
    for mean, cross in zip(positive_means(output.decoder_attentions), positive_means(output.cross_attentions)):
        read = read + mean @ read
        own = own + mean @ own
        read = read + normalized(own).T @ (cross @ normalized(source))
    return torch.cat([own - torch.eye(tokens), read], 1)


def ledger(model, encoded, ids, output, contrast):
    """Returns the columns [2 T, columns] without the biases, and the number. With the spreads of norms and tanh(u) / u
    frozen, it is linear in what each part adds to the stream."""
    decoder, head, tokens = model.model.decoder, model.classification_head, len(ids)
    added, values, hooks = {}, {}, []

    def keep(name):
        def hook(_, __, kept):
            values[name] = kept[0].detach()
        return hook

    def catch(name, module):
        hooks.append(module.register_forward_hook(leaf(added, name)))

    catch("tokens", decoder.embed_tokens)
    catch("positions", decoder.embed_positions)
    for i, layer in enumerate(decoder.layers):
        for name, attention in (("self", layer.self_attn), ("cross", layer.encoder_attn)):
            catch(f"{name}.{i}", attention)
            hooks.append(attention.v_proj.register_forward_hook(keep(f"{name}.{i}")))
        catch(f"fc2.{i}", layer.fc2)
    forward, torch.nn.LayerNorm.forward = torch.nn.LayerNorm.forward, frozen_norm
    start = torch.tensor([model.config.decoder_start_token_id])
    states = decoder(input_ids=torch.cat([start, ids[:-1]])[None], encoder_hidden_states=encoded, use_cache=False)
    before = head.dense(states.last_hidden_state[0, -1])
    number = head.out_proj(before * (before.tanh() / before).detach()) @ contrast
    number.backward()
    torch.nn.LayerNorm.forward = forward
    for hook in hooks:
        hook.remove()

    def rows(part, first=0):  # [T], of the decoder or, from T on, of the encoder
        column = torch.zeros(2 * tokens).double()
        column[first:first + tokens] = part
        return column

    columns = [rows((added[name].grad * added[name]).sum(-1).reshape(tokens)) for name in ("tokens", "positions")]
    for i, layer in enumerate(decoder.layers):
        for name, attention, maps, first in (("self", layer.self_attn, output.decoder_attentions, 0),
                                             ("cross", layer.encoder_attn, output.cross_attentions, tokens)):
            led_back = added[f"{name}.{i}"].grad[0] @ attention.out_proj.weight
            parts = [x.reshape(tokens, attention.num_heads, -1).transpose(0, 1)
                     for x in (led_back, values[f"{name}.{i}"])]
            for weights, back, value in zip(maps[i][0].double(), *parts):
                columns.append(rows((weights.T @ back * value).sum(-1), first))
        fc2 = added[f"fc2.{i}"]
        columns.append(rows((fc2.grad * (fc2 - layer.fc2.bias)).sum(-1).reshape(tokens)))
    return torch.stack(columns, 1), number


def main():
    model = transformers.BartForSequenceClassification.from_pretrained(FOLDER, dtype=torch.float64,
                                                                       attn_implementation="eager").eval()
    ids = torch.tensor(json.loads((FOLDER / "expected.json").read_text())["texts"][0]["ids"])
    output = model(input_ids=ids[None], output_attentions=True, output_hidden_states=True, use_cache=False)
    logits = output.logits[0].detach()
    others = torch.full_like(logits, 1 / len(logits)) if len(logits) > 2 else 1 - torch.eye(2).double()[logits.argmax()]
    contrast = torch.eye(len(logits)).double()[logits.argmax()] - others
    for weights in (*output.encoder_attentions, *output.decoder_attentions, *output.cross_attentions):
        weights.retain_grad()
    (output.logits[0] @ contrast).backward()
    columns, number = ledger(model, output.encoder_last_hidden_state.detach(), ids, output, contrast)
    assert (number - logits @ contrast).abs().item() < 1e-6
    tensors = {"lens": model.classification_head(torch.stack(output.decoder_hidden_states)[:, 0]), "ledger": columns,
               "relevance": relevance(output, len(ids)), "value": number[None]}
    save_file({name: tensor.detach().float().contiguous() for name, tensor in tensors.items()},
              FOLDER / "expected.explain.safetensors")
    print(len(ids), number.item(), logits.tolist())


if __name__ == "__main__":
    main()
