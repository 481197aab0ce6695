#!/usr/bin/env bash
# Makes the pictures that the guide's commands work on. Usage: docs/guide/samples.sh FOLDER
set -euo pipefail
drawings=$(realpath "$(dirname "$0")/samples")
mkdir -p "$1"
cd "$1"
mkdir -p photos products ui assets scans pages captures/article captures/phone frames/clock
for name in lake dunes night; do vips copy "$drawings/$name.svg" "photos/$name.jpg[Q=88]"; done
vips copy "$drawings/vase.svg" products/vase.png
for name in star disc bar; do vips copy "$drawings/$name.svg" "assets/$name.png"; done
vips copy "$drawings/button.svg" "ui/button@2x.png"
vips copy "$drawings/pattern.svg" ui/pattern.png
vips svgload "$drawings/button.svg" ui/chip.png --scale 0.5
for name in form keyboard; do vips copy "$drawings/$name.svg" "assets/$name.png"; done

# A look as an editor of films exports it: cool shadows, warm lights.
awk 'BEGIN {
    size = 9
    print "LUT_3D_SIZE " size
    for (blue = 0; blue < size; blue++)
        for (green = 0; green < size; green++)
            for (red = 0; red < size; red++) {
                r = red / (size - 1); g = green / (size - 1); b = blue / (size - 1)
                light = 0.3 * r + 0.59 * g + 0.11 * b
                print 0.04 + 0.94 * r + 0.1 * (light - 0.4), 0.03 + 0.92 * g + 0.02 * light, 0.1 + 0.78 * b - 0.08 * light
            }
}' > assets/film.cube

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A sunset with light beyond white: the sun has 2,500 cd/m², paper in the shade has 60. Its numbers are PQ in BT.2020, which the chunk cICP says
# in one of the two files; the other is what programs see that do not read it.
mkdir -p hdr
awk 'function pq(light,  y) { y = (light / 10000) ^ 0.1593017578125; return int(65535 * ((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y)) ^ 78.84375 + 0.5) }
function hill(x) { return 250 - 26 * sin(x / 70) - 14 * sin(x / 23 + 2) }
BEGIN {
    print "P3 480 320 65535"
    for (y = 0; y < 320; y++)
        for (x = 0; x < 480; x++) {
            from = sqrt((x - 330) ^ 2 + (y - 170) ^ 2)
            glow = exp(-from / 70)
            up = 1 - y / 320
            red = 60 + 240 * glow + 60 * (1 - up); green = 70 + 130 * glow + 30 * (1 - up); blue = 120 * up + 40 + 40 * glow
            if (from < 26) { red = 2500; green = 2100; blue = 1200 }
            if (y > hill(x)) { red = 8 + 30 * glow; green = 10 + 16 * glow; blue = 8 + 4 * glow }
            if (y > 292) { shine = exp(-((x - 330) / 46) ^ 2) * (0.6 + 0.4 * sin(y * 1.9)); red = 14 + 700 * shine; green = 22 + 480 * shine; blue = 40 + 200 * shine }
            print pq(red), pq(green), pq(blue)
        }
}' > "$work/sunset.ppm"
vips copy "$work/sunset.ppm" "hdr/2-as-plain-numbers.png"
{ head -c 33 hdr/2-as-plain-numbers.png; printf '\000\000\000\004cICP\011\020\000\001\115\043\043\376'; tail -c +34 hdr/2-as-plain-numbers.png; } > hdr/1-tone-mapped.png

# A print on the scanner's glass: a white border all around.
vips thumbnail photos/lake.jpg "$work/print.v" 420
vips embed "$work/print.v" scans/print.png 70 50 600 400 --extend white

# A clock hand in twelve pictures.
for hour in $(seq 1 12); do
    sed "s/ANGLE/$((hour * 30))/" "$drawings/frame.svg" > "$work/frame.svg"
    vips copy "$work/frame.svg" "frames/clock/$hour.png"
done

# A page of many entries, and five captures of it, each below the same header and with a part of the one before.
entry() {
    local top=$((20 + $1 * 110)) colours=(c8553d 588b8b ffd5c2 f28f3b 2d3047 93b7be)
    printf '<rect x="20" y="%d" width="90" height="90" rx="8" fill="#%s"/>' "$top" "${colours[$(($1 % 6))]}"
    printf '<text x="130" y="%d" font-size="20" font-weight="bold" fill="#222">Entry %d</text>' $((top + 24)) "$(($1 + 1))"
    for line in 0 1 2; do
        printf '<rect x="130" y="%d" width="%d" height="8" fill="#b8bcc4"/>' $((top + 40 + line * 18)) $((120 + ($1 * 53 + line * 37) % 130))
    done
}
# A page of so many entries: page COUNT HEIGHT
page() {
    printf '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="%d" font-family="sans-serif"><rect width="400" height="%d" fill="#fff"/>' "$2" "$2"
    for index in $(seq 0 $(($1 - 1))); do entry "$index"; done
    printf '</svg>'
}
page 16 1780 > "$work/page.svg"
printf '%s' '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="60" font-family="sans-serif"><rect width="400" height="60" fill="#2d3047"/><text x="20" y="38" font-size="22" fill="#fff">The Daily List</text></svg>' > "$work/header.svg"
vips flatten "$work/page.svg" pages/list.png --background 255
vips flatten "$work/header.svg" "$work/header.v"
capture=1
for top in 0 300 560 900 1240; do
    vips crop pages/list.png "$work/part.v" 0 "$top" 400 540
    vips join "$work/header.v" "$work/part.v" "captures/article/$capture.png" vertical
    capture=$((capture + 1))
done

# A longer page on a phone: twelve captures, each below the same floating button and the line that leads home.
page 42 4640 > "$work/long.svg"
vips flatten "$work/long.svg" "$work/long.v" --background 255
vips copy "$drawings/floating.svg" "$work/floating.v"
capture=1
for top in 0 380 700 1090 1450 1800 2190 2540 2900 3270 3650 4000; do
    vips crop "$work/long.v" "$work/part.v" 0 "$top" 400 600
    vips composite2 "$work/part.v" "$work/floating.v" "$work/screen.v" over
    vips flatten "$work/screen.v" "captures/phone/$capture.png"
    capture=$((capture + 1))
done
