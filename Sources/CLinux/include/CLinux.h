// Kernel interfaces that Swift cannot import, because they are variadic, macros, or laid out by macros.
// Each returns what the call returns and leaves errno; nothing here decides anything.
#ifndef CLINUX_H
#define CLINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The most descriptors that one message can carry (SCM_MAX_FD).
#define CLINUX_MAX_DESCRIPTORS 253

// Sends two buffers and descriptors as one message on a stream socket. `flags` as in send(2). Returns the bytes sent.
ssize_t clinux_send(
    int socket, const void *head, size_t head_size, const void *body, size_t body_size, const int *descriptors,
    int count, int flags);

// Receives up to `size` bytes and the descriptors that came with them, close-on-exec. `count` holds the room, then what
// came.
ssize_t clinux_receive(int socket, void *buffer, size_t size, int *descriptors, int *count);

struct stat;

// fstat by the system call of that name: the C library may take newfstatat, which a worker has to pay for with a trap.
int clinux_status(int file, struct stat *status);

// Accepts a connection, close-on-exec and without waiting.
int clinux_accept(int socket);

// openat with a mode.
int clinux_openat(int directory, const char *path, int flags, mode_t mode);

// A descriptor that keeps a file, and can neither read nor write it.
int clinux_pin(int directory, const char *name);

// An unnamed file in a directory; it vanishes unless it is linked.
int clinux_open_unnamed(int directory, mode_t mode);

// Gives an unnamed file a name in a directory; EEXIST if the name is taken.
int clinux_link_unnamed(int descriptor, int directory, const char *name);

// Sets an extended attribute of an open file.
int clinux_set_attribute(int descriptor, const char *name, const void *value, size_t size);

// Reads an extended attribute of a file in a directory; a link is not followed. Returns its size.
ssize_t clinux_attribute(int directory, const char *file, const char *name, void *value, size_t size);

// Makes a file share the blocks of another, where the file system can.
int clinux_reflink(int to, int from);

// Copies bytes from one file to the same place in another, inside of the kernel. Returns how many, 0 at the end.
ssize_t clinux_copy_range(int to, int from, int64_t offset, size_t size);

// The next data and the next hole of a file from an offset on. ENXIO: there is none.
int64_t clinux_seek_data(int descriptor, int64_t offset);
int64_t clinux_seek_hole(int descriptor, int64_t offset);

// Closes the descriptor in programs that this process starts.
int clinux_close_on_exec(int descriptor);

// An unnamed file in memory.
int clinux_memory_file(const char *name);
// One that takes no more than so many bytes.
int clinux_bounded_memory_file(const char *name, size_t size);

// A descriptor that becomes readable once it is raised, and stays so.
int clinux_event(void);

// Ends this process when its parent ends; refuses core dumps and new privileges.
int clinux_bind_to_parent(void);

// Keeps other processes of the same user out of this one's memory and descriptors (/proc, ptrace), and refuses core
// dumps.
int clinux_refuse_inspection(void);

// This process never dumps core.
int clinux_forbid_core(void);

// From now on this process ends with the code below as soon as the system refuses it a thread. Libraries would take
// that for a fault of the picture that they are at, or abort.
void clinux_end_without_threads(void);
#define CLINUX_ENDED_WITHOUT_THREADS 71

// Set soft limits of a process, so that they can be raised again, to no more than its hard limits.
int clinux_limit_process(pid_t process, uint64_t file_size, uint64_t address_space);

// The version of Landlock that this kernel has; 0: none.
int clinux_landlock_version(void);

// Whether this kernel filters system calls.
int clinux_has_call_filters(void);

// From now on this thread, and those that it makes, can open no file but those below some folders (a list that ends
// with NULL; these for reading only), connect to nothing, and send no signal to others. Needs PR_SET_NO_NEW_PRIVS. 0,
// also where the kernel has no Landlock, or -1.
int clinux_forbid_files(const char *const *readable_folders);

// From now on this process, all its threads, can only use what it has open, its memory, and new threads; it may open
// files for reading if `may_read_files`. Needs PR_SET_NO_NEW_PRIVS. 0, also where the kernel has no filters, or -1.
int clinux_forbid_calls(int may_read_files);

// If memory runs out, the kernel ends this process before others.
int clinux_die_first(void);

// Raises the soft limit of open descriptors to the hard one, or to `most` if that is less. Returns the limit that holds
// now; 0 if the system does not say.
uint64_t clinux_raise_descriptor_limit(uint64_t most);

// Peak resident memory of this process in bytes.
uint64_t clinux_peak_memory(void);

// Resident memory of a process in bytes, by its open /proc/PID/statm; 0 where the system does not say.
uint64_t clinux_resident_memory(int statm);

