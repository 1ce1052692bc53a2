"""Writes explain.safetensors and explain.json for each translator of tests/golden: the ledger of one token of a
translation, which src/explain must reproduce.

    /usr/bin/python3 tests/reference/goldens_explain_translation.py        needs python3-torch, python3-sentencepiece

It works like goldens_explain_next.py: by autograd, in float64, y = z_token - z_against, after the first tokens of the
greedy translation. A recurrent unit is one column: `written` is what it adds to the stream, and `read` is the part of
each token's candidate in that, with constant gates and relu. Before it writes anything, it checks the run against the
golden, and the ledger against its sum.

explain.safetensors, T tokens of the decoder, S of the source:
    ledger.written, ledger.read [T + S, columns], ledger.effects [columns]
    other.written, other.read          the ledger of the pair "other"
explain.json:
    text                               the index of a text in golden.json; its translation is greedy
    position, token, against, value, columns, other: {token, against, value}
"""

import os

from explain_subjects import Text, translator
from files import TESTS, load, read_json, save, write_json
from goldens_explain import columns_of, effects, ledger, recorded
from goldens_explain_next import difference

TEXT, POSITION = 2, 4
CASES = ("translate_pre_norm_shared", "translate_tutorial_separate", "translate_post_norm_tied", "translate_odd_local",
         "translate_recurrent_post_norm")
OTHER = (17, 30)  # ids of any two tokens


def make(name):
    folder = os.path.join(TESTS, "golden", name)
    golden = read_json(folder, "golden.json")
    subject, start, written = translator(folder, golden["ids"][TEXT]), golden["target_ids"][TEXT][0], golden["greedy"][TEXT]["ids"]
    for position, token in enumerate(written[: POSITION + 1]):
        assert subject(Text([start, *written[:position]])).argmax() == token, "the run differs from the golden"
    forced = load(os.path.join(folder, "golden.safetensors"))["logits"][-1]  # of the last token of the last text
    assert TEXT == len(golden["texts"]) - 1
    assert (subject(Text(golden["target_ids"][TEXT])) - forced).abs().max() < 1e-5, "the run differs from the golden"
    text = Text([start, *written[:POSITION]])
    seen = recorded(subject, text)
    token, against = seen["logits"].topk(2).indices.tolist()
    gaps = seen["logits"].topk(3).values
    assert (gaps[:-1] - gaps[1:]).min() > 1e-3, "two tokens are equally likely: choose another text"
    of_y, of_other = (difference(*pair, len(seen["logits"])) for pair in ((token, against), OTHER))

    tensors = {}
    tensors["ledger.written"], tensors["ledger.read"] = ledger(subject, text, of_y)
    tensors["ledger.effects"] = effects(subject, text, of_y)
    tensors["other.written"], tensors["other.read"] = ledger(subject, text, of_other)
    path = os.path.join(folder, "explain")
    save(f"{path}.safetensors", tensors)
    value = (of_y @ seen["logits"]).item()
    write_json(f"{path}.json", {
        "text": TEXT, "position": POSITION, "token": token, "against": against, "value": value, "columns": columns_of(subject),
        "other": {"token": OTHER[0], "against": OTHER[1], "value": (of_other @ seen["logits"]).item()}})
    print(f"{os.path.relpath(path, TESTS)}: y {value:.3f}")


if __name__ == "__main__":
    for case in CASES:
        make(case)
