// Loaded into a worker by LD_PRELOAD: finds out what the first thread that the worker starts may read two seconds
// later, when the worker is shut in, and ends the worker with a code that says it: 97 if nothing can be read, else 98.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

typedef int Create(pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);

typedef struct {
    void *(*start)(void *);
    void *argument;
} Work;

static Create *create(void) { return (Create *) dlsym(RTLD_NEXT, "pthread_create"); }

static void *look(void *unused)
{
    sleep(2);
    _exit(open("/etc/passwd", O_RDONLY) < 0 ? 97 : 98);
}

static void *begin(void *argument)
{
    Work work = *(Work *) argument;
    free(argument);
    // The restrictions of a thread are inherited by those that it starts.
    pthread_t thread;
    create()(&thread, NULL, look, NULL);
    return work.start(work.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    static int count;
    if (__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST) > 0) return create()(thread, attributes, start, argument);
    Work *work = malloc(sizeof *work);
    *work = (Work) {start, argument};
    return create()(thread, attributes, begin, work);
}
