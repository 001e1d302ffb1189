/* SPDX-License-Identifier: MIT
 *
 * Listening sockets of a tree; see listeners.h.
 */
#include "listeners.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/memory.h"
#include "process_tree.h"

#define STATE_LISTEN 0x0a

struct search {
    uint16_t port;
    bool port_found, is_local;
    char *message;
    size_t size;
};

struct inodes {
    unsigned long long *numbers; /* owned */
    uint32_t count;
};

static bool has_inode(const struct inodes *inodes, unsigned long long inode)
{
    for (uint32_t i = 0; i < inodes->count; i++) {
        if (inodes->numbers[i] == inode)
            return true;
    }
    return false;
}

/* The sockets that a process has open. False when it does not let us look. */
static bool read_inodes(pid_t process, struct inodes *out)
{
    char path[64], link[64];
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)process);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return !process_is_alive(process);
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        unsigned long long inode;
        ssize_t length = readlinkat(dirfd(folder), entry->d_name, link, sizeof link - 1);
        if (length < 0)
            continue;
        link[length] = '\0';
        if (sscanf(link, "socket:[%llu]", &inode) != 1)
            continue;
        if ((out->count & (out->count - 1)) == 0)
            out->numbers = memory_resize(out->numbers, out->count > 0 ? out->count * 2 : 1, sizeof *out->numbers);
        out->numbers[out->count++] = inode;
    }
    closedir(folder);
    return true;
}

/* An address as the kernel prints it: words of four bytes in the machine's order, in hexadecimal. */
static bool read_address(const char *text, unsigned char bytes[16], size_t *size)
{
    size_t digits = strspn(text, "0123456789ABCDEF");
    *size = digits / 2;
    if (digits != 8 && digits != 32)
        return false;
    for (size_t i = 0; i < digits / 8; i++) {
        char word[9];
        memcpy(word, text + 8 * i, 8);
        word[8] = '\0';
        uint32_t number = (uint32_t)strtoul(word, NULL, 16);
        memcpy(bytes + 4 * i, &number, 4);
    }
    return true;
}

static bool is_loopback(const unsigned char *bytes, size_t size)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff}, one[16] = {[15] = 1};
    if (size == 4)
        return bytes[0] == 127;
    return memcmp(bytes, one, 16) == 0 || (memcmp(bytes, mapped, 12) == 0 && bytes[12] == 127);
}

static void judge(struct search *search, const unsigned char *bytes, size_t size, unsigned port)
{
    char text[INET6_ADDRSTRLEN] = "?";
    search->port_found |= port == search->port;
    if (is_loopback(bytes, size))
        return;
    inet_ntop(size == 4 ? AF_INET : AF_INET6, bytes, text, sizeof text);
    search->is_local = false;
    snprintf(search->message, search->size,
             "it listens on %s port %u, where other machines may reach it; only 127.0.0.1 is admitted: tell it so in "
             "its start line",
             text, port);
}

/* The listening sockets among inodes in one table of the kernel. */
static void search_table(struct search *search, pid_t process, const char *table, const struct inodes *inodes)
{
    char path[64], line[512], address[40];
    snprintf(path, sizeof path, "/proc/%ld/net/%s", (long)process, table);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned port, state;
        unsigned long long inode;
        unsigned char bytes[16];
        size_t size;
        if (sscanf(line, "%*u: %36[0-9A-F]:%x %*36[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %llu", address, &port,
                   &state, &inode) == 4 &&
            state == STATE_LISTEN && has_inode(inodes, inode) && read_address(address, bytes, &size))
            judge(search, bytes, size, port);
    }
    if (file != NULL)
        fclose(file);
}

enum listeners listeners_look(pid_t root, uint16_t port, char *message, size_t size)
{
    struct search search = {.port = port, .is_local = true, .message = message, .size = size};
    struct process_list list;
    process_tree_list(root, &list);
    for (uint32_t i = 0; i < list.count && search.is_local; i++) {
        struct inodes inodes = {NULL, 0};
        if (!read_inodes(list.pids[i], &inodes)) {
            search.is_local = false;
            snprintf(message, size, "process %ld does not let its sockets be seen: %s", (long)list.pids[i],
                     strerror(errno));
        }
        if (inodes.count > 0) {
            search_table(&search, list.pids[i], "tcp", &inodes);
            search_table(&search, list.pids[i], "tcp6", &inodes);
        }
        free(inodes.numbers);
    }
    process_list_fini(&list);
    if (!search.is_local)
        return LISTENERS_OPEN;
    snprintf(message, size, "none of its processes listens on port %u", port);
    return search.port_found ? LISTENERS_LOCAL : LISTENERS_MISSING;
}
