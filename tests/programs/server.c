/* server.c - the scripted server as a program: `server SCRIPT [LOG]`; see tests/server.h. */
#include "server.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *read_script(const char *argument, struct buf *out)
{
    char bytes[4096];
    if (strchr(argument, '\n'))
        return argument;
    FILE *file = fopen(argument, "rb");
    if (!file)
        return NULL;
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        buf_put(out, bytes, n);
    fclose(file);
    return buf_text(out);
}

int main(int argc, char **argv)
{
    auto_buf struct buf text = { 0 };
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: server SCRIPT [LOG]\n");
        return 2;
    }
    const char *script = read_script(argv[1], &text);
    if (!script) {
        fprintf(stderr, "server: %s: %s\n", argv[1], strerror(errno));
        return 2;
    }
    struct server *server = server_new(script, argv[2]);
    printf("%d\n", server_port(server));
    fflush(stdout);
    server_serve(server, STDIN_FILENO);
    server_stop(server);
    return 0;
}
