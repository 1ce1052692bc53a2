# The classifier and the translators with 4-bit weights, to measure. They are not published: see README.md.
for model in sentiment en-de en-fr; do
  rm -rf "$run/$model"
  "$glassformer" quantize "checkpoints/$model" "$run/$model" --weights 4 --tables
done
python3 -m classifier quantize --data "$data" --model checkpoints/sentiment --folder "$run/sentiment"
for pair in en-de en-fr; do
  python3 -m translator quantize --data "$data" --model "checkpoints/$pair" --folder "$run/$pair"
done
for model in sentiment en-de en-fr; do node ../../tools/manifest.mjs "$run/$model"; done
