// Preloaded into a worker. It reads the files that STOP_SOURCES names by small pieces, and stops itself once for each
// of them: before the so many-th piece, or before it writes to another file on that disk for the so many-th time. A
// line for each file: `READS WRITES PATH`, where 0 is never. Then the one byte of the file STOP_STATE says which of
// them it is, counted from 1.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 16, PIECE = 4096 };

static struct source {
    struct stat status;
    int reads, writes;
} sources[MOST];
static int count;
static volatile unsigned char *state;
// The one that was read last.
static struct source *current;

static void map_state(void) {
    int descriptor = open(getenv("STOP_STATE"), O_RDWR | O_CLOEXEC);
    state = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (state == MAP_FAILED) abort();
    close(descriptor);
}

__attribute__((constructor)) static void begin(void) {
    map_state();
    char *lines = strdup(getenv("STOP_SOURCES")), *rest = NULL;
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        struct source *source = &sources[count++];
        int path;
        if (count > MOST || sscanf(line, "%d %d %n", &source->reads, &source->writes, &path) < 2) abort();
        if (stat(line + path, &source->status) != 0) abort();
    }
}

static struct source *find(const struct stat *status) {
    for (int i = 0; i < count; i++)
        if (sources[i].status.st_dev == status->st_dev && sources[i].status.st_ino == status->st_ino)
            return &sources[i];
    return NULL;
}

static void count_down(struct source *source, int *left) {
    if (__sync_sub_and_fetch(left, 1) != 0) return;
    *state = source - sources + 1;
    raise(SIGSTOP);
}

ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset) {
    static ssize_t (*next)(int, void *, size_t, off_t);
    if (!next) next = (ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    struct stat status;
    struct source *source = fstat(descriptor, &status) == 0 ? find(&status) : NULL;
    if (source) {
        current = source;
        count_down(source, &source->reads);
        if (size > PIECE) size = PIECE;
    }
    return next(descriptor, bytes, size, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next) next = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    struct stat status;
    struct source *source = current;
    if (source && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_dev == source->status.st_dev
        && status.st_ino != source->status.st_ino)
        count_down(source, &source->writes);
    return next(descriptor, bytes, size);
}
