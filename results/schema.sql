-- SPDX-License-Identifier: MIT
--
-- The store of measured repeats, version 1. README.md says it in words and shows how to query it by hand.
--
-- Rows are only ever added. Checksums are FNV-1a (64 bits) over what a row says; with the counts in store and progress
-- they make a lost or changed row visible.

-- One row: how many sweeps there must be.
CREATE TABLE store (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    sweeps INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;

-- One row per sweep, as it was begun. seed is a decimal number up to 2^64 - 1.
CREATE TABLE sweep (
    sweep_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    plan TEXT NOT NULL,
    plan_hash INTEGER NOT NULL,
    context TEXT NOT NULL,
    seed TEXT NOT NULL,
    started_unix_s INTEGER NOT NULL,
    repeats_planned INTEGER NOT NULL,
    extra INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX sweep_by_plan ON sweep (plan_hash);

-- How far each sweep has come; changes together with run.
CREATE TABLE progress (
    sweep_id INTEGER PRIMARY KEY REFERENCES sweep (sweep_id),
    repeats_stored INTEGER NOT NULL,
    finished_unix_s INTEGER NOT NULL, -- 0: unfinished
    checksum INTEGER NOT NULL
) STRICT;

-- One row per measured repeat. NULL is unknown.
CREATE TABLE run (
    run INTEGER PRIMARY KEY,
    /*RESULT_COLUMNS*/
    invalid_reason TEXT,
    checksum INTEGER NOT NULL, -- over this row, its settings and its values, histogram_checksum included
    histogram_checksum INTEGER,
    histogram BLOB, -- encoded latency histogram
    CHECK (sweep_id IS NOT NULL AND cell_id IS NOT NULL AND repeat IS NOT NULL),
    FOREIGN KEY (sweep_id) REFERENCES sweep (sweep_id),
    UNIQUE (sweep_id, cell_id, repeat)
) STRICT;
CREATE INDEX run_by_sweep ON run (sweep_id);

-- Further parameters, as the user wrote them.
CREATE TABLE setting (
    run INTEGER NOT NULL REFERENCES run (run),
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

-- Counters and other numbers that a variant declares.
CREATE TABLE value (
    run INTEGER NOT NULL REFERENCES run (run),
    name TEXT NOT NULL,
    number REAL NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

-- Always empty: written to and emptied again to prove, before a measurement, that there is room and permission.
CREATE TABLE probe (data BLOB NOT NULL) STRICT;

CREATE TRIGGER run_never_changes BEFORE UPDATE ON run
BEGIN SELECT RAISE(ABORT, 'stored rows never change'); END;
CREATE TRIGGER run_stays BEFORE DELETE ON run
BEGIN SELECT RAISE(ABORT, 'stored rows never change'); END;
CREATE TRIGGER setting_never_changes BEFORE UPDATE ON setting
BEGIN SELECT RAISE(ABORT, 'stored rows never change'); END;
CREATE TRIGGER setting_stays BEFORE DELETE ON setting
BEGIN SELECT RAISE(ABORT, 'stored rows never change'); END;
CREATE TRIGGER value_never_changes BEFORE UPDATE ON value
BEGIN SELECT RAISE(ABORT, 'stored rows never change'); END;
CREATE TRIGGER value_stays BEFORE DELETE ON value
BEGIN SELECT RAISE(ABORT, 'stored rows never change'); END;
CREATE TRIGGER sweep_never_changes BEFORE UPDATE ON sweep
BEGIN SELECT RAISE(ABORT, 'stored rows never change'); END;
CREATE TRIGGER sweep_stays BEFORE DELETE ON sweep
BEGIN SELECT RAISE(ABORT, 'stored rows never change'); END;
