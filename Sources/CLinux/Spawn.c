// Programs of the user's, each with a guard: a process that ends all that the program has started.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int spawn(
    char *const *arguments, char *const *environment, int input, int more, int output, pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int code = posix_spawn_file_actions_init(&actions);
    if (code) return code;
    code = posix_spawnattr_init(&attributes);
    if (code) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    if (!code) code = posix_spawn_file_actions_adddup2(&actions, input, 0);
    if (!code) code = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (!code) code = posix_spawn_file_actions_adddup2(&actions, output, 2);
    if (!code && more >= 0) code = posix_spawn_file_actions_adddup2(&actions, more, 3);
    if (!code) code = posix_spawn_file_actions_addchdir_np(&actions, "/");
    if (!code) code = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!code) code = posix_spawnattr_setsigmask(&attributes, &none);
    if (!code) code = posix_spawnattr_setpgroup(&attributes, 0);
    if (!code) {
        code = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }
    if (!code) code = posix_spawnp(process, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

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

// Waits for the program, ends what it leaves behind, and ends as the program has ended.
static _Noreturn void guard(pid_t program, int patience, const sigset_t *signals) {
    int status = 0;
    pid_t ended = 0;
    int64_t end = INT64_MAX;
    for (int64_t now; ended != program && (now = milliseconds()) < end;) {
        int signal = wait_for_signal(signals, end - now < 1000 ? end - now : 1000);
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
    end_the_rest(program, signals);
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

// In the copy of this process: starts the program, says how that went, and watches over it.
static _Noreturn void start_and_guard(
    char *const *arguments, char *const *environment, int input, int more, int output, int patience, int answer,
    pid_t parent) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_NAME, "imagemill-hook");
    pid_t program = 0;
    int code = 0;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) || prctl(PR_SET_PDEATHSIG, SIGTERM)) code = errno;
    // The parent may have ended before.
    if (!code && getppid() != parent) code = ESRCH;
    if (!code) code = spawn(arguments, environment, input, more, output, &program);
    ssize_t written = write(answer, &code, sizeof code);
    if (code || written != sizeof code) _exit(127);
    close_range(0, ~0U, 0);
    guard(program, patience, &signals);
}

int clinux_spawn(
    char *const *arguments, char *const *environment, int input, int more, int output, int patience, pid_t *process) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return errno;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t parent = getpid();
    pid_t copy = fork();
    int code = copy < 0 ? errno : 0;
    if (copy == 0) start_and_guard(arguments, environment, input, more, output, patience, ends[1], parent);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (copy > 0) {
        ssize_t size;
        do size = read(ends[0], &code, sizeof code);
        while (size < 0 && errno == EINTR);
        if (size != sizeof code) code = ECHILD;
        if (code) waitpid(copy, NULL, 0);
    }
    close(ends[0]);
    *process = copy;
    return code;
}
