# The writer's dictionaries, a transcoder for each layer, with `glassformer train`. DATA: imdb.train.tsv.gz and
# imdb.unsup.txt.gz, which it learns from; uci_imdb.dev.tsv.gz and uci.tsv.gz, which the features quote.
. common/measure.sh
for file in imdb.train.tsv imdb.unsup.txt uci_imdb.dev.tsv uci.tsv; do unpack $file; done
{ cut -f 2 "$run/imdb.train.tsv"; cat "$run/imdb.unsup.txt"; } > "$run/texts.txt"
cut -f 2 "$run/uci_imdb.dev.tsv" "$run/uci.tsv" > "$run/quoted.txt"
train ../writer "$run/texts.txt" "$run/features" --lessons dictionary --texts "$run/quoted.txt" --minutes 75
