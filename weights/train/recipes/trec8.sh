# Kinds of questions with `glassformer train`, from the shipped sentiment classifier, with five seeds: at once, and after
# its encoder has learned hidden tokens of questions. DATA: trec.train.tsv.gz, trec.test.tsv.gz; see common/questions.sh.
. common/measure.sh
. common/questions.sh
unpack trec.train.tsv
unpack trec.test.tsv
questions "$run/trec.test.tsv" "$run/texts.txt"
train ../sentiment "$run/texts.txt" "$run/masked" --lessons masked --epochs 8 --optimizer muon --rate 0.001 \
    --batch-tokens 4096 --smoothing 0 --dropout 0.05
for seed in 1 2 3 4 5; do
    for start in "$run/masked"; do
        model="$run/$(basename "$start").$seed"
        train "$start" "$run/trec.train.tsv" "$model" --epochs 10 --rate 0.001 --drop-tokens 0.1 --dropout 0.2 \
            --held-out 0 --seed $seed
        accuracy "$model" "$run/trec.test.tsv"
    done
done
