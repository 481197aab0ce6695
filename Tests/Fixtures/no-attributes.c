// A file system without extended attributes, as FAT and some network file systems are.
#include <errno.h>
#include <stddef.h>

int fsetxattr(int file, const char *name, const void *value, size_t size, int flags)
{
    (void) file, (void) name, (void) value, (void) size, (void) flags;
    errno = EOPNOTSUPP;
    return -1;
}
