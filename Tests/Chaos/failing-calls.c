// For experiments only: preloaded into a program, lets the n-th call that touches a file below a folder fail. See
// README.md beside it.
//
//   FAILING_ROOT=/path     only calls on paths below it count
//   FAILING_CALL=n         which one fails, from 1; 0 or nothing: count only
//   FAILING_ERROR=EIO      or ENOSPC, EINTR, EMFILE, EDQUOT, EROFS, EACCES, ESTALE; or
//                          SHORT: the n-th write writes half
//                          LOST: the n-th rename or unlink is done and answers ENOENT, as after a lost answer of a
//                          file server; and no rename can refuse to replace (RENAME_NOREPLACE is EINVAL), as on NFS
//   FAILING_LOG=file       a line for each call: number, call, path, and `failed` where it was made to
//   FAILING_ONLY=word      only calls whose path has this in it
//   FAILING_EXCEPT=word    no calls whose path has this in it
//   FAILING_RECORD=folder  writes down, in calls.txt there, every change of names and every sync, and copies what was
//                          synced: see power-loss
//
// Counts in the process that has loaded it, not in copies of it: so the numbers are those of one process, whatever its
// workers do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static char root[4096], only[256], except[256], record_folder[4096];
static long chosen;
static int error_number = EIO, is_short, is_lost, log_file = -1, record_file = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pid_t owner;
static atomic_long count;
static __thread int inside;

static const struct { const char *name; int number; } errors[] = {
    {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EINTR", EINTR}, {"EMFILE", EMFILE}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS},
    {"EACCES", EACCES}, {"ESTALE", ESTALE},
};

static void refuse(const char *what)
{
    dprintf(2, "failing-calls: %s\n", what);
    _exit(64);
}

static int open_log(const char *path)
{
    int file = (int) syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    // High up, where no program expects a descriptor of its own.
    int high = fcntl(file, F_DUPFD_CLOEXEC, 900);
    if (high < 0) return file;
    syscall(SYS_close, file);
    return high;
}

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("FAILING_ROOT");
    if (!text || text[0] != '/' || strlen(text) >= sizeof root) refuse("FAILING_ROOT must be an absolute path");
    strcpy(root, text);
    if ((text = getenv("FAILING_ONLY"))) snprintf(only, sizeof only, "%s", text);
    if ((text = getenv("FAILING_EXCEPT"))) snprintf(except, sizeof except, "%s", text);
    if ((text = getenv("FAILING_CALL"))) chosen = atol(text);
    if ((text = getenv("FAILING_ERROR"))) {
        is_short = strcmp(text, "SHORT") == 0;
        is_lost = strcmp(text, "LOST") == 0;
        int known = is_short || is_lost;
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
            if (strcmp(text, errors[i].name) == 0) error_number = errors[i].number, known = 1;
        if (!known) refuse("FAILING_ERROR is not one that is known");
    }
    if ((text = getenv("FAILING_LOG"))) log_file = open_log(text);
    if ((text = getenv("FAILING_RECORD"))) {
        char path[4200];
        snprintf(record_folder, sizeof record_folder, "%s", text);
        snprintf(path, sizeof path, "%s/calls.txt", text);
        record_file = open_log(path);
    }
    owner = getpid();
}

static int is_below_root(const char *path)
{
    size_t length = strlen(root);
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == 0);
}

// Whether this call is the one. `write` says whether a short result makes sense for it. Only calls that can fail in the
// chosen way are counted.
static int strikes_as(const char *call, const char *path, int write, int removes_a_name)
{
    if (inside || getpid() != owner || !is_below_root(path)) return 0;
    if (only[0] && !strstr(path, only)) return 0;
    if (except[0] && strstr(path, except)) return 0;
    if (is_short && !write) return 0;
    if (is_lost != removes_a_name) return 0;
    inside = 1;
    long number = atomic_fetch_add(&count, 1) + 1;
    int strikes = number == chosen;
    if (log_file >= 0) {
        char line[4500];
        int size = snprintf(line, sizeof line, "%ld %s %s%s\n", number, call, path, strikes ? " failed" : "");
        if (size > 0) syscall(SYS_write, log_file, line, size < (int) sizeof line ? size : (int) sizeof line);
    }
    inside = 0;
    if (strikes && !is_short) errno = error_number;
    return strikes;
}

static int strikes(const char *call, const char *path, int write) { return strikes_as(call, path, write, 0); }

// The whole path that a call means. Returns 0 where it cannot be told.
static int resolve(char full[8192], int folder, const char *path)
{
    const char *rest = path;
    if (path[0] == '/') {
        if (strncmp(path, "/proc/self/fd/", 14) != 0) return snprintf(full, 8192, "%s", path) > 0;
        folder = atoi(path + 14);
        rest = strchr(path + 14, '/');
        rest = rest ? rest + 1 : "";
    }
    if (folder == AT_FDCWD) {
        if (!getcwd(full, 4096)) return 0;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t size = readlink(link, full, 4095);
        if (size < 0) return 0;
        full[size] = 0;
    }
    if (rest[0]) snprintf(full + strlen(full), 8192 - strlen(full), "/%s", rest);
    return 1;
}

