/* Tiny mail servers for the tests of lines: each a forked child that serves one connection after another on 127.0.0.1. */
#ifndef EPISTLE_TESTS_UNIT_LINE_SERVER_H
#define EPISTLE_TESTS_UNIT_LINE_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERVER_SECONDS = 120, SERVER_LINE_MAX = 4096 }; /* a server whose test has died ends by itself */

typedef struct Server {
    pid_t id;
    char url[64]; /* with the scheme given to server_start() */
} Server;

static inline void say(int client, const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        ssize_t sent = send(client, text, left, MSG_NOSIGNAL);
        if (sent <= 0)
            _exit(0); /* the test has gone */
        text += sent;
        left -= (size_t)sent;
    }
}

/* One line without its end; false at the end of the connection. */
static inline bool hear(int client, char *ret_line) {
    size_t length = 0;
    char byte;
    while (length < SERVER_LINE_MAX - 1 && recv(client, &byte, 1, 0) == 1) {
        if (byte == '\n') {
            ret_line[length > 0 && ret_line[length - 1] == '\r' ? length - 1 : length] = 0;
            return true;
        }
        ret_line[length++] = byte;
    }
    return false;
}

/* A command's name behind IMAP's tag, and the tag. */
static inline const char *without_command_tag(const char *line, char *ret_tag, size_t size) {
    const char *end = strchr(line, ' ');
    if (end == NULL)
        return line;
    snprintf(ret_tag, size, "%.*s", (int)(end - line), line);
    return end + 1;
}

static inline Server server_start(const char *scheme, void (*serve)(int client)) {
    Server server = { .id = -1 };
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 8) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        abort();
    snprintf(server.url, sizeof server.url, "%s://127.0.0.1:%d", scheme, ntohs(address.sin_port));
    fflush(NULL);
    server.id = fork();
    if (server.id == 0) {
        alarm(SERVER_SECONDS);
        for (;;) {
            int client = accept(listener, NULL, NULL);
            if (client < 0)
                _exit(1);
            serve(client);
            close(client);
        }
    }
    close(listener);
    return server;
}

static inline void server_stop(Server *server) {
    if (server->id > 0) {
        kill(server->id, SIGKILL);
        waitpid(server->id, NULL, 0);
    }
    server->id = -1;
}

#endif
