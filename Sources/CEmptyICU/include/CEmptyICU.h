// Nothing to call: the linker alone uses what is in EmptyICU.c.