// The result of a call that takes a name away: in the chosen case ENOENT though it was done.
static int answer(const char *call, int folder, const char *path, int result)
{
    char full[8192];
    int saved = errno;
    if (!is_lost || result != 0 || !resolve(full, folder, path) || !strikes_as(call, full, 0, 1)) {
        errno = saved;
        return result;
    }
    errno = ENOENT;
    return -1;
}

static int strikes_at(const char *call, int folder, const char *path)
{
    char full[8192];
    return resolve(full, folder, path) && strikes(call, full, 0);
}

// The record of changes and syncs, for power-loss. Each call and its line belong together, so that the lines have the
// order of the calls.

static int is_recorded(void) { return record_file >= 0 && !inside && getpid() == owner; }

static void record(const char *call, const char *first, const char *second, unsigned long inode)
{
    char line[17000];
    if (!is_below_root(second)) return;
    int size = snprintf(line, sizeof line, "%s\t%lu\t%s\t%s\n", call, inode, first, second);
    syscall(SYS_write, record_file, line, size);
}

static unsigned long inode_at(const char *path)
{
    struct stat status;
    return syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino : 0;
}

static unsigned long inode_of(int file)
{
    struct stat status;
    return syscall(SYS_newfstatat, file, "", &status, AT_EMPTY_PATH) == 0 ? status.st_ino : 0;
}

static void record_sync(int file)
{
    static int number;
    struct stat status;
    char path[8192], copy[4300];
    if (!resolve(path, file, "") || !is_below_root(path)) return;
    if (syscall(SYS_newfstatat, file, "", &status, AT_EMPTY_PATH) != 0) return;
    if (S_ISDIR(status.st_mode)) return record("sync-folder", "", path, status.st_ino);
    snprintf(copy, sizeof copy, "%s/%d", record_folder, ++number);
    int to = (int) syscall(SYS_openat, AT_FDCWD, copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    // A descriptor that can only be written to is opened anew.
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    int from = (int) syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
    char block[65536];
    for (off_t place = 0; place < status.st_size;) {
        ssize_t got = syscall(SYS_pread64, from, block, sizeof block, place);
        if (got <= 0) break;
        syscall(SYS_write, to, block, got);
        place += got;
    }
    // A sync covers what a file says of its origin.
    ssize_t attribute = syscall(SYS_fgetxattr, from, "user.imagemill", block, sizeof block);
    if (attribute >= 0) syscall(SYS_fsetxattr, to, "user.imagemill", block, attribute, 0);
    syscall(SYS_close, from);
    syscall(SYS_close, to);
    snprintf(copy, sizeof copy, "%d", number);
    record("sync-file", copy, path, status.st_ino);
}

// Does a call, and writes it down where it went well.
#define RECORDED(type, call, writing_down) \
    if (!is_recorded()) return call; \
    pthread_mutex_lock(&turn); \
    inside = 1; \
    type result = call; \
    int saved = errno; \
    if (result >= 0) writing_down; \
    errno = saved; \
    inside = 0; \
    pthread_mutex_unlock(&turn); \
    return result

#define RECORDED_AT(call, name, folder, path) \
    char full[8192]; \
    RECORDED(int, call, if (resolve(full, folder, path)) record(name, "", full, inode_at(full)))

static int opened(int folder, const char *path, int flags, mode_t mode)
{
    int unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    if (!(flags & O_CREAT) && !unnamed) return (int) syscall(SYS_openat, folder, path, flags, mode);
    char full[8192];
    RECORDED(int, (int) syscall(SYS_openat, folder, path, flags, mode),
        if (resolve(full, folder, path)) record(unnamed ? "unnamed" : "create", "", full, inode_of(result)));
}

static int strikes_file(const char *call, int file, int write)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return strikes(call, path, write);
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__)) dlsym(RTLD_NEXT, name)

