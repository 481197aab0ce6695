// A decoder that a picture has taken over: when the worker begins its first JPEG, this tries what an attacker would,
// writes a line for each attempt to the error output, and ends the process. Preloaded into a worker by SandboxTests.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

static void report(const char *attempt, long result)
{
    dprintf(2, "%s: %s\n", attempt, result >= 0 ? "possible" : "refused");
}

static long opens(const char *path, int flags)
{
    int file = open(path, flags, 0600);
    if (file >= 0) close(file);
    return file;
}

static long reads_font(void)
{
    char path[] = "/usr/share/fonts";
    return opens(path, O_RDONLY | O_DIRECTORY);
}

static void attack(void)
{
    char path[64];
    pid_t parent = getppid();
    report("read /etc/passwd", opens("/etc/passwd", O_RDONLY));
    report("list the root", opens("/", O_RDONLY | O_DIRECTORY));
    report("list the working folder", opens(".", O_RDONLY | O_DIRECTORY));
    report("make a file", opens("/tmp/imagemill-attack", O_WRONLY | O_CREAT));
    snprintf(path, sizeof path, "/proc/%d/mem", parent);
    report("open the supervisor's memory", opens(path, O_RDWR));
    snprintf(path, sizeof path, "/proc/%d/environ", parent);
    report("read the supervisor's environment", opens(path, O_RDONLY));
    for (int file = 3; file < 20; file++) {
        if (fcntl(file, F_GETFL) < 0) continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        report("open an own file again", opens(path, O_RDWR));
    }
    int network = socket(AF_INET, SOCK_STREAM, 0);
    report("make a network socket", network);
    report("make a local socket", socket(AF_UNIX, SOCK_STREAM, 0));
    report("make a netlink socket", socket(AF_NETLINK, SOCK_RAW, 0));
    report("fork", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    report("fork by clone3", syscall(435, NULL, 0));
    char *arguments[] = {"/bin/true", NULL};
    report("execute a program", execve("/bin/true", arguments, NULL));
    report("trace the supervisor", ptrace(PTRACE_SEIZE, parent, 0, 0));
    struct iovec here = {path, 8}, there = {path, 8};
    report("read the supervisor's memory", process_vm_readv(parent, &here, 1, &there, 1, 0));
    report("signal the supervisor", kill(parent, 0));
    report("signal everybody", kill(-1, 0));
    report("signal a thread of the supervisor", syscall(SYS_tgkill, parent, parent, 0));
    report("set up io_uring", syscall(425, 8, path));
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    report("raise an own limit", setrlimit(RLIMIT_FSIZE, &limit));
    report("limit the supervisor", prlimit(parent, RLIMIT_NOFILE, NULL, &limit));
    report("become dumpable", prctl(PR_SET_DUMPABLE, 1));
    report("enter a new user namespace", unshare(CLONE_NEWUSER));
    report("load a filter", syscall(SYS_bpf, 0, path, 8));
    report("own a descriptor's signals", fcntl(0, F_SETOWN, parent));
    report("type into a terminal", ioctl(0, TIOCSTI, "x"));
    report("map memory that nobody counts", (long) mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    report("end as the system ends processes", syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGKILL));
    report("read a font folder", reads_font());
    struct stat status = {0};
    report("look at a path", syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &status, AT_EMPTY_PATH));
    report("look at the working folder", syscall(SYS_newfstatat, AT_FDCWD, "", &status, AT_EMPTY_PATH));
    status.st_mode = 0;
    report("look at an own file", fstat(0, &status) == 0 && S_ISSOCK(status.st_mode) ? 0 : -1);
    status.st_mode = 0;
    long looked = syscall(SYS_newfstatat, 0, "", &status, AT_EMPTY_PATH);
    report("look at an own file by the call of a path", looked == 0 && S_ISSOCK(status.st_mode) ? 0 : -1);
    errno = 0;
    looked = syscall(SYS_newfstatat, 999, "", &status, AT_EMPTY_PATH);
    report("learn that a file is not open", looked == -1 && errno == EBADF ? 0 : -1);
    _exit(99);
}

// libjpeg's first call for a picture.
void jpeg_CreateDecompress(void *info, int version, size_t size)
{
    (void) info, (void) version, (void) size;
    attack();
}
