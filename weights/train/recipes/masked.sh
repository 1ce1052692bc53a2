# Hidden tokens first, then labels, beside labels from scratch with the same options and as many steps, as BERT is made
# (Devlin et al. 2019): kinds of questions, with all labels and with 500. DATA: as for trec.sh.
. common/measure.sh
. common/questions.sh
unpack trec.train.tsv
unpack trec.test.tsv
questions "$run/trec.test.tsv" "$run/texts.txt"
head -n 500 "$run/trec.train.tsv" > "$run/500.tsv"
cp "$run/trec.train.tsv" "$run/all.tsv"
echo '{}' > "$run/config.json"
train "$run/config.json" "$run/texts.txt" "$run/masked" --lessons masked --epochs 4 --optimizer muon --rate 0.003 \
    --batch-tokens 2048 --smoothing 0 --dropout 0
for labels in 500 all; do
    epochs=10
    if [ $labels = 500 ]; then epochs=30; fi
    for seed in 1 2 3; do
        for start in config.json masked; do
            model="$run/$labels.${start%.json}.$seed"
            train "$run/$start" "$run/$labels.tsv" "$model" --epochs $epochs --rate 0.001 --drop-tokens 0.1 --dropout 0.2 \
                --held-out 0 --seed $seed
            accuracy "$model" "$run/trec.test.tsv"
        done
    done
done
