/// The tables and functions in the schema `hearth`, as migrations from nothing to the current
/// state.
///
/// A migration never changes once it has been released, but for leaving out what a later one removes
/// again; further ones are appended.
enum SchemaStatements {
  /// The migrations, in order; the version of a schema is the number of those applied to it.
  static let migrations: [String] = [
    tables + LogStatements.fold + view, ChainStatements.migration,
  ]

  private static let tables = """
    CREATE TABLE hearth.format (version integer NOT NULL);
    INSERT INTO hearth.format VALUES (0);

    CREATE TABLE hearth.databases (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text COLLATE "C" NOT NULL UNIQUE,
      made timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE hearth.databases IS 'The databases by their names.';

    CREATE TABLE hearth.heads (
      database integer PRIMARY KEY REFERENCES hearth.databases ON DELETE CASCADE,
      revision bigint NOT NULL DEFAULT 0,
      batch bigint NOT NULL DEFAULT 0,
      epoch bigint NOT NULL DEFAULT 0,
      writer bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 10);
    COMMENT ON TABLE hearth.heads IS
      'The last commit and the last batch of each database, and the lease and the connection that may add the next.';

    CREATE TABLE hearth.leases (
      database integer PRIMARY KEY REFERENCES hearth.databases ON DELETE CASCADE,
      epoch bigint NOT NULL DEFAULT 0,
      holder text COLLATE "C",
      wanted text COLLATE "C",
      expires timestamptz NOT NULL DEFAULT '-infinity'
    ) WITH (fillfactor = 10);
    COMMENT ON TABLE hearth.leases IS
      'Which server leads each database, until when, and to whom it is to hand it over.';

    CREATE TABLE hearth.servers (
      id text COLLATE "C" PRIMARY KEY,
      host text NOT NULL,
      expires timestamptz NOT NULL
    ) WITH (fillfactor = 10);
    COMMENT ON TABLE hearth.servers IS 'The servers with the hosts that they announce.';

    CREATE TABLE hearth.log (
      database integer NOT NULL REFERENCES hearth.databases ON DELETE CASCADE,
      revision bigint NOT NULL,
      payload bytea NOT NULL,
      PRIMARY KEY (database, revision)
    );
    -- Compressing would keep commits waiting.
    ALTER TABLE hearth.log ALTER COLUMN payload SET STORAGE EXTERNAL;
    COMMENT ON TABLE hearth.log IS
      'The commits that are not in the nodes yet, a row for each batch by its last commit.';

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
      PRIMARY KEY (database, owner, client)
    ) WITH (fillfactor = 50);
    COMMENT ON TABLE hearth.ledger IS 'Up to where the writes of each client have been dealt with.';

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

  /// The view that people and other programs read with SQL.
  private static let view = TreeView.statements
}
