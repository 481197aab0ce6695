// The walls of a worker process: Landlock for the file system, a filter of system calls for everything else.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

// Later than the kernel headers of the oldest system: as in the kernel's documentation of Landlock.
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#define ACCESS_FS_IOCTL_DEV (1ULL << 15)
#define ACCESS_NET_BIND_TCP (1ULL << 0)
#define ACCESS_NET_CONNECT_TCP (1ULL << 1)
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define SCOPE_SIGNAL (1ULL << 1)

// The kernel takes a shorter or longer structure than its own if what it does not know is 0.
typedef struct {
    uint64_t handled_access_fs, handled_access_net, scoped;
} Rules;

int clinux_landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 ? 0 : (int) version;
}

int clinux_has_call_filters(void)
{
    // The compiler's checks of memory and threads need calls that a worker must not have.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
    return 0;
#endif
#endif
    uint32_t action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

static int allow_reading(int rules, const char *folder)
{
    struct landlock_path_beneath_attr rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
        .parent_fd = open(folder, O_PATH | O_CLOEXEC | O_DIRECTORY),
    };
    // A folder that is not there needs no rule.
    if (rule.parent_fd < 0) return 0;
    long result = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return (int) result;
}

int clinux_forbid_files(const char *const *readable_folders)
{
    int version = clinux_landlock_version();
    if (version == 0) return 0;
    Rules attributes = {.handled_access_fs = LANDLOCK_ACCESS_FS_REFER - 1};
    if (version >= 2) attributes.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) attributes.handled_access_fs |= LANDLOCK_ACCESS_FS_TRUNCATE;
    if (version >= 4) attributes.handled_access_net = ACCESS_NET_BIND_TCP | ACCESS_NET_CONNECT_TCP;
    if (version >= 5) attributes.handled_access_fs |= ACCESS_FS_IOCTL_DEV;
    if (version >= 6) attributes.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
    int rules = (int) syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (rules < 0) return -1;
    int result = 0;
    for (; result == 0 && *readable_folders; readable_folders++) result = allow_reading(rules, *readable_folders);
    if (result == 0) result = (int) syscall(SYS_landlock_restrict_self, rules, 0);
    int error = errno;
    close(rules);
    errno = error;
    return result;
}

// The calls that decoding, encoding, memory, threads, clocks and the worker's open files need. All others answer
// ENOSYS, which libraries take for an old kernel.
static const int allowed_calls[] = {
    // Open files.
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(write), SCMP_SYS(writev),
    SCMP_SYS(pwrite64), SCMP_SYS(pwritev),
    SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(dup), SCMP_SYS(fstat), SCMP_SYS(ftruncate), SCMP_SYS(fallocate),
    SCMP_SYS(fadvise64), SCMP_SYS(fsync),
    SCMP_SYS(fdatasync), SCMP_SYS(umask),
    // The socket to the supervisor.
    SCMP_SYS(sendmsg), SCMP_SYS(recvmsg), SCMP_SYS(recvfrom), SCMP_SYS(poll), SCMP_SYS(ppoll),
    // Memory.
    SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise), SCMP_SYS(brk),
    // Threads.
    SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(membarrier),
    SCMP_SYS(exit), SCMP_SYS(exit_group),
    // Signals of its own.
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    // Facts.
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo), SCMP_SYS(getrusage), SCMP_SYS(times), SCMP_SYS(getrandom),
    // Time.
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
};

// Answered as for a file that one may not open, which libraries expect.
static const int refused_opens[] = {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(creat)};

// To find fonts.
static const int reading_calls[] = {
    SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(newfstatat),
    SCMP_SYS(getdents64),
    SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(statfs), SCMP_SYS(fstatfs),
};

// O_TMPFILE contains O_DIRECTORY, which reading a folder needs.
static const uint64_t writing_flags = O_ACCMODE | O_CREAT | (O_TMPFILE & ~O_DIRECTORY) | O_TRUNC | O_APPEND;

// A call that this processor does not have needs no rule.
static int add(
    scmp_filter_ctx filter, uint32_t action, int call, unsigned count, const struct scmp_arg_cmp *comparisons)
{
    int result = call == __NR_SCMP_ERROR ? 0 : seccomp_rule_add_array(filter, action, call, count, comparisons);
    return result == -EDOM ? 0 : result;
}

static int add_all(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
    int result = 0;
    for (size_t index = 0; result == 0 && index < count; index++) result = add(filter, action, calls[index], 0, NULL);
    return result;
}