#define OPEN(function) \
    int function(const char *path, int flags, ...) \
    { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        if (strikes_at("open", AT_FDCWD, path)) return -1; \
        return opened(AT_FDCWD, path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(function) \
    int function(int folder, const char *path, int flags, ...) \
    { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        if (strikes_at("openat", folder, path)) return -1; \
        return opened(folder, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int file, const void *bytes, size_t size)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    if (!strikes_file("write", file, 1)) return real(file, bytes, size);
    return is_short ? real(file, bytes, size > 1 ? size / 2 : size) : -1;
}

#define PWRITE(function, type) \
    ssize_t function(int file, const void *bytes, size_t size, type offset) \
    { \
        REAL(ssize_t, #function, int, const void *, size_t, type); \
        if (!strikes_file("pwrite", file, 1)) return real(file, bytes, size, offset); \
        return is_short ? real(file, bytes, size > 1 ? size / 2 : size, offset) : -1; \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t read(int file, void *bytes, size_t size)
{
    REAL(ssize_t, "read", int, void *, size_t);
    return strikes_file("read", file, 0) ? -1 : real(file, bytes, size);
}

#define PREAD(function, type) \
    ssize_t function(int file, void *bytes, size_t size, type offset) \
    { \
        REAL(ssize_t, #function, int, void *, size_t, type); \
        return strikes_file("pread", file, 0) ? -1 : real(file, bytes, size, offset); \
    }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

#define ONE_FILE(function) \
    int function(int file) \
    { \
        REAL(int, #function, int); \
        if (strikes_file(#function, file, 0)) return -1; \
        RECORDED(int, real(file), record_sync(file)); \
    }
ONE_FILE(fsync)
ONE_FILE(fdatasync)

int close(int file)
{
    REAL(int, "close", int);
    int struck = strikes_file("close", file, 0), saved = errno;
    // The descriptor is gone in either case, as on Linux.
    int result = real(file);
    if (!struck) return result;
    errno = saved;
    return -1;
}

int ftruncate(int file, off_t size)
{
    REAL(int, "ftruncate", int, off_t);
    return strikes_file("ftruncate", file, 0) ? -1 : real(file, size);
}

int ftruncate64(int file, off64_t size)
{
    REAL(int, "ftruncate64", int, off64_t);
    return strikes_file("ftruncate", file, 0) ? -1 : real(file, size);
}

ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned flags)
{
    REAL(ssize_t, "copy_file_range", int, off64_t *, int, off64_t *, size_t, unsigned);
    if (!strikes_file("copy_file_range", to, 1)) return real(from, from_offset, to, to_offset, size, flags);
    return is_short ? real(from, from_offset, to, to_offset, size > 1 ? size / 2 : size, flags) : -1;
}

#define RENAMED(call, old_folder, old, new_folder, new) \
    char from[8192], to[8192]; \
    int known = resolve(from, old_folder, old) && resolve(to, new_folder, new); \
    RECORDED(int, call, if (known) record("rename", from, to, inode_at(to)))

int rename(const char *old, const char *new)
{
    REAL(int, "rename", const char *, const char *);
    if (strikes_at("rename", AT_FDCWD, new)) return -1;
    RENAMED(answer("rename", AT_FDCWD, new, real(old, new)), AT_FDCWD, old, AT_FDCWD, new);
}

int renameat(int old_folder, const char *old, int new_folder, const char *new)
{
    REAL(int, "renameat", int, const char *, int, const char *);
    if (strikes_at("renameat", new_folder, new)) return -1;
    RENAMED(
        answer("renameat", new_folder, new, real(old_folder, old, new_folder, new)), old_folder, old, new_folder, new);
}

int renameat2(int old_folder, const char *old, int new_folder, const char *new, unsigned flags)
{
    REAL(int, "renameat2", int, const char *, int, const char *, unsigned);
    if (strikes_at("renameat2", new_folder, new)) return -1;
    if (is_lost && flags) {
        errno = EINVAL;
        return -1;
    }
    RENAMED(
        answer("renameat2", new_folder, new, real(old_folder, old, new_folder, new, flags)), old_folder, old,
        new_folder, new);
}

int link(const char *old, const char *new)
{
    REAL(int, "link", const char *, const char *);
    if (strikes_at("link", AT_FDCWD, new)) return -1;
    RECORDED_AT(real(old, new), "link", AT_FDCWD, new);
}

int linkat(int old_folder, const char *old, int new_folder, const char *new, int flags)
{
    REAL(int, "linkat", int, const char *, int, const char *, int);
    if (strikes_at("linkat", new_folder, new)) return -1;
    RECORDED_AT(real(old_folder, old, new_folder, new, flags), "link", new_folder, new);
}

int symlinkat(const char *target, int folder, const char *path)
{
    REAL(int, "symlinkat", const char *, int, const char *);
    if (strikes_at("symlinkat", folder, path)) return -1;
    char full[8192];
    RECORDED(int, real(target, folder, path),
             if (resolve(full, folder, path)) record("symlink", target, full, inode_at(full)));
}

int unlink(const char *path)
{
    REAL(int, "unlink", const char *);
    if (strikes_at("unlink", AT_FDCWD, path)) return -1;
    RECORDED_AT(answer("unlink", AT_FDCWD, path, real(path)), "unlink", AT_FDCWD, path);
}

int unlinkat(int folder, const char *path, int flags)
{
    REAL(int, "unlinkat", int, const char *, int);
    if (strikes_at("unlinkat", folder, path)) return -1;
    RECORDED_AT(answer("unlinkat", folder, path, real(folder, path, flags)), "unlink", folder, path);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(int, "mkdir", const char *, mode_t);
    if (strikes_at("mkdir", AT_FDCWD, path)) return -1;
    RECORDED_AT(real(path, mode), "mkdir", AT_FDCWD, path);
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    REAL(int, "mkdirat", int, const char *, mode_t);
    if (strikes_at("mkdirat", folder, path)) return -1;
    RECORDED_AT(real(folder, path, mode), "mkdir", folder, path);
}
