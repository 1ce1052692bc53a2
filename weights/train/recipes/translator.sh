# English to German, from scratch, in one run.
python3 -m translator prepare --data "$data" --languages en-de --out "$run"
python3 -m translator train --pairs "$run/pairs.npz" --run "$run" --minutes 240 --optimizer muon --tokens 6144 \
    --negatives 1536
python3 -m translator export --checkpoint "$run/checkpoint.pt" --tokenizer "$run/tokenizer.model" --out checkpoints/en-de
"$glassformer" quantize checkpoints/en-de ../en-de
python3 -m translator shortlist --pairs "$run/pairs.npz" --out ../en-de/shortlist.bin
