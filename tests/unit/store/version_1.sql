-- A store's index of version 1, as that version has written it. It is never changed: later versions
-- upgrade it.
CREATE TABLE processes ( id INTEGER PRIMARY KEY, host TEXT NOT NULL, boot TEXT NOT NULL, pid INTEGER NOT NULL, ticks INTEGER NOT NULL, started_ns INTEGER NOT NULL, title TEXT NOT NULL, runtime TEXT NOT NULL, comm TEXT NOT NULL, container TEXT NOT NULL, container_name TEXT NOT NULL, pod TEXT NOT NULL, pod_uid TEXT NOT NULL, namespace TEXT NOT NULL, UNIQUE (host, boot, pid, ticks));
CREATE TABLE labels ( process INTEGER NOT NULL REFERENCES processes (id) ON DELETE CASCADE, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (process, key)) WITHOUT ROWID;
CREATE TABLE segments ( id INTEGER PRIMARY KEY, process INTEGER NOT NULL REFERENCES processes (id) ON DELETE CASCADE, name TEXT NOT NULL UNIQUE, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, bytes INTEGER NOT NULL, made_sec INTEGER NOT NULL, is_merged INTEGER NOT NULL);
CREATE INDEX segments_by_time ON segments (process, start_ns);
CREATE INDEX segments_by_age ON segments (made_sec, id);
CREATE INDEX segments_unmerged ON segments (process, start_ns) WHERE is_merged = 0;
CREATE TABLE windows ( segment INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE, kind TEXT NOT NULL, unit TEXT NOT NULL, samples INTEGER NOT NULL, unnamed INTEGER NOT NULL, unrooted INTEGER NOT NULL, PRIMARY KEY (segment, kind)) WITHOUT ROWID;
CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO processes VALUES (1, 'h', 'b', 4711, 5, 1000000, 'org.example.Main', 'OpenJDK 17', 'java', '', '', 'api-1', '', 'shop');
INSERT INTO labels VALUES (1, 'version', '1.2');
INSERT INTO segments VALUES (1, 1, '20231114T221320Z-4711-5.fgrec', 1700000000000000000, 1700000010000000000, 400, 1700000010, 0);
INSERT INTO windows VALUES (1, 'cpu', 'samples', 190, 3, 2);
INSERT INTO facts VALUES ('clock', '700000010 1700000010 b');
PRAGMA user_version = 1;
PRAGMA application_id = 1718055796;
