// Preloaded: adds a line to SYNC_LOG for each file or file system that is synced, with `late` if there is a file
// SYNC_REPORT by then. With SYNC_FAILS, a sync of something whose path has that in it finds no room.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int note(const char *call, int descriptor) {
    char link[64], path[4096], line[8192];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, sizeof path - 1);
    path[size < 0 ? 0 : size] = 0;
    int isLate = access(getenv("SYNC_REPORT"), F_OK) == 0;
    int count = snprintf(line, sizeof line, "%s %s%s\n", call, path, isLate ? " late" : "");
    int log = open(getenv("SYNC_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log >= 0 && write(log, line, count) == count) close(log);
    const char *failing = getenv("SYNC_FAILS");
    if (!failing || !strstr(path, failing)) return 0;
    errno = ENOSPC;
    return -1;
}

#define SYNC(call) \
    int call(int descriptor) { \
        int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, #call); \
        return note(#call, descriptor) ? -1 : next(descriptor); \
    }

SYNC(fsync)
SYNC(syncfs)
