# English to French. The first run started from the weights of the third German run, the second from the first one's
# weights, on two cores.
python3 -m translator prepare --data "$data" --languages en-fr --out "$run"
python3 -m translator train --languages en-fr --pairs "$run/pairs.npz" --run "$run/1" --minutes 112 \
    --init checkpoints/en-de/model.safetensors --init-tokenizer ../en-de/tokenizer.model --last-lr 0.02 --warmup 60 \
    --optimizer muon --tokens 6144 --negatives 1536 --repeats captions=0.3 software=0.2 games=0.4
python3 -m translator export --checkpoint "$run/1/checkpoint.pt" --tokenizer "$run/tokenizer.model" --out checkpoints/en-fr

python3 -m translator train --languages en-fr --pairs "$run/pairs.npz" --run "$run/2" --minutes 66 \
    --init checkpoints/en-fr/model.safetensors --lr 1.8e-3 --last-lr 0.02 --warmup 30 --processes 2 --share-minutes 3 \
    --optimizer muon --tokens 6144 --negatives 1536 --repeats captions=0.4 software=0.2 games=0.4
python3 -m translator export --checkpoint "$run/2/checkpoint.pt" --tokenizer "$run/tokenizer.model" --out checkpoints/en-fr
"$glassformer" quantize checkpoints/en-fr ../en-fr
python3 -m translator shortlist --pairs "$run/pairs.npz" --out ../en-fr/shortlist.bin
