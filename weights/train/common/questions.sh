# questions TEST OUT: writes the English questions of the corpora in ../translation beside DATA, without those of a test
# file, and four times the questions of trec.train.tsv. Without those corpora, only the latter.
questions() {
    for corpus in tatoeba.en-de msctd.en-de xdailydialog.en-de bcontrast.en-de woz.en-de xquad.en-de news.en-de \
        ted.en-de stsb.en-de games.en-de tatoeba.en-fr diabla.en-fr; do
        file="$data/../translation/$corpus.train.tsv.gz"
        if [ -e "$file" ]; then gunzip -c "$file" | cut -f1; fi
    done | { grep '?$' || true; } | LC_ALL=C sort -u > "$run/questions.txt"
    cut -f2- "$1" > "$run/test.txt"
    # Compares letters and digits in lower case.
    LC_ALL=C awk '
        function plain(text) { text = tolower(text); gsub(/[^a-z0-9]/, "", text); return text }
        FNR == NR { test[plain($0)]; next }
        !(plain($0) in test)
    ' "$run/test.txt" "$run/questions.txt" > "$2"
    for _ in 1 2 3 4; do cut -f2- "$run/trec.train.tsv" >> "$2"; done
}
