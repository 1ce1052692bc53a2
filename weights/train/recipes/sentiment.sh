# The sentiment classifier, from scratch.
python3 -m classifier tokenizer --data "$data" --out "$run/tokenizer.model"
python3 -m classifier word-vectors --data "$data" --out "$run/vectors.npz"
python3 -m classifier sentence-teacher --data "$data" --vectors "$run/vectors.npz" --out "$run/sentences.npz"
python3 -m classifier review-teacher --data "$data" --vectors "$run/vectors.npz" --out "$run/reviews.npz"
python3 -m classifier prepare --data "$data" --tokenizer "$run/tokenizer.model" --sentences "$run/sentences.npz" \
    --reviews "$run/reviews.npz" --out "$run/items.npz"
python3 -m classifier train --stage pretrain --items "$run/items.npz" --run "$run/pretrain" --minutes 60 --processes 2
python3 -m classifier train --stage finetune --items "$run/items.npz" --run "$run/finetune" \
    --init "$run/pretrain/checkpoint.pt" --minutes 40 --processes 2
python3 -m classifier train --stage distil --items "$run/items.npz" --run "$run/distil" \
    --init "$run/finetune/checkpoint.pt" --minutes 40 --processes 2
python3 -m classifier export --checkpoint "$run/distil/checkpoint.pt" --start "$run/finetune/checkpoint.pt" \
    --tokenizer "$run/tokenizer.model" --out checkpoints/sentiment
python3 -m classifier evaluate --data "$data" --model checkpoints/sentiment --out "$run/metrics.json"
python3 -m classifier probe --model checkpoints/sentiment --probes ../sentiment/probes.tsv
"$glassformer" quantize checkpoints/sentiment ../sentiment
python3 -m classifier plot "$run/pretrain/log.jsonl" "$run/finetune/log.jsonl" "$run/distil/log.jsonl" \
    --out ../sentiment/curves.svg
