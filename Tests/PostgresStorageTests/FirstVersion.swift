@testable import PostgresStorage

/// The functions of the first version of the schema, which the second removes.
enum FirstVersion {
  static let functions = databases + leases + commit

  private static let databases = """
    CREATE FUNCTION hearth.make_database(new_name text) RETURNS integer LANGUAGE plpgsql AS $$
    DECLARE db integer;
    BEGIN
      INSERT INTO hearth.databases (name) VALUES (new_name)
        ON CONFLICT DO NOTHING RETURNING id INTO db;
      IF db IS NOT NULL THEN
        INSERT INTO hearth.heads (database) VALUES (db);
        INSERT INTO hearth.leases (database) VALUES (db);
        INSERT INTO hearth.folds (database) VALUES (db);
      END IF;
      RETURN db;
    END $$;


    """

  private static let leases = """
    CREATE FUNCTION hearth.microseconds_until(moment timestamptz) RETURNS bigint
    LANGUAGE sql VOLATILE AS $$
      SELECT greatest(0, floor(extract(epoch FROM moment - clock_timestamp()) * 1000000))::bigint
    $$;

    CREATE FUNCTION hearth.acquire(db_name text, server text, milliseconds bigint)
    RETURNS TABLE (number bigint, owner text, remaining bigint, wish text) LANGUAGE plpgsql AS $$
    DECLARE lease hearth.leases;
    BEGIN
      SELECT l.* INTO lease FROM hearth.leases l JOIN hearth.databases d ON d.id = l.database
        WHERE d.name = db_name FOR UPDATE OF l;
      IF NOT FOUND THEN RETURN; END IF;
      IF lease.holder IS NULL OR lease.holder = server OR lease.expires <= clock_timestamp() THEN
        lease.epoch := lease.epoch + 1;
        lease.holder := server;
        lease.wanted := NULL;
        -- Waits for a commit of the leader before: whatever follows it is refused.
        UPDATE hearth.heads h SET epoch = lease.epoch WHERE h.database = lease.database;
        lease.expires := clock_timestamp() + milliseconds * interval '1 millisecond';
        UPDATE hearth.leases l SET epoch = lease.epoch, holder = lease.holder, wanted = NULL,
            expires = lease.expires WHERE l.database = lease.database;
      END IF;
      RETURN QUERY SELECT lease.epoch, lease.holder, hearth.microseconds_until(lease.expires),
        lease.wanted;
    END $$;

    CREATE FUNCTION hearth.renew(server text, milliseconds bigint) RETURNS integer
    LANGUAGE plpgsql AS $$
    DECLARE renewed integer;
    BEGIN
      UPDATE hearth.leases SET expires =
          greatest(expires, clock_timestamp() + milliseconds * interval '1 millisecond')
        WHERE holder = server AND expires > clock_timestamp();
      GET DIAGNOSTICS renewed = ROW_COUNT;
      RETURN renewed;
    END $$;

    CREATE FUNCTION hearth.cluster()
    RETURNS TABLE (kind text, name text, owner text, number bigint, remaining bigint, wish text)
    LANGUAGE sql VOLATILE AS $$
      SELECT 'server', s.id::text, s.host, 0::bigint, hearth.microseconds_until(s.expires),
          NULL::text
        FROM hearth.servers s WHERE s.expires > clock_timestamp()
      UNION ALL
      SELECT 'lease', d.name::text, l.holder::text, l.epoch, hearth.microseconds_until(l.expires),
          l.wanted::text
        FROM hearth.leases l JOIN hearth.databases d ON d.id = l.database
        WHERE l.holder IS NOT NULL AND l.expires > clock_timestamp()
    $$;
    COMMENT ON FUNCTION hearth.cluster() IS 'The servers and the leases that count now.';

    CREATE FUNCTION hearth.announce(server text, at_host text, milliseconds bigint)
    RETURNS TABLE (kind text, name text, owner text, number bigint, remaining bigint, wish text)
    LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO hearth.servers AS s (id, host, expires)
        VALUES (server, at_host, clock_timestamp() + milliseconds * interval '1 millisecond')
        ON CONFLICT (id) DO UPDATE SET host = excluded.host,
          expires = clock_timestamp() + milliseconds * interval '1 millisecond';
      PERFORM hearth.renew(server, milliseconds);
      DELETE FROM hearth.servers s WHERE s.expires < clock_timestamp() - interval '1 hour';
      RETURN QUERY SELECT * FROM hearth.cluster();
    END $$;

    CREATE FUNCTION hearth.release(db_name text, server text, my_epoch bigint, successor text)
    RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE lease hearth.leases;
    BEGIN
      UPDATE hearth.leases l SET epoch = l.epoch + 1, holder = successor, wanted = NULL,
          expires = CASE WHEN successor IS NULL THEN clock_timestamp() ELSE l.expires END
        FROM hearth.databases d
        WHERE d.id = l.database AND d.name = db_name AND l.holder = server AND l.epoch = my_epoch
          AND l.expires > clock_timestamp()
        RETURNING l.* INTO lease;
      IF NOT FOUND THEN RETURN false; END IF;
      UPDATE hearth.heads h SET epoch = lease.epoch WHERE h.database = lease.database;
      RETURN true;
    END $$;

    CREATE FUNCTION hearth.move(db_name text, server text) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE hearth.leases l SET wanted = server FROM hearth.databases d
        WHERE d.id = l.database AND d.name = db_name AND l.holder IS NOT NULL
          AND l.expires > clock_timestamp();
      RETURN FOUND;
    END $$;
    COMMENT ON FUNCTION hearth.move(text, text) IS
      'Asks the server that leads a database to hand it over to another.';


    """