#define ADD_ALL(filter, action, calls) add_all(filter, action, calls, sizeof calls / sizeof *calls)
#define ALLOW_IF(filter, call, ...) \
    add(filter, SCMP_ACT_ALLOW, call, sizeof((struct scmp_arg_cmp[]){__VA_ARGS__}) / sizeof(struct scmp_arg_cmp), \
        (struct scmp_arg_cmp[]){__VA_ARGS__})

static int add_rules(scmp_filter_ctx filter, int may_read_files)
{
    int result = ADD_ALL(filter, SCMP_ACT_ALLOW, allowed_calls);
    // A new thread, never a process. The flags of clone3 are in memory, where no filter sees them; without it the C
    // library uses clone.
    if (!result) result = ALLOW_IF(filter, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    // A worker that ends by SIGKILL is the system's doing.
    if (!result)
        result = ALLOW_IF(
            filter, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t) getpid()), SCMP_A2(SCMP_CMP_NE, SIGKILL));
    // Shared memory of no file could be let go and kept, so that it would not count as the process's own.
    if (!result) result = ALLOW_IF(filter, SCMP_SYS(mmap), SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, 0));
    if (!result) result = ALLOW_IF(filter, SCMP_SYS(mmap), SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_SHARED, 0));
    if (!result) result = ALLOW_IF(filter, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
    // Its limits can be read only: the supervisor sets them.
    if (!result) result = ALLOW_IF(filter, SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0));
    // Others make the kernel send signals to other processes.
    if (!result) result = ALLOW_IF(filter, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, F_DUPFD_CLOEXEC));
    if (!result) result = ALLOW_IF(filter, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, F_GETFL));
    if (!result && may_read_files) {
        result = ADD_ALL(filter, SCMP_ACT_ALLOW, reading_calls);
        if (!result) result = ALLOW_IF(filter, SCMP_SYS(open), SCMP_A1(SCMP_CMP_MASKED_EQ, writing_flags, 0));
        if (!result) result = ALLOW_IF(filter, SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, writing_flags, 0));
    } else if (!result) {
        // fstat is this call on some systems.
        result = add(filter, SCMP_ACT_TRAP, SCMP_SYS(newfstatat), 0, NULL);
        if (!result) result = ADD_ALL(filter, SCMP_ACT_ERRNO(EACCES), refused_opens);
    }
    return result;
}

// Answers newfstatat for open files alone. Its path is in memory, where no filter sees it, so the call never reaches
// the kernel; whoever replaces this handler can ask for no more.
static void answer_status_call(int number, siginfo_t *call, void *context)
{
    (void) number;
    ucontext_t *state = context;
#if defined(__x86_64__)
    greg_t *registers = state->uc_mcontext.gregs;
    long file = registers[REG_RDI], path = registers[REG_RSI], status = registers[REG_RDX];
    greg_t *answer = &registers[REG_RAX];
#elif defined(__aarch64__)
    unsigned long long *answer = state->uc_mcontext.regs;
    long file = answer[0], path = answer[1], status = answer[2];
#else
#error "where this processor has the arguments of a call"
#endif
    int saved = errno;
    int is_about_file = call->si_syscall == SYS_newfstatat && (!path || !*(const char *) path);
    *answer = is_about_file ? syscall(SYS_fstat, file, status) == 0 ? 0 : -errno : -EACCES;
    errno = saved;
}

int clinux_forbid_calls(int may_read_files)
{
    if (!clinux_has_call_filters()) return 0;
    struct sigaction action = {.sa_sigaction = answer_status_call, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGSYS, &action, NULL) != 0) return -1;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter) {
        errno = ENOMEM;
        return -1;
    }
    // For threads that libraries have made already, too. A binary tree is searched faster than a list.
    int result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!result) result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (!result) result = add_rules(filter, may_read_files);
    if (!result) result = seccomp_load(filter);
    seccomp_release(filter);
    if (result) errno = -result;
    return result ? -1 : 0;
}

int clinux_die_first(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t written = write(file, "500", 3);
    close(file);
    return written == 3 ? 0 : -1;
}

static int soft_limit(pid_t process, __rlimit_resource_t resource, uint64_t value)
{
    struct rlimit both;
    if (prlimit(process, resource, NULL, &both) != 0) return -1;
    both.rlim_cur = value < both.rlim_max ? value : both.rlim_max;
    return prlimit(process, resource, &both, NULL);
}

int clinux_limit_process(pid_t process, uint64_t file_size, uint64_t address_space)
{
    return soft_limit(process, RLIMIT_FSIZE, file_size) == 0 ? soft_limit(process, RLIMIT_AS, address_space) : -1;
}
