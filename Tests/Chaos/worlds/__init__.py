"""Worlds for the drop folder, drawn by a seed: `explore` is the command, README.md says what a world has.

world      what a world is, and how it is drawn
history    what happens in it, and how that is drawn
sources    pictures, each of one color
disks      file systems, and what can happen to them
household  the places, daemons and mill files of a world
actors     does what a history says; its parts are writers, neighbors (other programs in the outboxes), processes, configurations and accidents
dropped    what was dropped
observers  look all the time: a reader, a clock for the other inbox, an ear for pauses
oracle     the verdict at the end, which shares nothing with the program
life       the whole life of one world, in a process of its own
damage     whether the oracle sees what it must
shrinking  leaves out what a failure does not need
"""
