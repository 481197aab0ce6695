// New processes: copies of this one, programs, and the starter, which starts programs for one with many descriptors.
#define _GNU_SOURCE
#include "CLinux.h"
#include "Guard.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

// Overwrites the values too: they stay readable in the memory of a process otherwise.
static void forget_environment(void)
{
    for (char **variable = environ; variable && *variable; variable++) memset(*variable, 0, strlen(*variable));
    clearenv();
}

static void reset_signals(void)
{
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// Leaves nothing open but these, which become the first descriptors.
static int take_descriptors(const int *from, int count)
{
    // They may be in each other's way, so they are moved out of it first.
    int high[CLINUX_MOST_PASSED + 1];
    for (int place = 0; place < count; place++) {
        high[place] = fcntl(from[place], F_DUPFD_CLOEXEC, count);
        if (high[place] < 0) return -1;
    }
    for (int place = 0; place < count; place++) {
        if (dup2(high[place], place) < 0) return -1;
    }
    return close_range(count, ~0U, 0);
}

static int open_nothing(void) { return open("/dev/null", O_WRONLY | O_CLOEXEC); }

pid_t clinux_fork(int socket, int errors)
{
    pid_t process = fork();
    if (process != 0) return process;
    int kept[] = {socket, open_nothing(), errors};
    if (take_descriptors(kept, 3) != 0) _exit(70);
    setpgid(0, 0);
    reset_signals();
    forget_environment();
    return 0;
}

// A copy of this process, with all signals blocked, that makes only calls which are safe between fork and exec in a
// process with several threads.
static pid_t copy(int flags)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t process = (pid_t) syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (process == 0) return 0;
    int code = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return process;
}

// The three lists of a program's text, each with NULL at its end, one after the other. NULL if there is no memory.
static char **read_text(int text, const clinux_program *program)
{
    int counts[] = {program->paths, program->arguments, program->environment};
    struct stat status;
    if (fstat(text, &status) != 0) return NULL;
    char *string = mmap(NULL, (size_t) status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, text, 0);
    size_t size = sizeof(char *) * (size_t) (counts[0] + counts[1] + counts[2] + 3);
    char **lists = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (string == MAP_FAILED || lists == MAP_FAILED) return NULL;
    char **place = lists;
    for (int list = 0; list < 3; list++) {
        for (int number = 0; number < counts[list]; number++) {
            *place++ = string;
            string += strlen(string) + 1;
        }
        *place++ = NULL;
    }
    return lists;
}

// Ends this process, which cannot execute its program.
static _Noreturn void refuse(int answer, int code)
{
    ssize_t written = write(answer, &code, sizeof code);
    (void) written;
    _exit(127);
}

static _Noreturn void execute(char **paths, char *const *arguments, char *const *environment, int answer)
{
    int code = ENOENT;
    reset_signals();
    for (; *paths; paths++) {
        execve(*paths, arguments, environment);
        // As a shell does it: the next folder may have it.
        if (errno == EACCES) code = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR) refuse(answer, errno);
    }
    refuse(answer, code);
}

// Watches over a copy of this process, and returns in the copy.
static void guard_a_copy(int patience, pid_t parent, int answer)
{
    if (clinux_become_guard(parent) != 0) refuse(answer, errno);
    pid_t guard = getpid();
    pid_t program = copy(0);
    if (program < 0) refuse(answer, errno);
    if (program > 0) {
        setpgid(program, program);
        close_range(0, ~0U, 0);
        clinux_guard(program, patience);
    }
    // The guard may have ended before.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guard) _exit(127);
    if (chdir("/") != 0) refuse(answer, errno);
}

// In a new process: becomes a program, or its guard.
static _Noreturn void become(const clinux_program *program, const int *descriptors, int count, pid_t parent)
{
    char **paths = read_text(descriptors[0], program);
    if (!paths) refuse(descriptors[1], errno);
    // The answer is the last one. It is closed when the program is executed.
    int kept[CLINUX_MOST_PASSED + 1], answer = count - 2;
    memcpy(kept, descriptors + 2, sizeof *kept * (size_t) answer);
    kept[answer] = descriptors[1];
    if (take_descriptors(kept, answer + 1) != 0) refuse(descriptors[1], errno);
    if (fcntl(answer, F_SETFD, FD_CLOEXEC) != 0) refuse(answer, errno);
    if (program->patience >= 0) guard_a_copy(program->patience, parent, answer);
    setpgid(0, 0);
    char **arguments = paths + program->paths + 1;
    execute(paths, arguments, arguments + program->arguments + 1, answer);
}

pid_t clinux_start(const clinux_program *program, const int *descriptors, int count)
{
    pid_t parent = getpid(), process = copy(0);
    if (process == 0) become(program, descriptors, count, parent);
    return process;
}

static _Noreturn void start_when_asked(pid_t parent)
{
    for (;;) {
        clinux_program program;
        int descriptors[CLINUX_MOST_PASSED + 2], count = CLINUX_MOST_PASSED + 2;
        ssize_t received = clinux_receive(0, &program, sizeof program, descriptors, &count);
        if (received < 0 && errno == EINTR) continue;
        if (received != sizeof program || count < 2) _exit(0);
        // The new process is the starter's brother, so that their parent can wait for it.
        pid_t process = copy(CLONE_PARENT);
        if (process == 0) become(&program, descriptors, count, parent);
        int answer[2] = {process, process < 0 ? errno : 0};
        for (int place = 0; place < count; place++) close(descriptors[place]);
        if (write(0, answer, sizeof answer) != sizeof answer) _exit(0);
    }
}

pid_t clinux_fork_starter(int socket)
{
    // A signal that comes between is this process's alone.
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t parent = getpid(), process = fork();
    if (process != 0) {
        int code = errno;
        sigprocmask(SIG_SETMASK, &before, NULL);
        errno = code;
        return process;
    }
    int nothing = open_nothing(), kept[] = {socket, nothing, nothing};
    if (take_descriptors(kept, 3) != 0) _exit(70);
    setpgid(0, 0);
    reset_signals();
    prctl(PR_SET_NAME, "imagemill-start");
    start_when_asked(parent);
}
