// The guard of a program, for the process that becomes it. All its signals are blocked.
#ifndef CLINUX_GUARD_H
#define CLINUX_GUARD_H

#include <sys/types.h>

// Makes this process the reaper of all that its children leave behind, and has SIGTERM come when its parent ends, which
// must be this one. 0 or -1.
int clinux_become_guard(pid_t parent);

// Waits for the program, a child in a group of its own, kills what it leaves behind, and ends as the program has ended.
// On SIGTERM it sends SIGTERM to the program's group, and kills everything `patience` milliseconds later.
_Noreturn void clinux_guard(pid_t program, int patience);

#endif
