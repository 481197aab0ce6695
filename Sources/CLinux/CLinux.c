#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/fs.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>

typedef union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * CLINUX_MAX_DESCRIPTORS)];
} Control;

ssize_t clinux_send(
    int socket, const void *head, size_t head_size, const void *body, size_t body_size, const int *descriptors,
    int count, int flags)
{
    struct iovec parts[2] = {{(void *) head, head_size}, {(void *) body, body_size}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    Control control;
    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * count);
    }
    return sendmsg(socket, &message, flags | MSG_NOSIGNAL);
}

ssize_t clinux_receive(int socket, void *buffer, size_t size, int *descriptors, int *count)
{
    struct iovec part = {buffer, size};
    Control control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control};
    int room = *count;
    *count = 0;
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        int came = (int) ((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        if (came > room) came = room;
        memcpy(descriptors, CMSG_DATA(header), sizeof(int) * came);
        *count = came;
    }
    return received;
}

int clinux_openat(int directory, const char *path, int flags, mode_t mode)
{
    return openat(directory, path, flags, mode);
}

int clinux_pin(int directory, const char *name)
{
    return openat(directory, name, O_PATH | O_CLOEXEC);
}

int clinux_open_unnamed(int directory, mode_t mode)
{
    return openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int clinux_link_unnamed(int descriptor, int directory, const char *name)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, self, directory, name, AT_SYMLINK_FOLLOW);
}

int clinux_set_attribute(int descriptor, const char *name, const void *value, size_t size)
{
    return fsetxattr(descriptor, name, value, size, 0);
}

ssize_t clinux_attribute(int directory, const char *file, const char *name, void *value, size_t size)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, file) >= (int) sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return lgetxattr(path, name, value, size);
}

int clinux_reflink(int to, int from) { return ioctl(to, FICLONE, from); }

ssize_t clinux_copy_range(int to, int from, int64_t offset, size_t size)
{
    off64_t source = offset, target = offset;
    return copy_file_range(from, &source, to, &target, size, 0);
}

int64_t clinux_seek_data(int descriptor, int64_t offset) { return lseek(descriptor, offset, SEEK_DATA); }
int64_t clinux_seek_hole(int descriptor, int64_t offset) { return lseek(descriptor, offset, SEEK_HOLE); }

int clinux_close_on_exec(int descriptor)
{
    return fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

int clinux_memory_file(const char *name)
{
    return memfd_create(name, MFD_CLOEXEC);
}

int clinux_bounded_memory_file(const char *name, size_t size)
{
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0 && ftruncate(file, (off_t) size) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return file;
    close(file);
    return -1;
}

int clinux_status(int file, struct stat *status)
{
    return (int) syscall(SYS_fstat, file, status);
}

int clinux_accept(int socket)
{
    return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

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

uint64_t clinux_peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t) usage.ru_maxrss * 1024 : 0;
}

uint64_t clinux_resident_memory(int statm)
{
    char text[128];
    ssize_t size = pread(statm, text, sizeof text - 1, 0);
    if (size <= 0) return 0;
    text[size] = 0;
    unsigned long pages = 0;
    if (sscanf(text, "%*u %lu", &pages) != 1) return 0;
    return (uint64_t) pages * (uint64_t) sysconf(_SC_PAGESIZE);
}

int clinux_usable_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

int clinux_sync_file_system(int folder)
{
    return syncfs(folder);
}

long clinux_folder_entries(int folder, void *buffer, unsigned long size)
{
    return syscall(SYS_getdents64, folder, buffer, size);
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

// Larger blocks are mapped, each on its own.
enum { LARGEST_BLOCK = 32 << 20 };

void clinux_keep_freed_memory(size_t bytes)
{
    // One arena besides the main one: few threads work at once.
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK);
    mallopt(M_TRIM_THRESHOLD, bytes > INT_MAX ? INT_MAX : (int) bytes);
}

void clinux_pack_memory(void)
{
    mallopt(M_ARENA_MAX, 2);
    // Setting them also keeps the allocator from raising them with the largest block.
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TRIM_THRESHOLD, 128 << 10);
}

// Used by one thread.
static size_t largest_heap, heap_to_come;

void clinux_bound_heap(size_t most, size_t to_come)
{
    largest_heap = most;
    heap_to_come = to_come;
}

void clinux_return_freed_memory(size_t bytes)
{
    struct mallinfo2 heap = mallinfo2();
    if (heap.fordblks <= bytes) return;
    // Blocks that are not mapped on their own are found in what was freed, half of which may be in gaps.
    size_t reused = heap_to_come < 2 * LARGEST_BLOCK ? heap.fordblks / 2 : 0;
    size_t new = heap_to_come > reused ? heap_to_come - reused : 0;
    if (heap.arena + heap.hblkhd + new > largest_heap) malloc_trim(0);
}

int clinux_nobody_writes(int descriptor)
{
    // A writer that comes meanwhile makes the kernel send a signal, SIGIO unless told otherwise, which would end this
    // process.
    if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return -1;
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 0 : -1;
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
    return 1;
}

int clinux_rename_no_replace(int old_directory, const char *old_name, int new_directory, const char *new_name)
{
    return renameat2(old_directory, old_name, new_directory, new_name, RENAME_NOREPLACE);
}

uint32_t clinux_file_system_type(int descriptor)
{
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 ? (uint32_t) status.f_type : 0;
}

int64_t clinux_mount(int descriptor)
{
    struct statx status;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) != 0) return -1;
    if (!(status.stx_mask & STATX_MNT_ID)) return -1;
    return (int64_t) status.stx_mnt_id;
}
