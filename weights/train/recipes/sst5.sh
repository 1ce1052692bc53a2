# Five classes, from the pretrained classifier of sentiment.sh in run/sentiment.
start=run/sentiment
python3 -m classifier prepare-sst5 --data "$data" --tokenizer "$start/tokenizer.model" --out "$run/sst5.npz"
python3 -m classifier train --stage sst5 --items "$run/sst5.npz" --run "$run/sst5" \
    --init "$start/pretrain/checkpoint.pt" --steps 300
