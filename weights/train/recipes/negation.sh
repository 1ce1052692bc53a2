# One more stage for the sentiment classifier: praise by negation. It starts from the weights in the repository.
weights=checkpoints/sentiment/model.safetensors
tokenizer=checkpoints/sentiment/tokenizer.model
python3 -m classifier score --data "$data" --out "$run/words.npz"
python3 -m classifier score --data "$data" --model checkpoints/sentiment --out "$run/model.npz"
# A short first run: its model labels the sentences cut from reviews.
python3 -m classifier prepare-negation --data "$data" --tokenizer "$tokenizer" \
    --reads "$run/words.npz" "$run/model.npz" --out "$run/negate-1.npz"
python3 -m classifier train --stage negate --items "$run/negate-1.npz" --run "$run/negate-1" --init "$weights" --minutes 14
python3 -m classifier export --checkpoint "$run/negate-1/checkpoint.pt" --tokenizer "$tokenizer" --out "$run/model-1"
python3 -m classifier score --data "$data" --model "$run/model-1" --cut --out "$run/cut.npz"
python3 -m classifier prepare-negation --data "$data" --tokenizer "$tokenizer" \
    --reads "$run/words.npz" "$run/model.npz" "$run/cut.npz" --out "$run/negate-2.npz"
# The second and third runs. `shares` measures where to stop on the way from the start; `export --share` goes there.
python3 -m classifier train --stage negate --items "$run/negate-2.npz" --run "$run/negate-2" --init "$weights" \
    --lr 7e-4 --minutes 30
python3 -m classifier shares --stage negate --items "$run/negate-2.npz" --start "$weights" \
    --checkpoint "$run/negate-2/checkpoint.pt"
python3 -m classifier export --checkpoint "$run/negate-2/checkpoint.pt" --start "$weights" --share 0.7 \
    --tokenizer "$tokenizer" --out "$run/model-2"
python3 -m classifier train --stage negate --items "$run/negate-2.npz" --run "$run/negate-3" \
    --init "$run/model-2/model.safetensors" --lr 3e-4 --minutes 12
python3 -m classifier shares --stage negate --items "$run/negate-2.npz" --start "$weights" \
    --checkpoint "$run/negate-3/checkpoint.pt"
python3 -m classifier export --checkpoint "$run/negate-3/checkpoint.pt" --start "$weights" --share 0.85 \
    --tokenizer "$tokenizer" --out "$run/sentiment"
python3 -m classifier probe --model "$run/sentiment" --probes classifier/negation/dev.tsv
