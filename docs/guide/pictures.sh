#!/usr/bin/env bash
# Makes the guide's pictures: runs the commands of its pages, and puts the results onto sheets. Usage: docs/guide/pictures.sh IMAGEMILL FOLDER
set -euo pipefail
program=$(realpath "$1")
images=$(realpath -m "$2")
guide=$(realpath "$(dirname "$0")")
# In this the addresses of pictures need no escapes.
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
mkdir -p "$images"
cd "$work"
"$guide/samples.sh" .
ln -s "$guide/../../pipelines" pipelines

imagemill() { HOME=$work "$program" "$@" --quiet --no-progress; }

# Writes a page's pipelines to files, and runs its commands.
follow() {
    awk '/^```yaml$/ { inside = 1; next } /^```/ { inside = 0 } inside && /^# [a-z-]+\.yaml$/ { file = $2 } inside && file { print > file } !inside { file = "" }' "$guide/$1.md"
    local command
    while read -r command; do eval "HOME=$work; $command"; done < <(grep '^imagemill run' "$guide/$1.md")
}

# A sheet with the names of pictures below them: show RESULT COLUMNS WIDTH HEIGHT SAVE PICTURES...
show() {
    local result=$1 columns=$2 width=$3 height=$4 save=$5
    shift 5
    mkdir -p "show/$result"
    cp "$@" "show/$result/"
    cat > show.yaml <<YAML
source: set
renditions:
  sheet:
    stages:
      - contact-sheet: { columns: $columns, cell: { width: $width, height: $height }, spacing: 14, label: file, background: "#eef1f5", label-color: "#3a4250" }
    save: { $save }
    file: "{stem}.{ext}"
YAML
    imagemill run show.yaml "show/$result" -o shown
    mv "shown/$result".* "$images/"
}

flat="format: png, palette: true"
photo="format: jpeg, quality: 82"

follow scales && show scales 3 180 180 "$flat" icons/*.png
follow content-modes && show content-modes 4 160 120 "$flat" modes/*.png
follow transparency && show transparency 4 140 180 "$flat" views/*.png
follow cap-insets && show cap-insets 2 320 90 "$flat" ui/button@2x.png buttons/*.png
show cap-insets-scales 4 360 130 "$flat" ui/chip.png chips/*.png
follow tiling && show tiling 2 200 120 "$flat" wallpaper/*.png
cp marked/lake.jpg "$images/tiled-mark.jpg"
follow badges && show badges 3 360 360 "$flat" badged/*.png
follow text && show text 3 300 330 "$photo" credited/*.jpg
# It needs the fonts that the page names.
cp scripts/lake-scripts.jpg "$images/scripts.jpg"
follow template-images && show template-images 3 100 60 "$flat" tints/*.png
follow out-of-the-way && show out-of-the-way 2 240 180 "$flat" pushed/*.png
show keyboard 3 240 320 "$flat" typed/*.png
follow scrolling && show scrolling 4 200 260 "$flat" scrolled/*.png
# Three captures and what they make of the page, all at half their size, so that the joins can be seen.
follow full-page-captures
mkdir -p joined/article joined/phone
vips crop pages-made/article-page.png joined/article/page.png 0 0 400 1160
vips crop pages-made/phone-page.png joined/phone/page.png 0 3270 400 1330
show full-page-captures 4 200 580 "$flat" captures/article/[1-3].png joined/article/page.png
show phone-captures 4 200 665 "$flat" captures/phone/1[0-2].png joined/phone/page.png
follow animations && cp animated/clock-web.webp "$images/animations.webp"
follow contact-sheets && cp sheets/photos.jpg "$images/contact-sheets.jpg"
follow masks && show masks 4 140 140 "$flat" shapes/*.png
follow frames && show ratios 4 150 190 "$photo" posts/*.jpg && show shadows 4 200 190 "$flat" framed/*.png && show captions 3 200 140 "$flat" captions/*.png
follow color && show adjust 4 180 120 "$photo" corrected/*.jpg && show looks 4 180 120 "$photo" looks/*.jpg
follow hdr && show hdr 2 300 200 "$photo" sunsets/*.jpg
follow mixed-folders && show mixed-folders 4 200 150 "$photo" mixed/*
follow responsive-images
mkdir -p third
for picture in web/lake-*.webp; do vips resize "$picture" "third/$(basename "$picture")[lossless]" 0.33333; done
show responsive-images 3 320 214 "$photo" third/*.webp
follow cropping && show cropping 4 140 200 "$photo" squares/*.jpg && show trim 2 300 200 "$flat" scans/print.png trimmed/*.png

follow seeing
"$program" plan photos/lake.jpg parts.yaml --sheet plan-sheet.png > plan.txt
imagemill run --resize '720x>' --format jpeg --quality 80 plan-sheet.png -o shown && mv shown/plan-sheet.jpg "$images/"

follow desktop-thumbnails
for folder in normal large; do
    # The names are digests of addresses.
    cp ".cache/thumbnails/$folder/$(printf 'file://%s/photos/lake.jpg' "$work" | md5sum | cut -d ' ' -f 1).png" "$folder.png"
done
show desktop-thumbnails 2 256 171 "$photo" normal.png large.png

follow layers && show layers 3 320 240 "$flat" cards/*.png
for mode in over atop in out clear source dest dest-over dest-in dest-out dest-atop xor add saturate multiply screen overlay darken lighten \
    color-dodge color-burn hard-light soft-light difference exclusion \
    hue saturation color luminosity; do
    sed "s/multiply/$mode/" blend.yaml > "blend-$mode.yaml"
    imagemill run "blend-$mode.yaml" photos/lake.jpg -o blended
done
show blend-modes 5 120 90 "$flat" blended/*.png

# Elsewhere it is a trial.
if [ "$images" = "$(realpath "$guide/../images")" ]; then "$guide/../shots/inputs" write guide; fi
