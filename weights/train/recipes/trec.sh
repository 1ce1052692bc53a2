# Kinds of questions with `glassformer train`, from the shipped sentiment classifier, with five seeds. DATA:
# trec.train.tsv.gz and trec.test.tsv.gz.
. common/measure.sh
unpack trec.train.tsv
unpack trec.test.tsv
for seed in 1 2 3 4 5; do
    train ../sentiment "$run/trec.train.tsv" "$run/$seed" --epochs 10 --rate 0.001 --drop-tokens 0.1 --averaging 0.99 \
        --held-out 0 --seed $seed
    accuracy "$run/$seed" "$run/trec.test.tsv"
done
