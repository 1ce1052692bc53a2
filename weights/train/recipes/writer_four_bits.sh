# The writer's folder with 4-bit weights, from checkpoints/writer.
rm -rf "$run/folder"
"$glassformer" quantize checkpoints/writer "$run/folder" --weights 4 --tables
python3 -m writer quantize --data "$data" --model checkpoints/writer --folder "$run/folder"
for file in config.json model.safetensors tokenizer.json tokenizer_config.json; do cp "$run/folder/$file" ../writer; done
node ../../tools/manifest.mjs ../writer
