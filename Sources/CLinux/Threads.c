// Threads that the system refuses, in a worker.
#define _GNU_SOURCE
#include "CLinux.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int ends_without_threads;

void clinux_end_without_threads(void)
{
    atomic_store(&ends_without_threads, 1);
}

// The compiler's checks have a pthread_create of their own.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_CHECKS 1
#endif
#endif

#ifndef HAS_CHECKS
// All libraries of the process call this one, since the program's own symbols come before the C library's.
int pthread_create(
    pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
    void *restrict argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    int result = create(thread, attributes, start, argument);
    if (result == EAGAIN && atomic_load(&ends_without_threads)) _exit(CLINUX_ENDED_WITHOUT_THREADS);
    return result;
}
#endif
