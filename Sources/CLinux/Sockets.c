// Sockets between processes, with descriptors that are sent along.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/uio.h>

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

int clinux_accept(int socket)
{
    return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}
