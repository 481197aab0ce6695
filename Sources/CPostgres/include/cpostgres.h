// libpq, the client of PostgreSQL. It is loaded while the program runs, by those whose ledger is there.
//
// No call waits for longer than it is told to, but for the look-up of a host's name.
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

#include <stddef.h>
#include <stdint.h>

/// Loads libpq 14 or newer, once. For any thread.
/// - Returns its version, such as 150018 for 15.18; 0 if there is none.
int cpostgres_load(void);

/// A connection. For one thread at a time.
typedef struct CPostgres CPostgres;
/// The server's answer to one statement.
typedef struct CPostgresResult CPostgresResult;

/// Connects, as the text and libpq's variables of the environment say. Several hosts share the time.
/// - Returns NULL without memory or libpq; else it must be closed, also if it is not connected.
CPostgres *cpostgres_connect(const char *text, int milliseconds);
int cpostgres_is_connected(const CPostgres *);
/// The last error, as libpq says it.
const char *cpostgres_error(const CPostgres *);
void cpostgres_close(CPostgres *);

/// Has the server do one statement, and waits for its answer.
/// - values: the parameters; NULL for one that is null.
/// - formats: 1 for those that are bytes, 0 for texts.
/// - Returns NULL if the connection is gone, or if the time was over; then it must be closed.
CPostgresResult *cpostgres_run(
    CPostgres *, const char *statement, int count, const char *const *values, const int *lengths, const int *formats,
    int milliseconds);

/// - Returns 1 if the statement was done.
int cpostgres_is_done(const CPostgresResult *);
/// The five letters of the error's kind; NULL if it has none.
const char *cpostgres_state(const CPostgresResult *);
const char *cpostgres_message(const CPostgresResult *);
int cpostgres_rows(const CPostgresResult *);
/// Rows that were changed.
int cpostgres_changed(CPostgresResult *);
int cpostgres_columns(const CPostgresResult *);
/// A value as the server keeps it: numbers with the highest byte first.
/// - length: -1 for one that is null.
const uint8_t *cpostgres_value(const CPostgresResult *, int row, int column, int *length);
void cpostgres_clear(CPostgresResult *);

#endif
