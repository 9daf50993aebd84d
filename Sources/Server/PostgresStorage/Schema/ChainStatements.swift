/// The functions for leases and commits: the log is a chain, and no lease ends by a clock.
///
/// The head of a database is the last row of its log. The primary key of the log is the
/// compare-and-swap: of two rows that follow the same one, PostgreSQL stores one. Rows and leases
/// have random identities, so a number that is granted again, after a failover that lost the first
/// grant, is not mistaken for the first.
enum ChainStatements {
  static let functions =
    databases + history + acquire + announce + release + commit + barrier

  private static let databases = """
    CREATE FUNCTION hearth.make_database(new_name text) RETURNS integer LANGUAGE plpgsql AS $$
    DECLARE db integer;
    BEGIN
      INSERT INTO hearth.databases (name) VALUES (new_name)
        ON CONFLICT DO NOTHING RETURNING id INTO db;
      IF db IS NOT NULL THEN
        INSERT INTO hearth.leases (database) VALUES (db);
        INSERT INTO hearth.folds (database) VALUES (db);
        INSERT INTO hearth.log VALUES
          (db, 0, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 0, NULL);
      END IF;
      RETURN db;
    END $$;


    """

  /// The function that names the history that PostgreSQL is writing.
  ///
  /// A promoted standby and a restored copy have a new timeline. A start is another history as
  /// well, because a copy of the files may have taken the place of the newer ones.
  private static let history = """
    CREATE FUNCTION hearth.history(OUT timeline bigint, OUT start text) LANGUAGE sql VOLATILE AS $$
      SELECT CASE WHEN pg_is_in_recovery() THEN 0
          ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END,
        extract(epoch FROM pg_postmaster_start_time())::text
    $$;
    CREATE TABLE hearth.settled AS SELECT * FROM hearth.history();
    COMMENT ON TABLE hearth.settled IS
      'The last history that a server has seen for the duration of a lease: none of before is valid.';
    CREATE FUNCTION hearth.is_settled(timeline bigint, start text) RETURNS boolean
    LANGUAGE sql STABLE AS $$
      SELECT EXISTS (SELECT FROM hearth.settled s WHERE s.timeline = $1 AND s.start = $2)
    $$;


    """

  private static let acquire = """
    -- Adds a row that begins a lease: it waits for a commit of the leader before, and refuses
    -- whatever follows that.
    CREATE FUNCTION hearth.begin_lease(db integer, new_lease uuid) RETURNS void
    LANGUAGE plpgsql AS $$
    DECLARE last hearth.log;
    BEGIN
      LOOP
        SELECT * INTO STRICT last FROM hearth.log l WHERE l.database = db
          ORDER BY l.batch DESC LIMIT 1;
        INSERT INTO hearth.log VALUES (db, last.batch + 1, gen_random_uuid(), last.written,
          new_lease, last.revision, NULL) ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
      END LOOP;
    END $$;

    -- Gives a lease that nobody holds, that the server holds already, or that it has watched for a
    -- whole duration without a renewal.
    CREATE FUNCTION hearth.acquire(
      db_name text, server text, duration bigint,
      ended uuid, ended_renewal bigint, ended_timeline bigint, ended_start text,
      known_timeline bigint, known_start text
    ) RETURNS TABLE (
      lease uuid, number bigint, owner text, renewal bigint, milliseconds bigint, wish text
    ) LANGUAGE plpgsql AS $$
    DECLARE
      held hearth.leases;
      history record;
    BEGIN
      SELECT l.* INTO held FROM hearth.leases l JOIN hearth.databases d ON d.id = l.database
        WHERE d.name = db_name FOR UPDATE OF l;
      IF NOT FOUND THEN RETURN; END IF;
      SELECT * INTO history FROM hearth.history();
      IF history.timeline = known_timeline AND history.start = known_start THEN
        UPDATE hearth.settled s SET timeline = known_timeline, start = known_start
          WHERE s.timeline <> known_timeline OR s.start <> known_start;
      ELSIF NOT hearth.is_settled(history.timeline, history.start) THEN
        IF held.holder = server THEN held.holder := NULL; END IF;
        RETURN QUERY SELECT held.id, held.epoch, held.holder, held.renewal, held.milliseconds,
          held.wanted;
        RETURN;
      END IF;
      IF held.holder IS NULL OR held.holder = server OR (held.id = ended
        AND held.renewal = ended_renewal AND history.timeline = ended_timeline
        AND history.start = ended_start)
      THEN
        held.id := gen_random_uuid();
        held.epoch := held.epoch + 1;
        held.holder := server;
        held.wanted := NULL;
        held.renewal := 0;
        held.milliseconds := duration;
        PERFORM hearth.begin_lease(held.database, held.id);
        UPDATE hearth.leases l SET id = held.id, epoch = held.epoch, holder = server, wanted = NULL,
            renewal = 0, renewed = clock_timestamp(), milliseconds = duration
          WHERE l.database = held.database;
      END IF;
      RETURN QUERY SELECT held.id, held.epoch, held.holder, held.renewal, held.milliseconds,
        held.wanted;
    END $$;

    CREATE FUNCTION hearth.renew(server text, duration bigint) RETURNS integer
    LANGUAGE plpgsql AS $$
    DECLARE renewed integer;
    BEGIN
      UPDATE hearth.leases l SET renewal = l.renewal + 1, renewed = clock_timestamp(),
        milliseconds = duration WHERE l.holder = server;
      GET DIAGNOSTICS renewed = ROW_COUNT;
      RETURN renewed;
    END $$;


    """

