/// The functions for commits and folds.
enum LogStatements {
  static let functions = commit + fold

  /// The end of `hearth.commit`, which stores sessions and rules.
  static let storingBeside = """
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
    \(storingBeside)

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

  /// The letters that denote changes of rows.
  enum Change: UInt8 {
    /// Inserts a row.
    case insert = 105  // i
    /// Inserts a row, provided that there are rows below it.
    case insertAbove = 98  // b
    /// Removes a row.
    case remove = 114  // r
    /// Removes a row and everything below it.
    case removeAll = 97  // a
    /// Removes a row if there are no rows below it: the first of several, each above the one
    /// before.
    case prune = 112  // p
    /// Removes the next of them, unless an earlier one had rows below it.
    case pruneAbove = 113  // q
  }

  /// The function that applies a sequence of row changes.
  private static let fold = """
    CREATE FUNCTION hearth.change_rows(
      db integer, kinds bytea, paths bytea[], ends bytea[], new_values bytea[]
    ) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      added bigint := 0;
      changed bigint;
      kind integer;
      place bytea;
      pruning boolean := false;
    BEGIN
      FOR i IN 1 .. length(kinds) LOOP
        kind := get_byte(kinds, i - 1);
        place := paths[i];
        IF kind = 105 THEN
          INSERT INTO hearth.nodes VALUES (db, place, new_values[i]);
          added := added + 1;
        ELSIF kind = 114 THEN
          DELETE FROM hearth.nodes n WHERE n.database = db AND n.path = place;
          GET DIAGNOSTICS changed = ROW_COUNT;
          added := added - changed;
        ELSIF kind = 97 THEN
          DELETE FROM hearth.nodes n WHERE n.database = db AND n.path >= place AND n.path < ends[i];
          GET DIAGNOSTICS changed = ROW_COUNT;
          added := added - changed;
        ELSIF kind = 98 THEN
          IF EXISTS (SELECT FROM hearth.nodes n
            WHERE n.database = db AND n.path > place AND n.path < ends[i])
          THEN
            INSERT INTO hearth.nodes VALUES (db, place, new_values[i]);
            added := added + 1;
          END IF;
        ELSE
          IF kind = 112 THEN pruning := true; END IF;
          IF pruning THEN
            pruning := NOT EXISTS (SELECT FROM hearth.nodes n
              WHERE n.database = db AND n.path > place AND n.path < ends[i]);
          END IF;
          IF pruning THEN
            DELETE FROM hearth.nodes n WHERE n.database = db AND n.path = place;
            GET DIAGNOSTICS changed = ROW_COUNT;
            added := added - changed;
          END IF;
        END IF;
      END LOOP;
      RETURN added;
    END $$;


    """
}
