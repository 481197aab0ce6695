// The tables of a ledger in PostgreSQL.
import Postgres

enum PostgresSchema {
    /// The number of the present layout, in the table `ledger`. Rises with each migration.
    static let version = 1

    /// The condition of every query over open jobs: a partial index is used only if the query repeats its words.
    static let isOpen = "state NOT IN ('done', 'failed')"

    /// The ledger's time in milliseconds, by the server's clock: no machine's decides anything. Constant within a
    /// statement, so that an index can be searched by it.
    static let now = "imagemill_now()"

    /// A migration that was released stays as it is: it names no word of the code, and the next one comes after it.
    static let migrations = [ledger]

    // Rows of `jobs` are written five times. Pages with room keep the new ones near the old, and a busy table is cleaned
    // early. Ended jobs are few, since they are pruned, and in no index of open ones.
    private static let ledger = """
        CREATE TABLE ledger (id uuid NOT NULL, layout integer NOT NULL, is_new boolean NOT NULL DEFAULT true);
        INSERT INTO ledger (id, layout) VALUES (gen_random_uuid(), 1);
        CREATE FUNCTION imagemill_now() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
            AS 'SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint';
        CREATE TABLE jobs (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id text NOT NULL UNIQUE,
            inbox text NOT NULL,
            path bytea NOT NULL,
            is_set boolean NOT NULL,
            device bigint NOT NULL,
            inode bigint NOT NULL,
            bytes bigint NOT NULL,
            modified bigint NOT NULL,
            originals text NOT NULL CHECK (originals IN ('move', 'keep', 'delete')),
            state text NOT NULL
                CHECK (state IN ('offered', 'running', 'waiting', 'published', 'rejected', 'done', 'failed')),
            attempts bigint NOT NULL CHECK (attempts >= 0),
            ends bigint NOT NULL CHECK (ends >= 0),
            not_before bigint NOT NULL,
            code text,
            stage text,
            message text,
            detail text,
            recipe text NOT NULL,
            offered bigint NOT NULL,
            changed bigint NOT NULL,
            owner text,
            token text,
            lease_until bigint,
            contents text,
            CHECK ((owner IS NULL) = (token IS NULL) AND (token IS NULL) = (lease_until IS NULL)))
            WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
        CREATE UNIQUE INDEX one_open_job ON jobs (inbox, path) WHERE state NOT IN ('done', 'failed');
        CREATE INDEX due_jobs ON jobs (inbox, not_before, number) WHERE state NOT IN ('done', 'failed');
        CREATE INDEX same_contents ON jobs (inbox, contents) WHERE contents IS NOT NULL;
        CREATE INDEX contents_of_paths ON jobs (inbox, path) WHERE contents IS NOT NULL;
        CREATE INDEX ended_jobs ON jobs (state, number) WHERE state IN ('done', 'failed');
        CREATE TABLE reports (job bigint PRIMARY KEY, document bytea NOT NULL);
        CREATE TABLE names (
            outbox bytea NOT NULL, name bytea NOT NULL, source bytea NOT NULL, contents text, PRIMARY KEY (outbox, name));
        CREATE INDEX names_of_sources ON names (outbox, source);
        CREATE TABLE kept (
            inbox text NOT NULL, path bytea NOT NULL, device bigint NOT NULL, inode bigint NOT NULL, bytes bigint NOT NULL,
            modified bigint NOT NULL, recipe text NOT NULL, code text, PRIMARY KEY (inbox, path));
        CREATE TABLE shelved (
            inbox text NOT NULL, shelf text NOT NULL, path bytea NOT NULL, changed bigint NOT NULL, bytes bigint NOT NULL,
            since bigint NOT NULL, PRIMARY KEY (inbox, shelf, path));
        CREATE INDEX oldest_shelved ON shelved (inbox, shelf, since, changed, path);
        CREATE TABLE totals (inbox text PRIMARY KEY, done bigint NOT NULL, failed bigint NOT NULL);
        CREATE TABLE history (
            inbox text NOT NULL, hour bigint NOT NULL, done bigint NOT NULL, failed bigint NOT NULL,
            PRIMARY KEY (inbox, hour));
        CREATE TABLE inboxes (name text PRIMARY KEY);
        CREATE TABLE pauses (inbox text PRIMARY KEY, since bigint NOT NULL);
        CREATE TABLE hooks (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, inbox text NOT NULL, event text NOT NULL,
            key text NOT NULL, body bytea, attempts bigint NOT NULL CHECK (attempts >= 0), not_before bigint NOT NULL,
            created bigint NOT NULL, UNIQUE (inbox, key));
        CREATE INDEX due_hooks ON hooks (not_before, inbox) WHERE body IS NOT NULL;
        CREATE TABLE hook_losses (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, time bigint NOT NULL, inbox text NOT NULL, event text,
            source bytea, action text, count bigint NOT NULL, reason text NOT NULL);
        CREATE TABLE identity (is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), text text NOT NULL);
        """

    /// Makes the tables in an empty schema, or brings those of an earlier version to the present layout, in one
    /// transaction.
    static func migrate(_ connection: PostgresConnection) throws(PostgresError) {
        try connection.run("BEGIN")
        // Two that do it at once.
        try connection.run("SELECT pg_advisory_xact_lock(hashtextextended('imagemill ' || current_schema(), 0))")
        let found = try layout(connection) ?? 0
        for migration in migrations.dropFirst(found) {
            // Statements with parameters are done one at a time.
            for statement in migration.split(separator: ";\n") { try connection.run(String(statement)) }
        }
        if found > 0, found < version { try connection.run("UPDATE ledger SET layout = $1", [.integer(version)]) }
        try connection.run("COMMIT")
    }

    /// The number of the layout; nil if there is no ledger.
    static func layout(_ connection: PostgresConnection) throws(PostgresError) -> Int? {
        let isThere =
            try connection.run("SELECT to_regclass(quote_ident(current_schema()) || '.ledger') IS NOT NULL").first?
            .boolean(0) == true
        return isThere ? try connection.run("SELECT layout FROM ledger").first?.integer(0) : nil
    }
}
