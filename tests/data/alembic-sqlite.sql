-- The tables of each version of a storage as Alembic made them on SQLite, before ramgape did it by itself.
-- Such storages exist, and must open after an upgrade. Never change this file.

-- version 0001
CREATE TABLE ramgape_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT ramgape_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE ramgape_studies (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    "key" TEXT NOT NULL,
    specification TEXT NOT NULL,
    created_at DOUBLE_BLOB NOT NULL,
    revision BIGINT NOT NULL,
    asked BIGINT NOT NULL,
    told BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    stopped_at BIGINT,
    decision TEXT NOT NULL,
    CONSTRAINT ramgape_studies_name UNIQUE (name)
);
CREATE TABLE ramgape_pulls (
    study_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    arm INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    worker TEXT,
    lease_until DOUBLE_BLOB NOT NULL,
    failures INTEGER NOT NULL,
    failed_attempt INTEGER NOT NULL,
    given_up BOOLEAN NOT NULL,
    CONSTRAINT ramgape_pulls_key PRIMARY KEY (study_id, number),
    CONSTRAINT ramgape_pulls_study FOREIGN KEY(study_id) REFERENCES ramgape_studies (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE ramgape_observations (
    study_id BIGINT NOT NULL,
    place BIGINT NOT NULL,
    number BIGINT,
    attempt INTEGER NOT NULL,
    arm INTEGER NOT NULL,
    reward DOUBLE_BLOB NOT NULL,
    failed BOOLEAN NOT NULL,
    worker TEXT,
    told_at DOUBLE_BLOB NOT NULL,
    origin TEXT,
    CONSTRAINT ramgape_observations_key PRIMARY KEY (study_id, place),
    CONSTRAINT ramgape_observations_number UNIQUE (study_id, number),
    CONSTRAINT ramgape_observations_study FOREIGN KEY(study_id) REFERENCES ramgape_studies (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE ramgape_failures (
    study_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    attempt INTEGER NOT NULL,
    arm INTEGER NOT NULL,
    worker TEXT,
    reason TEXT NOT NULL,
    failed_at DOUBLE_BLOB NOT NULL,
    CONSTRAINT ramgape_failures_key PRIMARY KEY (study_id, number, attempt),
    CONSTRAINT ramgape_failures_study FOREIGN KEY(study_id) REFERENCES ramgape_studies (id) ON DELETE CASCADE
) WITHOUT ROWID;
INSERT INTO ramgape_version (version_num) VALUES ('0001');

-- version 0002
ALTER TABLE ramgape_studies ADD COLUMN withdrawn BIGINT DEFAULT '0' NOT NULL;
ALTER TABLE ramgape_studies ADD COLUMN chain BIGINT DEFAULT '0' NOT NULL;
ALTER TABLE ramgape_studies ADD COLUMN batches BIGINT DEFAULT '0' NOT NULL;
ALTER TABLE ramgape_studies ADD COLUMN seal BIGINT DEFAULT '0' NOT NULL;
ALTER TABLE ramgape_pulls ADD COLUMN token TEXT DEFAULT '' NOT NULL;
ALTER TABLE ramgape_pulls ADD COLUMN answer DOUBLE_BLOB;
ALTER TABLE ramgape_pulls ADD COLUMN answered_at DOUBLE_BLOB;
ALTER TABLE ramgape_pulls ADD COLUMN answer_failed BOOLEAN DEFAULT 0 NOT NULL;
ALTER TABLE ramgape_pulls ADD COLUMN answer_attempt INTEGER DEFAULT '0' NOT NULL;
ALTER TABLE ramgape_pulls ADD COLUMN seal BIGINT DEFAULT '0' NOT NULL;
ALTER TABLE ramgape_pulls ADD COLUMN clock TEXT DEFAULT '' NOT NULL;
ALTER TABLE ramgape_pulls ADD COLUMN revision BIGINT DEFAULT '0' NOT NULL;
CREATE INDEX ramgape_pulls_revision ON ramgape_pulls (study_id, revision);
ALTER TABLE ramgape_observations ADD COLUMN token TEXT;
ALTER TABLE ramgape_observations ADD COLUMN chain BIGINT DEFAULT '0' NOT NULL;
ALTER TABLE ramgape_observations ADD COLUMN seal BIGINT DEFAULT '0' NOT NULL;
ALTER TABLE ramgape_failures ADD COLUMN token TEXT DEFAULT '' NOT NULL;
ALTER TABLE ramgape_failures ADD COLUMN seal BIGINT DEFAULT '0' NOT NULL;
CREATE TABLE ramgape_batches (
    study_id BIGINT NOT NULL,
    place BIGINT NOT NULL,
    size BIGINT NOT NULL,
    seal BIGINT DEFAULT '0' NOT NULL,
    CONSTRAINT ramgape_batches_key PRIMARY KEY (study_id, place),
    CONSTRAINT ramgape_batches_study FOREIGN KEY(study_id) REFERENCES ramgape_studies (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE UNIQUE INDEX ramgape_studies_random ON ramgape_studies ("key");
UPDATE ramgape_version SET version_num='0002' WHERE ramgape_version.version_num = '0001';

-- version 0003
CREATE TABLE ramgape_snapshots (
    study_id BIGINT NOT NULL,
    told BIGINT NOT NULL,
    chain BIGINT NOT NULL,
    batches BIGINT NOT NULL,
    stopped_at BIGINT,
    stamp TEXT NOT NULL,
    state BLOB NOT NULL,
    seal BIGINT NOT NULL,
    CONSTRAINT ramgape_snapshots_key PRIMARY KEY (study_id),
    CONSTRAINT ramgape_snapshots_study FOREIGN KEY(study_id) REFERENCES ramgape_studies (id) ON DELETE CASCADE
);
UPDATE ramgape_version SET version_num='0003' WHERE ramgape_version.version_num = '0002';

-- version 0004
ALTER TABLE ramgape_pulls ADD COLUMN item BIGINT;
ALTER TABLE ramgape_pulls ADD COLUMN answer_price DOUBLE_BLOB;
ALTER TABLE ramgape_pulls ADD COLUMN answer_info TEXT;
ALTER TABLE ramgape_observations ADD COLUMN item BIGINT;
ALTER TABLE ramgape_observations ADD COLUMN price DOUBLE_BLOB;
ALTER TABLE ramgape_observations ADD COLUMN info TEXT;
UPDATE ramgape_version SET version_num='0004' WHERE ramgape_version.version_num = '0003';

-- version 0005
CREATE TABLE ramgape_requests (
    study_id BIGINT NOT NULL,
    "key" TEXT NOT NULL,
    digest TEXT NOT NULL,
    answer TEXT NOT NULL,
    made_at DOUBLE_BLOB NOT NULL,
    seal BIGINT NOT NULL,
    CONSTRAINT ramgape_requests_key PRIMARY KEY (study_id, "key"),
    CONSTRAINT ramgape_requests_study FOREIGN KEY(study_id) REFERENCES ramgape_studies (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX ramgape_requests_made ON ramgape_requests (study_id, made_at);
UPDATE ramgape_version SET version_num='0005' WHERE ramgape_version.version_num = '0004';

-- version 0006
ALTER TABLE ramgape_studies ADD COLUMN lost BIGINT DEFAULT '0' NOT NULL;
UPDATE ramgape_version SET version_num='0006' WHERE ramgape_version.version_num = '0005';