  private static let announce = """
    CREATE VIEW hearth.cluster AS
      SELECT h.timeline, h.start, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS moment,
        hearth.is_settled(h.timeline, h.start) AS is_settled, e.*
      FROM hearth.history() h LEFT JOIN (
        SELECT 'server' AS kind, s.id::text AS name, s.host AS owner, s.renewal, s.milliseconds,
          (extract(epoch FROM clock_timestamp() - s.renewed) * 1000000)::bigint AS age,
          NULL::text AS lease, NULL::bigint AS number, NULL::text AS wish, NULL::bigint AS batch,
          NULL::text AS batch_id, NULL::bigint AS revision
        FROM hearth.servers s
        UNION ALL
        SELECT 'database', d.name::text, l.holder::text, l.renewal, l.milliseconds,
          (extract(epoch FROM clock_timestamp() - l.renewed) * 1000000)::bigint,
          l.id::text, l.epoch, l.wanted::text, b.batch, b.id::text, b.revision
        FROM hearth.databases d JOIN hearth.leases l ON l.database = d.id
          CROSS JOIN LATERAL (SELECT g.batch, g.id, g.revision FROM hearth.log g
            WHERE g.database = d.id ORDER BY g.batch DESC LIMIT 1) b
      ) e ON true;
    COMMENT ON VIEW hearth.cluster IS 'The servers, the leases and the last batches.';

    CREATE FUNCTION hearth.announce(server text, at_host text, duration bigint)
    RETURNS SETOF hearth.cluster LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO hearth.servers AS s (id, host, milliseconds) VALUES (server, at_host, duration)
        ON CONFLICT (id) DO UPDATE SET host = excluded.host, renewal = s.renewal + 1,
          renewed = clock_timestamp(), milliseconds = excluded.milliseconds;
      PERFORM hearth.renew(server, duration);
      DELETE FROM hearth.servers s WHERE s.renewed < clock_timestamp() - interval '1 hour';
      RETURN QUERY SELECT * FROM hearth.cluster;
    END $$;


    """

  private static let release = """
    CREATE FUNCTION hearth.release(db_name text, server text, my_lease uuid, successor text)
    RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE held hearth.leases;
    BEGIN
      UPDATE hearth.leases l SET id = gen_random_uuid(), epoch = l.epoch + 1, holder = successor,
          wanted = NULL, renewal = 0, renewed = clock_timestamp()
        FROM hearth.databases d
        WHERE d.id = l.database AND d.name = db_name AND l.holder = server AND l.id = my_lease
        RETURNING l.* INTO held;
      IF NOT FOUND THEN RETURN false; END IF;
      PERFORM hearth.begin_lease(held.database, held.id);
      RETURN true;
    END $$;

    CREATE FUNCTION hearth.move(db_name text, server text) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE hearth.leases l SET wanted = server FROM hearth.databases d
        WHERE d.id = l.database AND d.name = db_name AND l.holder IS NOT NULL;
      RETURN FOUND;
    END $$;
    COMMENT ON FUNCTION hearth.move(text, text) IS
      'Asks the server that leads a database to hand it over to another.';


    """

