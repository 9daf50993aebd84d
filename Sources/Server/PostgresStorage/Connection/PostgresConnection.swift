import CPostgres
import Foundation

/// A connection to PostgreSQL, used by one thread at a time.
///
/// Every call has a time limit. When the limit has passed or the connection breaks, the connection
/// is closed, and the outcome of the statement is unknown.
///
/// State: open → lost, by the first failure whose ``PostgresFailure/isLost`` is true.
final class PostgresConnection {
  private let library: PostgresLibrary
  private var handle: OpaquePointer?
  /// The names of the prepared statements, by their SQL.
  private var prepared: [String: String] = [:]
  /// What has arrived of the answer to the oldest statement in the pipeline.
  private var answered: Result<PostgresRows, PostgresFailure>?
  private var isPipelining = false
  /// The shortest time in which PostgreSQL has answered.
  private(set) var roundTrip = Duration.seconds(1)
  /// How long a statement may take, and how long PostgreSQL may be silent between two rows, where a
  /// whole tree is read or written.
  static let patience = Duration.seconds(60)

  /// Opens a connection.
  ///
  /// Several hosts are tried side by side. Each has `connect_timeout` seconds, which are 3 unless
  /// the address says otherwise.
  init(to address: PostgresAddress, within limit: Duration? = nil) throws(PostgresFailure) {
    let deadline = limit.map { ContinuousClock.now + $0 }
    library = try PostgresLibrary()
    let settings: [(String, String)] = [
      ("connect_timeout", "3"), ("keepalives_idle", "5"), ("keepalives_interval", "2"),
      ("keepalives_count", "3"), ("tcp_user_timeout", "10000"),
      ("fallback_application_name", "hearth"), ("dbname", address.text),
      ("client_encoding", "UTF8"),
    ]
    let handle = try HostRace.connect(
      to: address,
      with: settings,
      within: limit,
      library: library
    )
    self.handle = handle
    _ = library.functions.setNoticeProcessor(handle, { _, _ in }, nil)
    guard library.functions.setnonblocking(handle, 1) == 0 else { throw lost(nil) }
    try begin(within: deadline.map { max($0 - .now, .milliseconds(50)) } ?? .seconds(5))
  }

  deinit { close() }

  /// Closes the connection; a second call does nothing.
  func close() {
    if let handle { library.functions.finish(handle) }
    handle = nil
  }

  var isOpen: Bool { handle != nil }

  /// The number of the PostgreSQL process that serves the connection.
  var process: Int32 { handle.map { library.functions.backendPID($0) } ?? 0 }

  /// Sets what a session must not inherit from the settings of a server.
  private func begin(within limit: Duration) throws(PostgresFailure) {
    // A commit that returns must be on the disk, and on that of a synchronous standby: with any
    // lower setting, PostgreSQL would answer earlier.
    let rows = try query(
      """
      SELECT set_config('search_path', 'pg_catalog', false),
        set_config('default_transaction_isolation', 'read committed', false),
        set_config('lock_timeout', '2s', false),
        set_config('standard_conforming_strings', 'on', false),
        set_config('statement_timeout', '0', false),
        set_config('idle_in_transaction_session_timeout', '5s', false),
        set_config('synchronous_commit', CASE current_setting('synchronous_commit')
          WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
        current_setting('server_version_num')::integer, pg_backend_pid()
      """,
      within: limit
    )
    guard rows.integer(0, column: 7) >= 130_000 else {
      throw PostgresFailure(own: "it is older than PostgreSQL 13")
    }
    // A pooler gives the next statement to any process of PostgreSQL, which knows nothing of the
    // settings above, nor of the statement before.
    guard rows.integer(0, column: 8) == Int64(process) else {
      throw PostgresFailure(
        own:
          "a connection pooler such as pgbouncer stands before PostgreSQL; name PostgreSQL itself"
      )
    }
  }

  /// Whether PostgreSQL keeps transactions waiting for a synchronous standby; false if it does not
  /// answer.
  func isAwaitingStandby(within limit: Duration) -> Bool {
    let rows = try? query(
      "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
      within: limit
    )
    return rows.map { $0.count > 0 } ?? false
  }

  // MARK: Statements

