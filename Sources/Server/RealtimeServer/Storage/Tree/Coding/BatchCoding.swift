/// A batch of commits as one row of a log.
package enum BatchCoding {
  private static let format: UInt8 = 1
  /// The space reserved for each commit: growing on demand took a fifth of the encoding time.
  private static let usualBytes = 320

  /// The bytes of a row, which end with their checksum; throws for data that no store can hold.
  package static func encode(_ commits: [Commit]) throws(StoreError) -> [UInt8] {
    var writer = BinaryWriter(capacity: usualBytes * commits.count + 16)
    writer.write(byte: format)
    writer.write(count: commits.count)
    for commit in commits { try writer.write(commit) }
    writer.seal()
    return writer.bytes
  }

  /// The commits of a row, whose number is that of its last commit.
  package static func decode(
    _ payload: [UInt8],
    revision: Int64
  ) throws(BinaryReader.Failure) -> [Commit] {
    var reader = try BinaryReader(sealed: payload)
    guard try reader.byte() == format else {
      throw BinaryReader.Failure(reason: "it has an unknown format")
    }
    var commits: [Commit] = []
    for _ in 0..<(try reader.count()) { commits.append(try reader.commit()) }
    guard reader.isAtEnd, commits.last?.revision == revision else {
      throw BinaryReader.Failure(reason: "it has the wrong length")
    }
    return commits
  }

  /// The commits of a row, of which none may be damaged or missing.
  static func commits(
    of payload: [UInt8],
    endingWith revision: Int64
  ) throws(DamagedData) -> [Commit] {
    let commits: [Commit]
    do throws(BinaryReader.Failure) {
      commits = try decode(payload, revision: revision)
    } catch {
      throw DamagedData("commit \(revision) is damaged: \(error.reason)")
    }
    for (commit, next) in zip(commits, commits.dropFirst())
    where next.revision != commit.revision + 1 {
      throw DamagedData("commit \(commit.revision + 1) is missing")
    }
    return commits
  }

  /// The checksum at the end of a row.
  static func seal(of payload: [UInt8]) -> UInt64 {
    payload.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
