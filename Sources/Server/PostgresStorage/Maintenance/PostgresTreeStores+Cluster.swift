import NIOConcurrencyHelpers
package import RealtimeServer

extension PostgresTreeStores {
  /// Runs a query, which may run twice, once the schema is there.
  func query(
    _ sql: String,
    with parameters: [PostgresValue] = []
  ) throws(StoreError) -> PostgresRows {
    try port.prepare()
    return try port.query(sql, with: parameters)
  }

  /// Announces a server and renews its leases.
  ///
  /// This waits for a synchronous standby as commits do, though reads stop when that is missing. A
  /// renewal that only the primary knows (`synchronous_commit = local`) would be unsafe: a standby
  /// that has died looks from here like one that is out of reach and has been promoted. Servers
  /// there wait for the duration of a lease and lead, while an old primary that nobody has fenced
  /// would go on renewing ours. A promoted standby confirms nothing to the old primary any more, so
  /// whatever waits for it ends a lease in time.
  package func announce(
    _ server: ClusterServer,
    for duration: Duration
  ) throws(StoreError) -> ClusterView {
    let rows = try query(
      // The name of the session tells other programs, and people, which server it is.
      """
      SELECT \(Self.columns) FROM hearth.announce($1, $2, $3),
        (SELECT set_config('application_name', $4, false)) AS session
      """,
      with: [
        .text(server.id.description), .text(server.host), .integer(duration.milliseconds),
        .text("hearth \(options.version) \(server.id)"),
      ]
    )
    options.activity.withLockedValue { $0.isAwaitingStandby = false }
    return Self.view(rows)
  }

  package func view() throws(StoreError) -> ClusterView {
    Self.view(try query("SELECT \(Self.columns) FROM hearth.cluster"))
  }

  private static let columns = """
    timeline, start, moment, kind, name, owner, renewal, milliseconds, age, lease, number, wish,
    batch, batch_id, revision, is_settled
    """

  private static func view(_ rows: PostgresRows) -> ClusterView {
    var view = ClusterView(servers: [], leases: [], time: .zero)
    for row in 0..<rows.count {
      view.history = StorageHistory(
        timeline: rows.integer(row, column: 0),
        start: rows.text(row, column: 1)
      )
      view.isSettled = rows.bool(row, column: 15)
      view.time = .microseconds(rows.integer(row, column: 2))
      guard !rows.isNull(row, column: 3) else { continue }
      let name = rows.text(row, column: 4)
      let duration = Duration.milliseconds(rows.integer(row, column: 7))
      let age = Duration.microseconds(rows.integer(row, column: 8))
      if rows.text(row, column: 3) == "server" {
        view.announcements[ServerID(name)] = rows.integer(row, column: 6)
        let server = ClusterServer(id: ServerID(name), host: rows.text(row, column: 5))
        guard age < duration else {
          view.silent.append(SilentServer(server, age: age))
          continue
        }
        view.servers.append(server)
      } else {
        view.positions[name] = BatchPosition(
          batch: rows.integer(row, column: 12),
          id: rows.text(row, column: 13),
          revision: rows.integer(row, column: 14)
        )
        guard !rows.isNull(row, column: 5) else { continue }
        view.leases.append(
          Lease(
            database: name,
            id: rows.text(row, column: 9),
            epoch: rows.integer(row, column: 10),
            holder: ServerID(rows.text(row, column: 5)),
            renewal: rows.integer(row, column: 6),
            duration: duration,
            age: age,
            wanted: rows.isNull(row, column: 11) ? nil : ServerID(rows.text(row, column: 11))
          )
        )
      }
    }
    view.servers.sort { $0.id < $1.id }
    view.leases.sort { $0.database < $1.database }
    return view
  }

  package func acquire(
    _ database: String,
    by server: ServerID,
    for duration: Duration,
    insteadOf ended: LeaseMark?,
    knowing history: StorageHistory?
  ) throws(StoreError) -> Lease {
    let rows = try query(
      """
      SELECT lease::text, number, owner, renewal, milliseconds, wish
      FROM hearth.acquire($1, $2, $3, $4::uuid, $5, $6, $7, $8, $9)
      """,
      with: [
        .text(database), .text(server.description), .integer(duration.milliseconds),
        .text(ended?.lease ?? Self.noLease), .integer(ended?.renewal ?? -1),
        .integer(ended?.history.timeline ?? -1), .text(ended?.history.start ?? ""),
        .integer(history?.timeline ?? -1), .text(history?.start ?? ""),
      ]
    )
    guard rows.count == 1 else { throw missing(database) }
    guard !rows.isNull(0, column: 2) else {
      throw StoreError(
        .busy,
        description:
          "\(address.description): PostgreSQL was restarted or failed over a moment ago, and a lease from before"
          + " may still be valid"
      )
    }
    return Lease(
      database: database,
      id: rows.text(0, column: 0),
      epoch: rows.integer(0, column: 1),
      holder: ServerID(rows.text(0, column: 2)),
      renewal: rows.integer(0, column: 3),
      duration: .milliseconds(rows.integer(0, column: 4)),
      wanted: rows.isNull(0, column: 5) ? nil : ServerID(rows.text(0, column: 5))
    )
  }

