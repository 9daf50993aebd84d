import RealtimeCore
import RealtimeServer

/// A batch as the parameters of `hearth.commit` that follow those for its position.
struct BatchParameters {
  /// The parameters, starting with `payload`.
  let values: [PostgresValue]
  /// The size in bytes of the row in the log.
  let payloadCount: Int

  /// Encodes a batch, unless it contains data that no store can hold.
  init(_ batch: CommitBatch) throws(StoreError) {
    let payload = batch.commits.isEmpty ? nil : try BatchCoding.encode(batch.commits)
    payloadCount = payload?.count ?? 0
    values =
      [payload.map { .bytes($0) } ?? .null] + Self.ledger(batch.ledger)
      + Self.sessions(batch.sessions)
      + [batch.rules.map { .bytes(RulesCoding.encode($0)) } ?? .null]
  }

  private static func ledger(_ entries: [LedgerEntry]) -> [PostgresValue] {
    guard !entries.isEmpty else { return Array(repeating: .null, count: 5) }
    return [
      .byteArrays(entries.map { Array($0.owner.text.utf8) }),
      .byteArrays(entries.map { Array($0.client.utf8) }),
      .integers(entries.map(\.upTo)),
      .texts(entries.map { LedgerCoding.text($0.refused) }),
      .integers(entries.map(\.lastSeen)),
    ]
  }

  private static func sessions(_ updates: [SessionUpdate]) -> [PostgresValue] {
    guard !updates.isEmpty else { return Array(repeating: .null, count: 9) }
    let open = updates.filter { !$0.isEnd }
    var removed: [(Int64, Path)] = []
    var written: [(Int64, Path, Node?)] = []
    for update in open {
      removed += update.removed.map { (update.id, $0) }
      written += update.session.changes.map { (update.id, $0.path, $0.node) }
      written += update.session.withdrawn.map { (update.id, $0, nil) }
    }
    func bytes(_ path: Path) -> [UInt8] { Array(path.wireText.utf8) }
    return [
      .integers(updates.filter(\.replaces).map(\.id)),
      .integers(updates.filter(\.isEnd).map(\.id)),
      .integers(open.map(\.id)),
      .byteArrays(open.map { SessionCoding.encode($0.session) }),
      .integers(removed.map(\.0)),
      .byteArrays(removed.map { bytes($0.1) }),
      .integers(written.map(\.0)),
      .byteArrays(written.map { bytes($0.1) }),
      .byteArrays(written.map { SessionCoding.encode($0.2) }),
    ]
  }
}
