// Processors, signals, limits and the terminal.
#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

int clinux_event(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int clinux_bind_to_parent(void)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return -1;
    if (prctl(PR_SET_DUMPABLE, 0) != 0) return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int clinux_refuse_inspection(void) { return prctl(PR_SET_DUMPABLE, 0); }

int clinux_forbid_core(void)
{
    struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_CORE, &none);
}

uint64_t clinux_raise_descriptor_limit(uint64_t most)
{
    struct rlimit both;
    if (getrlimit(RLIMIT_NOFILE, &both) != 0) return 0;
    rlim_t wanted = both.rlim_max < most ? both.rlim_max : most;
    if (wanted <= both.rlim_cur) return both.rlim_cur;
    struct rlimit raised = {wanted, both.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? wanted : both.rlim_cur;
}

int clinux_usable_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

int clinux_terminal_columns(int descriptor)
{
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int clinux_error_text(int code, char *buffer, size_t size)
{
    return snprintf(buffer, size, "%s", strerrordesc_np(code) ? strerrordesc_np(code) : "unknown error") < 0;
}

// Written before the handler is set, and only read in it.
static volatile sig_atomic_t signal_descriptor;

static void tell_signal(int number)
{
    int saved = errno;
    char byte = (char) number;
    ssize_t written = write(signal_descriptor, &byte, 1);
    (void) written;
    errno = saved;
}

int clinux_catch_signal(int number, int descriptor, int always)
{
    struct sigaction old;
    if (sigaction(number, NULL, &old) != 0) return -1;
    if (old.sa_handler == SIG_IGN && !always) return 0;
    signal_descriptor = descriptor;
    struct sigaction action = {.sa_handler = tell_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL);
}

int clinux_ending_signal(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }
int clinux_exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }

int clinux_thread_count(void)
{
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return -1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(tasks));) count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

int clinux_set_environment(const char *name, const char *value) { return setenv(name, value, 1); }