  /// A batch is one call: all of it is stored, or nothing if its lease or the row that it follows
  /// is not the last.
  private static let commit = """
    CREATE FUNCTION hearth.commit(
      db integer, my_lease uuid, last_batch bigint, last_id uuid, new_id uuid,
      new_revision bigint, new_payload bytea,
      owners bytea[], clients bytea[], up_tos bigint[], refusals text[], times bigint[],
      cleared bigint[], ended bigint[], opened bigint[], identities bytea[],
      removed bigint[], removed_paths bytea[], written bigint[], paths bytea[], nodes bytea[],
      new_rules bytea
    ) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO hearth.log
        SELECT db, last_batch + 1, new_id, new_id, my_lease, new_revision, new_payload
        FROM hearth.log l WHERE l.database = db AND l.batch = last_batch AND l.id = last_id
          AND l.lease = my_lease
        ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN RETURN false; END IF;
      IF owners IS NOT NULL THEN
        DELETE FROM hearth.ledger l
          USING unnest(owners, clients, up_tos) AS e (owner, client, up_to)
          WHERE e.up_to < 0 AND l.database = db AND l.owner = e.owner AND l.client = e.client;
        INSERT INTO hearth.ledger
          SELECT db, e.*, last_batch + 1 FROM unnest(owners, clients, up_tos, refusals, times)
            AS e (owner, client, up_to, refused, last_seen) WHERE e.up_to >= 0;
      END IF;
      IF opened IS NOT NULL OR ended IS NOT NULL THEN
        DELETE FROM hearth.scheduled s WHERE s.database = db AND s.session = ANY (cleared);
        DELETE FROM hearth.sessions s WHERE s.database = db AND s.id = ANY (ended);
        INSERT INTO hearth.sessions AS s
          SELECT db, e.* FROM unnest(opened, identities) AS e (id, identity)
          ON CONFLICT (database, id) DO UPDATE SET identity = excluded.identity
            WHERE s.identity <> excluded.identity;
        DELETE FROM hearth.scheduled s USING unnest(removed, removed_paths) AS e (session, path)
          WHERE s.database = db AND s.session = e.session AND s.path = e.path;
        INSERT INTO hearth.scheduled
          SELECT db, e.* FROM unnest(written, paths, nodes) AS e (session, path, value)
          ON CONFLICT (database, session, path) DO UPDATE SET value = excluded.value;
      END IF;
      IF new_rules IS NOT NULL THEN
        INSERT INTO hearth.rules VALUES (db, new_rules)
          ON CONFLICT (database) DO UPDATE SET source = excluded.source;
      END IF;
      RETURN true;
    END $$;


    """

  /// A barrier makes a new connection of a leader the one that may commit.
  private static let barrier = """
    CREATE FUNCTION hearth.add_barrier(db integer, my_lease uuid) RETURNS TABLE (
      is_mine boolean, last_batch bigint, last_id uuid, last_written uuid, last_revision bigint
    ) LANGUAGE plpgsql AS $$
    DECLARE last hearth.log;
    BEGIN
      LOOP
        SELECT * INTO last FROM hearth.log l WHERE l.database = db ORDER BY l.batch DESC LIMIT 1;
        IF NOT FOUND THEN RETURN; END IF;
        EXIT WHEN last.lease <> my_lease;
        -- Waits for a commit that another connection has under way, and refuses whatever follows it.
        last.batch := last.batch + 1;
        last.id := gen_random_uuid();
        INSERT INTO hearth.log VALUES
          (db, last.batch, last.id, last.written, my_lease, last.revision, NULL)
          ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
      END LOOP;
      RETURN QUERY SELECT last.lease = my_lease, last.batch, last.id, last.written, last.revision;
    END $$;


    """
}
