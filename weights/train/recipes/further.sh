# Trains the shipped sentiment classifier further on labels with `glassformer train`, to see whether that helps. DATA:
# the training files below, and their test files.
. common/measure.sh
for file in sst2.train imdb.train yelp.train amazon.train sst2.dev imdb.test yelp.test amazon.test; do
    unpack $file.tsv
    sed -e 's/^0/negative/' -e 's/^1/positive/' "$run/$file.tsv" > "$run/$file.named.tsv"
done
cat "$run/sst2.train.named.tsv" "$run/imdb.train.named.tsv" "$run/yelp.train.named.tsv" "$run/amazon.train.named.tsv" \
    > "$run/all.tsv"
train ../sentiment "$run/all.tsv" "$run/model" --minutes 14 --rate 0.0002 --drop-tokens 0.1 --batch-tokens 8192 \
    --averaging 0.995
[ -e "$run/8-bit" ] || "$glassformer" quantize "$run/model" "$run/8-bit"
for file in sst2.dev imdb.test yelp.test amazon.test; do accuracy "$run/8-bit" "$run/$file.named.tsv"; done
