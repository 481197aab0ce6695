// The guard of a program of the user's: a process that ends all that the program has started.
#define _GNU_SOURCE
#include "Guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Waits for one of the blocked signals; returns it, or -1 after that time.
static int wait_for_signal(const sigset_t *signals, int64_t time) {
    struct timespec most = {time / 1000, time % 1000 * 1000000};
    return sigtimedwait(signals, NULL, &most);
}

// Kills the children that there are at the moment, or at least some. None is reaped meanwhile, so that no number can
// belong to another process.
static void kill_children(pid_t program) {
    char path[64], list[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int file = open(path, O_RDONLY | O_CLOEXEC);
    // Not every kernel has that file. Then only what has stayed in the program's group is found.
    ssize_t size = file < 0 ? -1 : read(file, list, sizeof list - 1);
    if (file >= 0) close(file);
    if (size < 0) {
        kill(-program, SIGKILL);
        return;
    }
    list[size] = 0;
    // A number that the end of the buffer has cut is left for the next time.
    for (char *rest = list, *end; (end = strchr(rest, ' ')); rest = end + 1) {
        pid_t child = (pid_t)atoi(rest);
        if (child > 1) kill(child, SIGKILL);
    }
}

// Ends what the program has left behind, whatever sessions it is in: an orphan becomes a child of this process, so the
// children of what is killed are found the next time.
static void end_the_rest(pid_t program, const sigset_t *signals) {
    static const int64_t patience = 10000;
    int64_t end = milliseconds() + patience;
    while (milliseconds() < end) {
        while (waitpid(-1, NULL, WNOHANG) > 0) continue;
        if (waitpid(-1, NULL, WNOHANG) < 0) return;
        kill_children(program);
        wait_for_signal(signals, 10);
    }
}

int clinux_become_guard(pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_NAME, "imagemill-hook");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) || prctl(PR_SET_PDEATHSIG, SIGTERM)) return -1;
    if (getppid() == parent) return 0;
    errno = ESRCH;
    return -1;
}

void clinux_guard(pid_t program, int patience) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    int status = 0;
    pid_t ended = 0;
    int64_t end = INT64_MAX;
    for (int64_t now; ended != program && (now = milliseconds()) < end;) {
        int signal = wait_for_signal(&signals, end - now < 1000 ? end - now : 1000);
        if (signal == SIGTERM && end == INT64_MAX) {
            kill(-program, SIGTERM);
            end = milliseconds() + patience;
        }
        int one = 0;
        while (ended != program && (ended = waitpid(-1, &one, WNOHANG)) > 0) {
            if (ended == program) status = one;
        }
    }
    if (ended != program) status = SIGKILL;
    end_the_rest(program, &signals);
    if (WIFSIGNALED(status)) {
        prctl(PR_SET_DUMPABLE, 0);
        sigset_t none;
        sigemptyset(&none);
        signal(WTERMSIG(status), SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        kill(getpid(), WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}
