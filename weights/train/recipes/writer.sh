# The writer, from scratch.
python3 -m writer prepare --data "$data" --run "$run"
python3 -m writer train --run "$run" --minutes 116 --tokens 8192
python3 -m writer export --run "$run" --out checkpoints/writer
. recipes/writer_four_bits.sh
python3 -m writer evaluate --data "$data" --run "$run" --model ../writer --out ../writer/metrics.json
python3 -m writer sample --model ../writer
