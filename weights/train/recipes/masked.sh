# Hidden tokens of unlabeled film reviews first, then labels, beside labels from nothing, with as many steps. Both with
# `glassformer train`. DATA: imdb.unsup.txt.gz, imdb.train.tsv.gz and imdb.test.tsv.gz.
. common/measure.sh
unpack imdb.unsup.txt
unpack imdb.train.tsv
unpack imdb.test.tsv
head -n 30000 "$run/imdb.unsup.txt" > "$run/texts.txt"
head -n 2000 "$run/imdb.train.tsv" > "$run/2000.tsv"
echo '{ "max_source_length": 256 }' > "$run/config.json"
train "$run/config.json" "$run/texts.txt" "$run/masked" --lessons masked --epochs 2 --optimizer muon --rate 0.003 \
    --batch-tokens 6144 --smoothing 0 --dropout 0
for texts in 2000 imdb.train; do
    options='--epochs 2'
    if [ $texts = 2000 ]; then options='--epochs 6'; fi
    options="$options --drop-tokens 0.25 --optimizer muon --batch-tokens 4096"
    train "$run/config.json" "$run/$texts.tsv" "$run/$texts.nothing" $options --rate 0.002
    train "$run/masked" "$run/$texts.tsv" "$run/$texts.masked" $options --rate 0.001
    accuracy "$run/$texts.nothing" "$run/imdb.test.tsv"
    accuracy "$run/$texts.masked" "$run/imdb.test.tsv"
done
