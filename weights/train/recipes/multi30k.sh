# English to German from scratch with `glassformer train`: picture captions, with AdamW and with Muon, beside a plain
# PyTorch translator that takes as many steps. DATA: multi30k.en-de.train.tsv.gz and multi30k.en-de.test2016.tsv.gz.
. common/measure.sh
unpack multi30k.en-de.train.tsv
unpack multi30k.en-de.test2016.tsv
cat > "$run/config.json" <<'END'
{ "task": "translation", "encoder_layers": 6, "decoder_layers": 2, "d_model": 128, "d_ff": 512, "n_heads": 8,
  "source_language": "en", "target_language": "de" }
END
for optimizer in adamw muon; do
    train "$run/config.json" "$run/multi30k.en-de.train.tsv" "$run/$optimizer" --epochs 8 --batch-tokens 4096 --keep-case \
        --vocabulary 6000 --held-out 0.01 --optimizer $optimizer
    bleu "$run/$optimizer" "$run/multi30k.en-de.test2016.tsv" 1
    bleu "$run/$optimizer" "$run/multi30k.en-de.test2016.tsv" 4
done
for seed in 1 2 3; do
    python3 ../../tests/bench/train_translator.py "$run/adamw" "$run/multi30k.en-de.train.tsv" \
        "$run/multi30k.en-de.test2016.tsv" --steps 1816 --seed $seed | tee -a "$run/torch.jsonl"
done
