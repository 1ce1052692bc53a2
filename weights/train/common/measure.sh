# Functions of the recipes that train with the command `glassformer train`.

# unpack FILE: unpacks a corpus into the folder of the run, unless it is there.
unpack() {
    [ -e "$run/$1" ] || gunzip -c "$data/$1.gz" > "$run/$1"
}

# train MODEL DATA OUT_DIR [OPTION...]: trains, unless the folder is there. A training that was stopped goes on.
train() {
    [ -e "$3" ] && return
    resume=
    if [ -e "$3.checkpoint" ]; then resume=--resume; fi
    "$glassformer" train "$@" $resume
}

# accuracy MODEL FILE: appends the share of the lines LABEL<TAB>TEXT that a classifier gets right to metrics.jsonl.
accuracy() {
    cut -f2- "$2" | "$glassformer" classify "$1" | cut -f1 | paste - "$2" | awk -F '\t' -v model="$1" -v file="$2" '
        { right += $1 == $2 }
        END { printf "{\"model\":\"%s\",\"file\":\"%s\",\"texts\":%d,\"accuracy\":%.4f}\n", model, file, NR, right / NR }
    ' | tee -a "$run/metrics.jsonl"
}

# bleu MODEL FILE BEAMS: appends BLEU of the translations of the lines TEXT<TAB>TRANSLATION to metrics.jsonl.
bleu() {
    cut -f1 "$2" | "$glassformer" translate "$1" --beams "$3" > "$1.beams-$3.txt"
    score=$(python3 -m translator.bleu "$2" "$1.beams-$3.txt")
    echo "{\"model\":\"$1\",\"file\":\"$2\",\"beams\":$3,\"bleu\":$score}" | tee -a "$run/metrics.jsonl"
}

# pictures MODEL IMAGES LABELS: appends the share of the pictures that a classifier gets right to metrics.jsonl, and which
# labels it confuses.
pictures() {
    python3 -m common.idx pngs "$2.png" "$2"
    "$glassformer" image "$1" "$2.png"/*.png > "$1.answers.txt"
    python3 -m common.idx score "$3" "$1.answers.txt" | tee -a "$run/metrics.jsonl"
}
