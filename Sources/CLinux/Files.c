// Files and folders: what Glibc's Swift overlay hides or has no function for.
#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

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

int clinux_sync_file_system(int folder)
{
    return syncfs(folder);
}

void clinux_begin_sync(int file)
{
    sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
}

long clinux_folder_entries(int folder, void *buffer, unsigned long size)
{
    return syscall(SYS_getdents64, folder, buffer, size);
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

int clinux_exchange(int first_directory, const char *first_name, int second_directory, const char *second_name)
{
    return renameat2(first_directory, first_name, second_directory, second_name, RENAME_EXCHANGE);
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
