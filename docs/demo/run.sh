#!/usr/bin/env bash
# Makes sample pictures and runs shipped pipelines over them. Usage: docs/demo/run.sh IMAGEMILL FOLDER
set -euo pipefail
imagemill=$(realpath "$1")
folder=$2
pipelines=$(realpath "$(dirname "$0")/../../pipelines")
mkdir -p "$folder/photos" "$folder/products"
samples=$(realpath "$folder")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# A landscape: hills of noise below a sky that fades.
vips perlin hills.v 1600 600 --cell-size 220
vips grey ramp.v 1200 1600 --uchar
vips rot ramp.v sky.v d90
vips linear sky.v "sky-colours.v" "0.5 0.35 0.1" "90 150 220" --uchar
vips linear hills.v ground.v "60 40 30" "80 130 60" --uchar
vips insert sky-colours.v ground.v "$samples/photos/landscape.jpg[Q=92]" 0 600

# A product, cut out: a ball with soft light on a transparent ground.
vips mask_ideal disc.v 1800 1800 0.85 --optical --reject --uchar
vips mask_gaussian soft.v 1800 1800 0.7 0.5 --optical --reject --uchar
vips linear soft.v ball.v "0.9 0.5 0.2" "25 10 5" --uchar
vips copy ball.v ball-colours.v --interpretation srgb
vips bandjoin "ball-colours.v disc.v" ball-alpha.v
vips resize ball-alpha.v "$samples/products/ball.png" 0.7
cd "$OLDPWD"

"$imagemill" run "$pipelines/web-photos.yaml" "$folder/photos" -o "$folder/web"
"$imagemill" run "$pipelines/product-shots.yaml" "$folder/products" -o "$folder/shop"
echo
echo "The samples are in $folder/photos and $folder/products; the renditions are:"
find "$folder/web" "$folder/shop" -type f -not -path '*/.imagemill/*' | sort | sed 's/^/  /'
