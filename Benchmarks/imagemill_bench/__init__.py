"""The benchmark's driver. It imports the standard library only and stays small, because what a process has in memory when it
starts another counts in that one's peak. All work on pixels is done in `pixels`, by processes of their own."""
