enum LogStatements {
  /// The letters that denote changes of rows.
  enum Change: UInt8 {
    case insert = 105  // i
    /// Inserts a row, provided that there are rows below it.
    case insertAbove = 98  // b
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
  static let fold = """
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
