#!/bin/sh
# All pictures of a folder by ImageMagick, which is told that the decoder may shrink: mogrify.sh SOURCES OUTPUT SIZE QUALITY
exec mogrify -path "$2" -define "jpeg:size=$3" -resize "$3" -quality "$4" "$1"/*
