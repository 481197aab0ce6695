// The memory of this process, and how much of it the allocator keeps.
#define _GNU_SOURCE
#include "CLinux.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/resource.h>

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

// Larger blocks are mapped, each on its own.
enum { LARGEST_BLOCK = 32 << 20 };

void clinux_keep_freed_memory(size_t bytes)
{
    // One arena for all threads: what is free at the top of another one is never given back on request.
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK);
    mallopt(M_TRIM_THRESHOLD, bytes > INT_MAX ? INT_MAX : (int) bytes);
}

void clinux_pack_memory(void)
{
    mallopt(M_ARENA_MAX, 2);
    // Setting them also keeps the allocator from raising them with the largest block.
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    // Messages and reports come and go by some hundred kilobytes: less would be given back, and asked for again
    // each time.
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
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
