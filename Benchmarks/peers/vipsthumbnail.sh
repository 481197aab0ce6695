#!/bin/sh
# All pictures of a folder by vipsthumbnail, in several processes, once for each size.
# vipsthumbnail.sh SOURCES OUTPUT PROCESSES FILES-PER-CALL LOAD-OPTIONS SIZE NAME [SIZE NAME]...
sources=$1 output=$2 processes=$3 files=$4 load=$5
shift 5
while [ $# -gt 0 ]; do
    find "$sources" -type f -printf "%p$load\0" |
        xargs -0 -P "$processes" -n "$files" vipsthumbnail --size "$1" --output "$output/$2" || exit
    shift 2
done