  /// A batch is one call.
  ///
  /// All of it is stored, or nothing if the batch, the lease or the connection is not the one that
  /// may follow.
  private static let commit = """
    CREATE FUNCTION hearth.commit(
      db integer, my_epoch bigint, my_writer bigint, last_batch bigint, last_revision bigint,
      new_revision bigint, payload bytea,
      owners bytea[], clients bytea[], up_tos bigint[], refusals text[], times bigint[],
      cleared bigint[], ended bigint[], opened bigint[], identities bytea[],
      removed bigint[], removed_paths bytea[], written bigint[], paths bytea[], nodes bytea[],
      new_rules bytea
    ) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE hearth.heads h SET revision = new_revision, batch = last_batch + 1
        WHERE h.database = db AND h.epoch = my_epoch AND h.writer = my_writer
          AND h.batch = last_batch AND h.revision = last_revision;
      IF NOT FOUND THEN RETURN false; END IF;
      IF payload IS NOT NULL THEN
        INSERT INTO hearth.log VALUES (db, new_revision, payload);
      END IF;
      IF owners IS NOT NULL THEN
        DELETE FROM hearth.ledger l
          USING unnest(owners, clients, up_tos) AS e (owner, client, up_to)
          WHERE e.up_to < 0 AND l.database = db AND l.owner = e.owner AND l.client = e.client;
        INSERT INTO hearth.ledger
          SELECT db, e.* FROM unnest(owners, clients, up_tos, refusals, times)
            AS e (owner, client, up_to, refused, last_seen) WHERE e.up_to >= 0
          ON CONFLICT (database, owner, client) DO UPDATE SET
            up_to = excluded.up_to, refused = excluded.refused, last_seen = excluded.last_seen;
      END IF;
    \(LogStatements.storingBeside)

    CREATE FUNCTION hearth.take_writer(db integer, my_epoch bigint)
    RETURNS TABLE (new_writer bigint, last_batch bigint, last_revision bigint, now_epoch bigint)
    LANGUAGE plpgsql AS $$
    BEGIN
      -- Waits for a commit that another connection has under way, and refuses whatever follows it.
      UPDATE hearth.heads h SET writer = h.writer + 1 WHERE h.database = db AND h.epoch = my_epoch;
      RETURN QUERY SELECT h.writer, h.batch, h.revision, h.epoch FROM hearth.heads h
        WHERE h.database = db;
    END $$;


    """
}