// Processors that this process may run on; below 1 where the system does not say.
int clinux_usable_processors(void);

// Has everything that was written to the file system of an open folder reach the disk. 0 or -1.
int clinux_sync_file_system(int folder);

// Begins to write an open file's content to the disk, and does not wait for it.
void clinux_begin_sync(int file);

// The next entries of an open folder, as the system writes them. Bytes, 0 at the end, -1. Unlike readdir() it tells
// apart the end and ENOENT, which a file system may answer in the middle.
long clinux_folder_entries(int folder, void *buffer, unsigned long size);

// Columns of a terminal, 0 where it is none.
int clinux_terminal_columns(int descriptor);

// The system's sentence for an error number, safe across threads.
int clinux_error_text(int code, char *buffer, size_t size);

// Copies this process, which must have a single thread. The copy has nothing open but the socket as its standard input,
// nothing at all as its output and `errors` as its error output; it is in a process group of its own, has the default
// for every signal, and forgets its environment. Returns 0 in the copy, its number in this process, and -1 where there
// is no copy.
pid_t clinux_fork(int socket, int errors);

// A program to start. Besides, a file with its text is given: the paths that it may be at, its arguments and its
// environment, each string with a zero at its end.
typedef struct {
    int paths, arguments, environment;
    // If this is not negative, the new process is not the program but its guard, which ends as the program ends, after
    // it has killed whatever the program has left behind, also in sessions of its own. On SIGTERM, and when its parent
    // ends, it sends SIGTERM to the group of the program and kills everything so many milliseconds later. The program
    // is in `/` then, and ends with its guard.
    int patience;
} clinux_program;

// The most descriptors that a program can be given.
#define CLINUX_MOST_PASSED 4

// Starts a program in a process group of its own, with the default for every signal. `descriptors` begins with its text
// and a descriptor for the answer; the others become its first ones, and it has no more. The answer is an errno, if the
// program cannot be executed, and is closed when it is. Returns the number of the new process, a copy of this one with
// copies of all its descriptors at first, or -1. Waits for nothing.
pid_t clinux_start(const clinux_program *program, const int *descriptors, int count);

// Copies this process, which may have several threads. The copy, which has nothing open but its socket, does what
// `clinux_start` does whenever it is sent a `clinux_program` with the descriptors. It answers with two ints: the new
// process's number, or -1, and an errno, or 0. New processes are children of this one and of the calling thread. The
// copy ends when its socket is closed.
pid_t clinux_fork_starter(int socket);

// Threads of this process.
int clinux_thread_count(void);

// Sets an environment variable of this process, which must have a single thread.
int clinux_set_environment(const char *name, const char *value);

// Makes the allocator keep what was freed, up to `bytes`, instead of giving it back to the system each time and asking
// again.
void clinux_keep_freed_memory(size_t bytes);

// Makes the allocator prefer little memory to little waiting: threads share its arenas, so that a process of many
// threads and many years has few gaps.
void clinux_pack_memory(void);

// Says how large the heap may become, freed bytes included, and how many are still to be allocated; 0 at first. Then
// `clinux_return_freed_memory` gives nothing back as long as that fits.
void clinux_bound_heap(size_t most, size_t to_come);

// Gives all that was freed back to the system if that is more than so many bytes, and the heap would grow beyond its
// bound.
void clinux_return_freed_memory(size_t bytes);

// From now on a signal writes its number, one byte, into a descriptor. One that is ignored stays so, unless it is to be
// caught always. All signals share the last descriptor.
int clinux_catch_signal(int number, int descriptor, int always);

// Asks whether anybody has this file open for writing, by taking a read lease and giving it back at once.
// 1: nobody has; 0: somebody has; -1: the system does not say (another user's file, or a file system without leases).
int clinux_nobody_writes(int descriptor);

// Renames, and fails with EEXIST where the new name is taken. EINVAL or ENOSYS: the file system cannot promise that.
int clinux_rename_no_replace(int old_directory, const char *old_name, int new_directory, const char *new_name);

/* Gives each of two names what the other one has, at once. EINVAL if the file system cannot do that. */
int clinux_exchange(int first_directory, const char *first_name, int second_directory, const char *second_name);

// The type of the file system that holds an open file, as statfs(2) has it; 0 where the system does not say.
uint32_t clinux_file_system_type(int descriptor);

// The number of the mount that holds an open file, as in the first column of /proc/self/mountinfo; -1 where the system
// does not say.
int64_t clinux_mount(int descriptor);

// The signal that ended a process, 0 where none did.
int clinux_ending_signal(int status);
int clinux_exit_code(int status);

#endif