  private static let noLease = "00000000-0000-0000-0000-000000000000"

  package func withdraw(_ server: ServerID) throws(StoreError) {
    _ = try query("DELETE FROM hearth.servers WHERE id = $1", with: [.text(server.description)])
  }

  package func move(_ database: String, to server: ServerID) throws(StoreError) {
    try ask(forMoveOf: database, to: server)
  }

  /// Asks the leader of a database to hand it over; nil withdraws what was asked.
  func ask(forMoveOf database: String, to server: ServerID?) throws(StoreError) {
    _ = try query(
      "SELECT hearth.move($1, $2)",
      with: [.text(database), server.map { .text($0.description) } ?? .null]
    )
  }

  // MARK: Details

  package func details() throws(StoreError) -> ClusterDetails {
    var details = ClusterDetails()
    let sessions = try query(
      """
      SELECT application_name, wait_event IS NOT DISTINCT FROM 'SyncRep' FROM pg_stat_activity
      WHERE datname = current_database() ORDER BY backend_start
      """
    )
    for row in 0..<sessions.count {
      if sessions.bool(row, column: 1) { details.isAwaitingStandby = true }
      guard !sessions.isNull(row, column: 0) else { continue }
      let words = sessions.text(row, column: 0).split(separator: " ")
      guard words.count == 3, words[0] == "hearth" else { continue }
      details.versions[ServerID(String(words[2]))] = String(words[1])
    }
    let databases = try query(
      """
      SELECT d.name, h.revision - f.revision FROM hearth.databases d
        JOIN hearth.folds f ON f.database = d.id
        CROSS JOIN LATERAL (SELECT g.revision FROM hearth.log g WHERE g.database = d.id
          ORDER BY g.batch DESC LIMIT 1) h
      """
    )
    for row in 0..<databases.count {
      details.unfolded[databases.text(row, column: 0)] = databases.integer(row, column: 1)
    }
    let standbys = try query(
      """
      SELECT application_name, coalesce(sync_state IN ('sync', 'quorum'), false),
        CASE WHEN NOT pg_is_in_recovery()
          THEN pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint END
      FROM pg_stat_replication ORDER BY application_name
      """
    )
    for row in 0..<standbys.count {
      details.standbys.append(
        (
          name: standbys.isNull(row, column: 0) ? "" : standbys.text(row, column: 0),
          isSynchronous: standbys.bool(row, column: 1),
          lag: standbys.isNull(row, column: 2) ? nil : standbys.integer(row, column: 2)
        )
      )
    }
    return details
  }

  // MARK: Losses

  package func record(_ loss: StorageLoss) throws(StoreError) {
    _ = try query(
      """
      INSERT INTO hearth.losses
        (database, id, seen, batches, commits, old_timeline, new_timeline)
        VALUES ($1, $2::uuid, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
      """,
      with: [
        .text(loss.database), .text(loss.seen.id), .integer(loss.seen.batch),
        .integer(loss.batches), .integer(loss.commits), .integer(loss.oldTimeline),
        .integer(loss.newTimeline),
      ]
    )
  }

  package func losses() throws(StoreError) -> [StorageLoss] {
    let rows = try query(
      """
      SELECT database, id::text, seen, batches, commits, old_timeline, new_timeline
      FROM hearth.losses ORDER BY noticed, database
      """
    )
    return (0..<rows.count).map { row in
      let seen = rows.integer(row, column: 2)
      let commits = rows.integer(row, column: 4)
      return StorageLoss(
        rows.text(row, column: 0),
        seen: BatchPosition(batch: seen, id: rows.text(row, column: 1), revision: commits),
        found: BatchPosition(batch: seen - rows.integer(row, column: 3), id: "", revision: 0),
        oldTimeline: rows.integer(row, column: 5),
        newTimeline: rows.integer(row, column: 6)
      )
    }
  }
}
