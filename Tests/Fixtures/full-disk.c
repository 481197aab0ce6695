// Preloaded into a worker: the first writes to files on the disk of FULL_FOLDER find no room, as many
// as FULL_WRITES says. Afterwards there is room again.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int left;
static dev_t disk;

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("FULL_WRITES");
    struct stat folder;
    left = text ? atoi(text) : 0;
    if (stat(getenv("FULL_FOLDER"), &folder) != 0) abort();
    disk = folder.st_dev;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next) next = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    struct stat status;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_dev == disk
        && __sync_fetch_and_sub(&left, 1) > 0) {
        errno = ENOSPC;
        return -1;
    }
    return next(descriptor, bytes, count);
}
