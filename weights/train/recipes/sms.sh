# Spam among short messages from scratch with `glassformer train`, with five seeds. DATA: sms.train.tsv.gz and
# sms.test.tsv.gz.
. common/measure.sh
unpack sms.train.tsv
unpack sms.test.tsv
echo '{ "encoder_layers": 2, "d_model": 64, "d_ff": 256, "n_heads": 4 }' > "$run/config.json"
for seed in 1 2 3 4 5; do
    train "$run/config.json" "$run/sms.train.tsv" "$run/$seed" --epochs 8 --drop-tokens 0.2 --held-out 0 --keep-case \
        --optimizer muon --rate 0.001 --seed $seed
    accuracy "$run/$seed" "$run/sms.test.tsv"
done
