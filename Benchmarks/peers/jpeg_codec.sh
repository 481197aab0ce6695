#!/bin/sh
# What decoding and encoding alone cost, without a resizer between: jpeg_codec.sh SOURCES SCALE [SMALL.ppm]...
# For each source, one decode at the scale, and one encode of each small picture, which has the size that a resizer would make.
sources=$1 scale=$2
shift 2
for picture in "$sources"/*; do
    djpeg -scale "$scale" -outfile /dev/null "$picture" || exit
    for small in "$@"; do
        cjpeg -quality 75 -outfile /dev/null "$small" || exit
    done
done
