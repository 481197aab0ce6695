// Preloaded into `imagemill watch`: it starts the Python program OTHER_WORKER, which is given this program's path, in
// place of each worker.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char program[4096], other[4096];
static int (*next)(const char *, char *const[], char *const[]);

// Before there are threads: between fork and exec nothing may be allocated.
__attribute__((constructor)) static void begin(void) {
    next = (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, "execve");
    strncpy(other, getenv("OTHER_WORKER"), sizeof other - 1);
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) abort();
}

int execve(const char *path, char *const arguments[], char *const environment[]) {
    if (!arguments[0] || !arguments[1] || strcmp(arguments[1], "__worker") != 0)
        return next(path, arguments, environment);
    char *const others[] = {"python3", other, program, NULL};
    return next("/usr/bin/python3", others, environment);
}
