/// The view of the trees for people and programs that use SQL: a row for each leaf, by path.
///
/// The functions unpack what `BinaryWriter.write(_ node:)` has packed. They serve queries by hand
/// and reports: the program itself never calls them.
enum TreeView {
  static let statements = #"""
    CREATE FUNCTION hearth.unpack_count(packed bytea, start integer, OUT number numeric, OUT next integer)
    LANGUAGE plpgsql IMMUTABLE AS $$
    DECLARE
      part integer;
      factor numeric := 1;
    BEGIN
      number := 0;
      next := start;
      LOOP
        part := get_byte(packed, next);
        next := next + 1;
        number := number + (part & 127) * factor;
        EXIT WHEN part < 128;
        factor := factor * 128;
      END LOOP;
    END $$;

    CREATE FUNCTION hearth.unpack_leaf(
      packed bytea, start integer, tag integer, OUT value jsonb, OUT next integer
    ) LANGUAGE plpgsql IMMUTABLE AS $$
    DECLARE
      number numeric;
      low numeric := 0;
      high integer;
      exponent integer;
      float double precision;
      bytes bytea;
    BEGIN
      next := start;
      CASE tag
      WHEN 1 THEN value := 'false';
      WHEN 2 THEN value := 'true';
      WHEN 3 THEN
        SELECT c.number, c.next INTO number, next FROM hearth.unpack_count(packed, start) c;
        value := to_jsonb(CASE WHEN number % 2 = 0 THEN div(number, 2) ELSE -div(number + 1, 2) END);
      WHEN 4 THEN
        FOR index IN REVERSE 5..0 LOOP
          low := low * 256 + get_byte(packed, start + index);
        END LOOP;
        high := get_byte(packed, start + 7) * 256 + get_byte(packed, start + 6);
        low := low + (high & 15) * 281474976710656;
        exponent := (high >> 4) & 2047;
        float := CASE
          WHEN exponent = 0 THEN low::double precision / 4503599627370496 * power(2::double precision, -1022)
          ELSE (1 + low::double precision / 4503599627370496) * power(2::double precision, exponent - 1023)
        END;
        value := to_jsonb(CASE WHEN high >= 32768 THEN -float ELSE float END);
        next := start + 8;
      WHEN 5 THEN
        SELECT c.number, c.next INTO number, next FROM hearth.unpack_count(packed, start) c;
        bytes := substring(packed FROM next + 1 FOR number::integer);
        next := next + number::integer;
        -- No text of PostgreSQL has a zero byte: such a string is shown escaped.
        value := to_jsonb(CASE
          WHEN position('\x00'::bytea IN bytes) > 0 THEN encode(bytes, 'escape')
          ELSE convert_from(bytes, 'UTF8')
        END);
      END CASE;
    END $$;

    CREATE FUNCTION hearth.unpack(row_path bytea, packed bytea) RETURNS TABLE (path text, value jsonb)
    LANGUAGE plpgsql IMMUTABLE AS $$
    DECLARE
      location text := rtrim('/' || convert_from(row_path, 'UTF8'), '/');
      position integer := 0;
      tag integer;
      number numeric;
      -- The branches that the present location is in, and how many children each still has.
      branches text[] := '{}';
      remaining bigint[] := '{}';
      depth integer := 0;
    BEGIN
      LOOP
        tag := get_byte(packed, position);
        position := position + 1;
        IF tag & 127 BETWEEN 1 AND 5 THEN
          path := CASE location WHEN '' THEN '/' ELSE location END;
          SELECT l.value, l.next INTO value, position
            FROM hearth.unpack_leaf(packed, position, tag & 127) l;
          RETURN NEXT;
        END IF;
        IF tag >= 128 THEN
          path := location || '/.priority';
          SELECT l.value, l.next INTO value, position
            FROM hearth.unpack_leaf(packed, position + 1, get_byte(packed, position)) l;
          RETURN NEXT;
        END IF;
        IF tag & 127 = 6 THEN
          SELECT c.number, c.next INTO number, position FROM hearth.unpack_count(packed, position) c;
          depth := depth + 1;
          branches[depth] := location;
          remaining[depth] := number;
        END IF;
        WHILE depth > 0 AND remaining[depth] = 0 LOOP
          depth := depth - 1;
        END LOOP;
        EXIT WHEN depth = 0;
        remaining[depth] := remaining[depth] - 1;
        SELECT c.number, c.next INTO number, position FROM hearth.unpack_count(packed, position) c;
        location := branches[depth] || '/'
          || convert_from(substring(packed FROM position + 1 FOR number::integer), 'UTF8');
        position := position + number::integer;
      END LOOP;
    END $$;

    CREATE VIEW hearth.hearth_tree AS
      SELECT d.name AS database, l.path, l.value
      FROM hearth.nodes n JOIN hearth.databases d ON d.id = n.database
      CROSS JOIN LATERAL hearth.unpack(n.path, n.value) l;
    COMMENT ON VIEW hearth.hearth_tree IS
      'Every leaf of every database by its path, as far as hearth.folds says that the log is in the nodes.';


    """#
}
