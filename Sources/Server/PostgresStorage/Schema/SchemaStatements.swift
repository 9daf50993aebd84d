/// The tables and functions in the schema `hearth`.
enum SchemaStatements {
  /// The version of the schema; the first was never released.
  static let version = 2
  static let creation =
    tables + LogStatements.fold + TreeView.statements + ChainStatements.functions

  private static let tables = """
    CREATE TABLE hearth.format (version integer NOT NULL);
    INSERT INTO hearth.format VALUES (\(version));

    CREATE TABLE hearth.databases (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text COLLATE "C" NOT NULL UNIQUE,
      made timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE hearth.databases IS 'The databases by their names.';

    CREATE TABLE hearth.leases (
      database integer PRIMARY KEY REFERENCES hearth.databases ON DELETE CASCADE,
      epoch bigint NOT NULL DEFAULT 0,
      holder text COLLATE "C",
      wanted text COLLATE "C",
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      renewal bigint NOT NULL DEFAULT 0,
      renewed timestamptz NOT NULL DEFAULT clock_timestamp(),
      milliseconds bigint NOT NULL DEFAULT 10000
    ) WITH (fillfactor = 10);
    COMMENT ON TABLE hearth.leases IS
      'Which server leads each database, and to whom it is to hand it over. A lease has no end: another server takes it after it has seen no renewal for its milliseconds by its own clock.';
    COMMENT ON COLUMN hearth.leases.renewed IS 'For people only: no lease ends by this time.';

    CREATE TABLE hearth.servers (
      id text COLLATE "C" PRIMARY KEY,
      host text NOT NULL,
      renewal bigint NOT NULL DEFAULT 0,
      renewed timestamptz NOT NULL DEFAULT clock_timestamp(),
      milliseconds bigint NOT NULL
    ) WITH (fillfactor = 10);
    COMMENT ON TABLE hearth.servers IS 'The servers with the hosts that they announce.';

    CREATE TABLE hearth.log (
      database integer NOT NULL REFERENCES hearth.databases ON DELETE CASCADE,
      batch bigint NOT NULL,
      id uuid NOT NULL,
      written uuid NOT NULL,
      lease uuid NOT NULL,
      revision bigint NOT NULL,
      payload bytea,
      CONSTRAINT log_chain PRIMARY KEY (database, batch)
    );
    -- Compressing would keep commits waiting.
    ALTER TABLE hearth.log ALTER COLUMN payload SET STORAGE EXTERNAL;
    COMMENT ON TABLE hearth.log IS
      'The batches that are not in the nodes yet, and always the last one. A row without payload has no commits: it stores other data, or is the barrier of a new lease or connection.';
    COMMENT ON COLUMN hearth.log.written IS
      'The id of the last row that is no barrier.';

    CREATE TABLE hearth.losses (
      database text COLLATE "C" NOT NULL,
      id uuid NOT NULL,
      seen bigint NOT NULL,
      batches bigint NOT NULL,
      commits bigint NOT NULL,
      old_timeline bigint NOT NULL,
      new_timeline bigint NOT NULL,
      noticed timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (database, id)
    );
    COMMENT ON TABLE hearth.losses IS
      'What servers had seen in PostgreSQL and no longer found there, by the last batch that each saw.';

    CREATE TABLE hearth.nodes (
      database integer NOT NULL REFERENCES hearth.databases ON DELETE CASCADE,
      path bytea NOT NULL,
      value bytea NOT NULL,
      PRIMARY KEY (database, path)
    );
    COMMENT ON TABLE hearth.nodes IS 'The leaves and small subtrees, packed; hearth.hearth_tree shows them.';

    CREATE TABLE hearth.folds (
      database integer PRIMARY KEY REFERENCES hearth.databases ON DELETE CASCADE,
      revision bigint NOT NULL DEFAULT 0,
      target bigint NOT NULL DEFAULT 0,
      applied bigint NOT NULL DEFAULT 0,
      rows bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50);
    COMMENT ON TABLE hearth.folds IS 'How far the log of each database is in the nodes.';

    CREATE TABLE hearth.ledger (
      database integer NOT NULL REFERENCES hearth.databases ON DELETE CASCADE,
      owner bytea NOT NULL,
      client bytea NOT NULL,
      up_to bigint NOT NULL,
      refused text NOT NULL,
      last_seen bigint NOT NULL,
      -- A new entry is a new row: a row that changes with every commit of a client would have as many
      -- versions as there are commits while a snapshot is open.
      batch bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (database, owner, client, batch)
    );
    COMMENT ON TABLE hearth.ledger IS
      'Up to where the writes of each client have been dealt with; the row of the last batch counts.';

    CREATE TABLE hearth.sessions (
      database integer NOT NULL REFERENCES hearth.databases ON DELETE CASCADE,
      id bigint NOT NULL,
      identity bytea NOT NULL,
      PRIMARY KEY (database, id)
    );
    CREATE TABLE hearth.scheduled (
      database integer NOT NULL REFERENCES hearth.databases ON DELETE CASCADE,
      session bigint NOT NULL,
      path bytea NOT NULL,
      value bytea NOT NULL,
      PRIMARY KEY (database, session, path)
    );
    COMMENT ON TABLE hearth.scheduled IS 'What connections have scheduled for their ends.';

    CREATE TABLE hearth.rules (
      database integer PRIMARY KEY REFERENCES hearth.databases ON DELETE CASCADE,
      source bytea NOT NULL
    );

    CREATE TABLE hearth.accounts (
      database bytea NOT NULL, uid bytea NOT NULL, email bytea, body bytea NOT NULL,
      PRIMARY KEY (database, uid), UNIQUE (database, email)
    );
    CREATE TABLE hearth.sign_ins (
      number bigint GENERATED ALWAYS AS IDENTITY,
      id bytea PRIMARY KEY, database bytea NOT NULL, uid bytea NOT NULL,
      used bigint NOT NULL, body bytea NOT NULL
    );
    CREATE INDEX sign_ins_of_accounts ON hearth.sign_ins (database, uid, used);
    CREATE TABLE hearth.tokens (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      hash bytea NOT NULL UNIQUE,
      sign_in bytea NOT NULL REFERENCES hearth.sign_ins (id) ON DELETE CASCADE,
      replaced bigint
    );
    CREATE INDEX tokens_of_sign_ins ON hearth.tokens (sign_in, number);
    CREATE TABLE hearth.codes (
      hash bytea PRIMARY KEY, database bytea NOT NULL, uid bytea NOT NULL,
      expires bigint NOT NULL, body bytea NOT NULL
    );
    CREATE TABLE hearth.revocations (
      database bytea NOT NULL, uid bytea NOT NULL, valid_since bigint NOT NULL,
      PRIMARY KEY (database, uid)
    );
    CREATE TABLE hearth.secrets (name text PRIMARY KEY, body bytea NOT NULL);
    REVOKE ALL ON hearth.accounts, hearth.sign_ins, hearth.tokens, hearth.codes, hearth.revocations,
      hearth.secrets FROM PUBLIC;


    """
}
