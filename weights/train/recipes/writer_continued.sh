# The writer, from the published weights.
python3 -m writer prepare --data "$data" --run "$run" --tokenizer ../writer/tokenizer.json
python3 -m writer train --run "$run" --continue checkpoints/writer --steps 750 --lr 1.5e-3 --tokens 8192 --rows 16 --seed 2000000
python3 -m writer shares --run "$run" --start checkpoints/writer
python3 -m writer export --run "$run" --start checkpoints/writer --share 0.75 --out checkpoints/writer
. recipes/writer_four_bits.sh
