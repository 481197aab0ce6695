#include "cpostgres.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

// https://www.postgresql.org/docs/current/libpq.html; the structures are opaque.
enum { OLDEST_VERSION = 140000 };
enum { CONNECTION_OK = 0, CONNECTION_BAD = 1 };
enum { POLLING_FAILED, POLLING_READING, POLLING_WRITING, POLLING_OK };
enum { EMPTY_QUERY, COMMAND_OK, TUPLES_OK };
enum { SQLSTATE = 'C' };

static struct {
    int version;
    CPostgres *(*connect_start)(const char *);
    int (*connect_poll)(CPostgres *);
    int (*status)(const CPostgres *);
    char *(*error)(const CPostgres *);
    void (*finish)(CPostgres *);
    int (*socket)(const CPostgres *);
    int (*set_nonblocking)(CPostgres *, int);
    int (*send)(
        CPostgres *, const char *, int, const unsigned *, const char *const *, const int *, const int *, int);
    int (*flush)(CPostgres *);
    int (*consume)(CPostgres *);
    int (*is_busy)(CPostgres *);
    CPostgresResult *(*result)(CPostgres *);
    int (*result_status)(const CPostgresResult *);
    char *(*result_error)(const CPostgresResult *);
    char *(*result_field)(const CPostgresResult *, int);
    int (*rows)(const CPostgresResult *);
    int (*columns)(const CPostgresResult *);
    char *(*changed)(CPostgresResult *);
    char *(*value)(const CPostgresResult *, int, int);
    int (*length)(const CPostgresResult *, int, int);
    int (*is_null)(const CPostgresResult *, int, int);
    void (*clear)(CPostgresResult *);
} library;

static int find(void *handle)
{
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"PQconnectStart", &library.connect_start},
        {"PQconnectPoll", &library.connect_poll},
        {"PQstatus", &library.status},
        {"PQerrorMessage", &library.error},
        {"PQfinish", &library.finish},
        {"PQsocket", &library.socket},
        {"PQsetnonblocking", &library.set_nonblocking},
        {"PQsendQueryParams", &library.send},
        {"PQflush", &library.flush},
        {"PQconsumeInput", &library.consume},
        {"PQisBusy", &library.is_busy},
        {"PQgetResult", &library.result},
        {"PQresultStatus", &library.result_status},
        {"PQresultErrorMessage", &library.result_error},
        {"PQresultErrorField", &library.result_field},
        {"PQntuples", &library.rows},
        {"PQnfields", &library.columns},
        {"PQcmdTuples", &library.changed},
        {"PQgetvalue", &library.value},
        {"PQgetlength", &library.length},
        {"PQgetisnull", &library.is_null},
        {"PQclear", &library.clear},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(handle, functions[i].name);
        if (!found)
            return -1;
        *(void **)functions[i].function = found;
    }
    return 0;
}

static void load(void)
{
    void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return;
    int (*version)(void) = NULL;
    *(void **)&version = dlsym(handle, "PQlibVersion");
    if (version && version() >= OLDEST_VERSION && find(handle) == 0)
        library.version = version();
}

int cpostgres_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return library.version;
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Waits until the connection can be read or written. Returns 0 when the time is over.
static int wait_for(CPostgres *connection, short events, int64_t end)
{
    for (;;) {
        int64_t left = end - now();
        struct pollfd file = {library.socket(connection), events, 0};
        if (left <= 0 || file.fd < 0)
            return 0;
        int count = poll(&file, 1, (int)left);
        if (count > 0)
            return 1;
        if (count < 0 && errno != EINTR)
            return 0;
    }
}

CPostgres *cpostgres_connect(const char *text, int milliseconds)
{
    if (!cpostgres_load())
        return NULL;
    int64_t end = now() + milliseconds;
    CPostgres *connection = library.connect_start(text);
    if (!connection || library.status(connection) == CONNECTION_BAD)
        return connection;
    for (int next = POLLING_WRITING; next == POLLING_WRITING || next == POLLING_READING;) {
        if (!wait_for(connection, next == POLLING_WRITING ? POLLOUT : POLLIN, end))
            return connection;
        next = library.connect_poll(connection);
    }
    if (library.status(connection) == CONNECTION_OK)
        library.set_nonblocking(connection, 1);
    return connection;
}

int cpostgres_is_connected(const CPostgres *connection)
{
    return library.status(connection) == CONNECTION_OK;
}

const char *cpostgres_error(const CPostgres *connection) { return library.error(connection); }

void cpostgres_close(CPostgres *connection) { library.finish(connection); }

CPostgresResult *cpostgres_run(
    CPostgres *connection, const char *statement, int count, const char *const *values, const int *lengths,
    const int *formats, int milliseconds)
{
    int64_t end = now() + milliseconds;
    if (!library.send(connection, statement, count, NULL, values, lengths, formats, 1))
        return NULL;
    for (int left; (left = library.flush(connection)) != 0;) {
        // The server may want to be read before it reads on.
        if (left < 0 || !wait_for(connection, POLLIN | POLLOUT, end) || !library.consume(connection))
            return NULL;
    }
    CPostgresResult *result = NULL;
    for (;;) {
        while (library.is_busy(connection)) {
            if (!wait_for(connection, POLLIN, end) || !library.consume(connection)) {
                if (result)
                    library.clear(result);
                return NULL;
            }
        }
        CPostgresResult *next = library.result(connection);
        if (!next)
            return result;
        if (result)
            library.clear(result);
        result = next;
    }
}

int cpostgres_is_done(const CPostgresResult *result)
{
    int status = library.result_status(result);
    return status == COMMAND_OK || status == TUPLES_OK;
}

const char *cpostgres_state(const CPostgresResult *result) { return library.result_field(result, SQLSTATE); }

const char *cpostgres_message(const CPostgresResult *result) { return library.result_error(result); }

int cpostgres_rows(const CPostgresResult *result) { return library.rows(result); }

int cpostgres_changed(CPostgresResult *result) { return atoi(library.changed(result)); }

int cpostgres_columns(const CPostgresResult *result) { return library.columns(result); }

const uint8_t *cpostgres_value(const CPostgresResult *result, int row, int column, int *length)
{
    *length = library.is_null(result, row, column) ? -1 : library.length(result, row, column);
    return (const uint8_t *)library.value(result, row, column);
}

void cpostgres_clear(CPostgresResult *result) { library.clear(result); }
