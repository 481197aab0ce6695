// Preloaded into a worker: it stops itself, once, before it reads the file STOP_SOURCE for the so many-th time that STOP_READ
// says, or before it writes to another file on that disk for the so many-th time that STOP_WRITE says.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct stat source;
static int reads, writes;

__attribute__((constructor)) static void begin(void) {
    if (stat(getenv("STOP_SOURCE"), &source) != 0) abort();
    reads = atoi(getenv("STOP_READ"));
    writes = atoi(getenv("STOP_WRITE"));
}

static void look(int descriptor, int is_write) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_dev != source.st_dev) return;
    if ((status.st_ino == source.st_ino) == is_write) return;
    if (__sync_sub_and_fetch(is_write ? &writes : &reads, 1) == 0) raise(SIGSTOP);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    static ssize_t (*next)(int, void *, size_t, off_t);
    if (!next) next = (ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    look(descriptor, 0);
    return next(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next) next = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    look(descriptor, 1);
    return next(descriptor, bytes, count);
}
