# Film reviews from scratch with `glassformer train`. DATA: imdb.train.tsv.gz and imdb.test.tsv.gz.
. common/measure.sh
unpack imdb.train.tsv
unpack imdb.test.tsv
echo '{ "max_source_length": 256 }' > "$run/config.json"
train "$run/config.json" "$run/imdb.train.tsv" "$run/model" --epochs 2 --drop-tokens 0.25 --optimizer muon --rate 0.002 \
    --batch-tokens 4096
accuracy "$run/model" "$run/imdb.test.tsv"
