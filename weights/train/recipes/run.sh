#!/bin/sh
# Runs a recipe.
#
#   sh recipes/run.sh RECIPE DATA [RUN]
#
# RECIPE is the name of a file in this folder without .sh, DATA the folder of the corpora, RUN the folder for everything
# that the steps write (run/RECIPE by default). An interrupted training resumes when the recipe runs again.
set -eu
recipe=${1:?"usage: sh recipes/run.sh RECIPE DATA [RUN]"}
data=$(cd "${2:?"usage: sh recipes/run.sh RECIPE DATA [RUN]"}" && pwd)
cd "$(dirname "$0")/.."
run=${3:-run/$recipe}
glassformer=${GLASSFORMER:-../../build/native/glassformer}  # built by npm run build:native
mkdir -p "$run"
# With one thread per process, page faults took a fifth of the time before these settings.
export OMP_NUM_THREADS=1 MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592
export MALLOC_TOP_PAD_=268435456
set -x
. "recipes/$recipe.sh"