  /// Runs a statement and returns its rows.
  ///
  /// - Throws: ``PostgresFailure``. Unless its `isLost` is true, the statement has changed nothing.
  @discardableResult
  func query(
    _ sql: String,
    with parameters: [PostgresValue] = [],
    within limit: Duration = patience
  ) throws(PostgresFailure) -> PostgresRows {
    let deadline = ContinuousClock.now + limit
    let name = try prepare(sql, for: parameters, until: deadline)
    try send(parameters, to: name)
    guard let rows = try finish(until: deadline) else { throw Self.empty }
    return rows
  }

  private static let empty = PostgresFailure(own: "the statement returned nothing")

  /// Runs a statement that is not worth preparing, such as `BEGIN`.
  func run(_ sql: String, within limit: Duration) throws(PostgresFailure) {
    let deadline = ContinuousClock.now + limit
    try start(sql)
    _ = try finish(until: deadline)
  }

  /// Runs several statements without parameters as one.
  func runScript(_ sql: String, within limit: Duration) throws(PostgresFailure) {
    let deadline = ContinuousClock.now + limit
    try send([]) { handle, _, _, _ in library.functions.sendQuery(handle, sql) }
    _ = try finish(until: deadline)
  }

  private func start(_ sql: String) throws(PostgresFailure) {
    try send([]) { handle, _, _, _ in
      library.functions.sendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1)
    }
  }

  private func prepare(
    _ sql: String,
    for parameters: [PostgresValue],
    until deadline: ContinuousClock.Instant
  ) throws(PostgresFailure) -> String {
    if let name = prepared[sql] { return name }
    let name = "hearth\(prepared.count)"
    let types = parameters.map(\.type)
    let begin = ContinuousClock.now
    try send([]) { handle, _, _, _ in
      library.functions.sendPrepare(handle, name, sql, Int32(types.count), types)
    }
    _ = try finish(until: deadline)
    answerCame(after: .now - begin)
    prepared[sql] = name
    return name
  }

  /// Sends a prepared statement, and what else belongs behind it.
  private func send(
    _ parameters: [PostgresValue],
    to name: String,
    followedBy next: (OpaquePointer) -> Int32 = { _ in 1 }
  ) throws(PostgresFailure) {
    let (functions, count) = (library.functions, Int32(parameters.count))
    try send(parameters) { handle, values, lengths, formats in
      let isSent = functions.sendQueryPrepared(handle, name, count, values, lengths, formats, 1)
      return isSent == 1 ? next(handle) : 0
    }
  }

  private func send(
    _ parameters: [PostgresValue],
    _ body: (
      OpaquePointer, UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>,
      UnsafePointer<Int32>
    ) -> Int32
  ) throws(PostgresFailure) {
    guard let handle else { throw Self.closed }
    var bytes: [UInt8] = []
    var ranges: [Range<Int>?] = []
    for parameter in parameters {
      let start = bytes.count
      ranges.append(parameter.append(to: &bytes) ? start..<bytes.count : nil)
    }
    // Even an empty value needs an address, since a null pointer means NULL.
    bytes.append(0)
    let lengths = ranges.map { Int32($0?.count ?? 0) } + [0]
    let formats = [Int32](repeating: 1, count: parameters.count + 1)
    let isSent = bytes.withUnsafeBytes { buffer in
      let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      let values =
        ranges.map { range in range.flatMap { base?.advanced(by: $0.lowerBound) } } + [nil]
      return body(handle, values, lengths, formats) == 1
    }
    guard isSent else { throw lost(nil) }
  }

  private static let closed = PostgresFailure("the connection is closed", isLost: true)

  // MARK: Results

  /// Waits for the last result of a statement.
  private func finish(
    until deadline: ContinuousClock.Instant
  ) throws(PostgresFailure) -> PostgresRows? {
    var rows: PostgresRows?
    var failure: PostgresFailure?
    while let result = try nextResult(until: deadline) {
      if let found = self.failure(of: result) {
        library.functions.clear(result)
        failure = failure ?? found
        if found.isLost { break }
      } else {
        rows = PostgresRows(result, library: library)
      }
    }
    if let failure {
      if failure.isLost { close() }
      throw failure
    }
    return rows
  }

  private func nextResult(
    until deadline: ContinuousClock.Instant
  ) throws(PostgresFailure) -> OpaquePointer? {
    _ = try awaitResult(until: deadline)
    return handle.flatMap { library.functions.getResult($0) }
  }

  /// Waits until the next result has come; false after a ring.
  private func awaitResult(
    until deadline: ContinuousClock.Instant,
    orRingOf bell: Bell? = nil
  ) throws(PostgresFailure) -> Bool {
    guard let handle else { throw Self.closed }
    while true {
      let pending = library.functions.flush(handle)
      guard pending >= 0 else { throw lost(nil) }
      if library.functions.isBusy(handle) == 0 { return true }
      try wait(isWriting: pending > 0, until: deadline, orRingOf: bell)
      if bell?.stop() == true { return false }
      guard library.functions.consumeInput(handle) == 1 else { throw lost(nil) }
    }
  }

  /// Waits until the connection can be read from, or also written to if there is data to write.
  private func wait(
    isWriting: Bool,
    until deadline: ContinuousClock.Instant,
    orRingOf bell: Bell? = nil
  ) throws(PostgresFailure) {
    guard let handle else { throw Self.closed }
    let events = Int16(POLLIN | (isWriting ? POLLOUT : 0))
    // A negative descriptor is ignored.
    var descriptors = [
      pollfd(fd: library.functions.socket(handle), events: events, revents: 0),
      pollfd(fd: bell?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      let rest = deadline - .now
      guard rest > .zero else { throw lost(PostgresFailure.late) }
      let count = poll(&descriptors, 2, Int32(clamping: Int64(rest / .milliseconds(1)) + 1))
      if count > 0 { return }
      guard count == 0 || errno == EINTR else {
        throw lost(String(cString: strerror(errno)))
      }
    }
  }

  private func failure(of result: OpaquePointer) -> PostgresFailure? {
    let status = UInt32(library.functions.resultStatus(result))
    switch status {
    case CPOSTGRES_COMMAND_OK.rawValue, CPOSTGRES_TUPLES_OK.rawValue, CPOSTGRES_COPY_OUT.rawValue,
      CPOSTGRES_COPY_IN.rawValue, CPOSTGRES_EMPTY_QUERY.rawValue:
      return nil
    default: break
    }
    func field(_ field: Int) -> String? {
      library.functions.resultErrorField(result, Int32(field)).map { String(cString: $0) }
    }
    let severity = field(CPOSTGRES_SEVERITY)
    let isBroken =
      handle.map { library.functions.status($0) != CPOSTGRES_CONNECTION_OK.rawValue } ?? true
    let message =
      field(CPOSTGRES_MESSAGE) ?? String(cString: library.functions.resultErrorMessage(result))
    let detail = field(CPOSTGRES_DETAIL).map { " (\($0))" } ?? ""
    return PostgresFailure(
      PostgresFailure.oneLine(message + detail),
      state: field(CPOSTGRES_SQLSTATE),
      isLost: isBroken || severity == "FATAL" || severity == "PANIC" || severity == nil
    )
  }

  /// Closes the connection, and returns the failure to throw.
  private func lost(_ reason: String?) -> PostgresFailure {
    let text = reason ?? handle.map { String(cString: library.functions.errorMessage($0)) } ?? ""
    close()
    return PostgresFailure(
      text.isEmpty ? "the connection has ended" : PostgresFailure.oneLine(text),
      isLost: true
    )
  }

  // MARK: Pipeline

  /// Sends a statement behind those that are not answered yet, as a transaction of its own.
  ///
  /// PostgreSQL carries them out in order, each once the one before has been committed. Until the
  /// pipeline has ended, no other statement can be run.
  func post(
    _ sql: String,
    with parameters: [PostgresValue],
    until deadline: ContinuousClock.Instant
  ) throws(PostgresFailure) {
    let name = try prepare(sql, for: parameters, until: deadline)
    if !isPipelining {
      guard let handle, library.functions.enterPipelineMode(handle) == 1 else { throw lost(nil) }
      isPipelining = true
    }
    try send(parameters, to: name) { library.functions.pipelineSync($0) }
  }

  /// Waits for the answer to the oldest statement in the pipeline, or until the bell rings.
  ///
  /// - Returns: What the statement returned, or why PostgreSQL has undone it; nil after a ring.
  /// - Throws: ``PostgresFailure`` if the connection is lost, and with it the answers to come.
  func answer(
    until deadline: ContinuousClock.Instant,
    orRingOf bell: Bell?
  ) throws(PostgresFailure) -> Result<PostgresRows, PostgresFailure>? {
    while true {
      guard try awaitResult(until: deadline, orRingOf: bell) else { return nil }
      guard let handle else { throw Self.closed }
      // A null pointer stands between the results of a statement and the end of its transaction.
      guard let result = library.functions.getResult(handle) else {
        guard answered != nil else { throw lost("an answer without a result") }
        continue
      }
      if UInt32(library.functions.resultStatus(result)) == CPOSTGRES_PIPELINE_SYNC.rawValue {
        library.functions.clear(result)
        defer { answered = nil }
        // Only now is it committed: the rows are sent before.
        return answered ?? .failure(Self.empty)
      }
      if let failure = failure(of: result) {
        library.functions.clear(result)
        if failure.isLost { throw lost(failure.description) }
        answered = .failure(failure)
      } else if answered == nil {
        answered = .success(PostgresRows(result, library: library))
      } else {
        library.functions.clear(result)
      }
    }
  }

  /// Ends a pipeline in which everything has been answered.
  func endPipeline() {
    guard isPipelining, let handle else { return }
    isPipelining = false
    if library.functions.exitPipelineMode(handle) != 1 { close() }
  }

  /// Learns how long PostgreSQL took to answer a statement.
  func answerCame(after time: Duration) { roundTrip = min(roundTrip, time) }

  // MARK: Copying

  /// Copies rows out of PostgreSQL with a `COPY … TO STDOUT (FORMAT binary)`.
  ///
  /// The body receives the columns of each row, nil for null; their bytes are valid within the
  /// call. Any error that it throws closes the connection.
  func copyOut(_ sql: String, _ body: ([UnsafeRawBufferPointer?]) throws -> Void) throws {
    try start(sql)
    guard let handle, let first = try nextResult(until: .now + Self.patience) else {
      throw lost(nil)
    }
    let refusal = failure(of: first)
    let isCopying =
      UInt32(library.functions.resultStatus(first)) == CPOSTGRES_COPY_OUT.rawValue
    library.functions.clear(first)
    guard isCopying, refusal == nil else {
      _ = try? finish(until: .now + Self.patience)
      throw refusal ?? lost("the statement is not a COPY")
    }
    var columns: [UnsafeRawBufferPointer?] = []
    var isFirst = true
    while true {
      var buffer: UnsafeMutablePointer<CChar>?
      let count = library.functions.getCopyData(handle, &buffer, 1)
      if count == 0 {
        try wait(isWriting: false, until: .now + Self.patience)
        guard library.functions.consumeInput(handle) == 1 else { throw lost(nil) }
        continue
      }
      guard count > 0, let buffer else {
        if count == -2 { throw lost(nil) }
        break
      }
      defer { library.functions.freemem(buffer) }
      do {
        // Safety: the library hands over this many bytes, which are freed after the call.
        let message = UnsafeRawBufferPointer(start: buffer, count: Int(count))
        let start = isFirst ? Self.headerBytes : 0
        isFirst = false
        guard Self.split(message, from: start, into: &columns) else { continue }
        try body(columns)
      } catch {
        close()
        throw error
      }
    }
    _ = try finish(until: .now + Self.patience)
  }

  /// The signature, the flags and the length of the extension, with which a binary copy begins.
  private static let headerBytes = 19

  /// Splits a row into its columns, and returns false for the message that ends all rows.
  private static func split(
    _ message: UnsafeRawBufferPointer,
    from start: Int,
    into columns: inout [UnsafeRawBufferPointer?]
  ) -> Bool {
    columns.removeAll(keepingCapacity: true)
    guard message.count >= start + 2 else { return false }
    let count = Int16(bigEndian: message.loadUnaligned(fromByteOffset: start, as: Int16.self))
    guard count >= 0 else { return false }
    var position = start + 2
    for _ in 0..<count {
      guard position + 4 <= message.count else { return false }
      let length = Int(
        Int32(bigEndian: message.loadUnaligned(fromByteOffset: position, as: Int32.self))
      )
      position += 4
      guard length >= 0 else {
        columns.append(nil)
        continue
      }
      guard position + length <= message.count else { return false }
      columns.append(UnsafeRawBufferPointer(rebasing: message[position..<(position + length)]))
      position += length
    }
    return true
  }
}
