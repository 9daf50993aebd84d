import RealtimeCore

/// An action of a database, for people who want to watch it work.
///
/// It keeps the data and produces text only on request.
package struct Diagnostic: Sendable, Equatable {
  package enum Kind: Sendable, Hashable {
    /// A frame went to the server; credentials are left out.
    case sent
    /// A frame came from the server.
    case received
    /// An observer was called.
    case event
    case observing(observer: Int64)
    case stopped(observer: Int64)
    case writing(request: Int64)
    case written(request: Int64)
    /// A transaction's block was asked for new data, or a transaction began or ended.
    case transaction(request: Int64)
    case connection
  }

  /// The time, in milliseconds since 1970 on the machine's clock.
  package let time: Int64
  package let kind: Kind

  /// The number of bytes of a frame, however much of it is kept; nil for other actions.
  package let frameSize: Int?
  /// The writes and transactions whose data a frame carries to the server.
  package let carried: [Int64]
  /// What made the caller write, as the caller puts it; nil if it does not say.
  package let cause: String?

  let subject: DiagnosticSubject
  private let location: Path?

  init(
    time: Int64,
    kind: Kind,
    _ subject: DiagnosticSubject,
    at location: Path? = nil,
    frameSize: Int? = nil,
    carried: [Int64] = [],
    cause: String? = nil
  ) {
    self.time = time
    self.kind = kind
    self.subject = subject
    self.location = location
    self.frameSize = frameSize
    self.carried = carried
    self.cause = cause
  }

  /// The path that the action is about; nil for frames, which name theirs, and if there is none.
  package var path: String? { (location ?? subject.path).map { "\($0)" } }

  /// A one-line summary.
  ///
  /// - Complexity: O(length), which is bounded
  package var title: String { subject.title }

  /// The details, one line for each part.
  ///
  /// - Complexity: O(length), which is bounded
  package var details: [String] { subject.details }

  /// How far a transaction has come; nil if the diagnostic is about something else.
  package var transactionStep: TransactionStep? {
    guard case .transaction = kind else { return nil }
    return switch subject {
    case .attempt(let number, _, _, _): .attempt(number)
    case .outcome: .end
    case .words, .frame, .observation, .event, .write: .beginning
    }
  }

  /// The approximate number of bytes that are kept for it.
  package var byteCount: Int { 100 + subject.byteCount }

  /// Compares the times, the kinds and the texts.
  package static func == (left: Diagnostic, right: Diagnostic) -> Bool {
    left.time == right.time && left.kind == right.kind && left.title == right.title
      && left.details == right.details
  }
}

package enum TransactionStep: Sendable, Hashable {
  case beginning
  /// The block was asked for new data, for the first time (1) or again.
  case attempt(Int)
  /// The transaction has ended, whether it was committed or not.
  case end
}

/// The data of a diagnostic, from which its text is produced on request.
enum DiagnosticSubject: Sendable {
  case words(String, details: [String] = [])
  /// A frame, cut off if it is long.
  case frame([UInt8])
  case observation(Path, Query)
  case event(DataEventType, Path, ChildKey?, DiagnosticNode)
  case write(Path, DiagnosticWrite)
  /// A transaction's block proposed new data for the data it read, or nil to abort.
  case attempt(Int, Path, read: DiagnosticNode, proposed: DiagnosticNode?)
  /// A transaction ended as the line says, with this data.
  case outcome(String, DiagnosticNode)

  /// The longest text, in bytes.
  static let textLimit = 16_384

  /// A frame, of which only as much is kept as the text shows.
  static func excerpt(of bytes: [UInt8]) -> DiagnosticSubject {
    .frame(bytes.count > textLimit ? Array(bytes[...textLimit]) : bytes)
  }

  var title: String {
    switch self {
    case .words(let title, _), .outcome(let title, _): title
    case .frame(let bytes): Self.text(bytes)
    case .observation(let path, _): "observe \(path)"
    case .event(let kind, let path, let key, _):
      "\(kind.name) \(path)\(key.map { " \($0.text)" } ?? "")"
    case .write(let path, let write): "\(write.name) \(path)"
    case .attempt(let number, let path, _, _): "try \(number) at \(path)"
    }
  }

  /// The details, one line for each part.
  var details: [String] {
    switch self {
    case .words(_, let details): return details
    case .frame(let bytes): return [Self.text(bytes)]
    case .observation(_, let query):
      return query.isDefault ? [] : ["query: \(query.json.canonicalText)"]
    case .event(_, _, _, let node), .outcome(_, let node): return ["value: \(node.text)"]
    case .write(_, let write): return write.lines
    case .attempt(let number, _, let read, let proposed):
      let verdict = number > 1 ? ["the try before was overtaken by another write"] : []
      let proposal = proposed?.text ?? "nothing, it gives up"
      return verdict + ["read: \(read.text)", "proposed: \(proposal)"]
    }
  }

  /// The path that it is about, if it is kept apart from the text.
  var path: Path? {
    switch self {
    case .words, .frame, .outcome: nil
    case .observation(let path, _), .write(let path, _), .attempt(_, let path, _, _): path
    case .event(_, let path, let key, _): key.map { path.appending($0) } ?? path
    }
  }

  /// The approximate number of bytes that it keeps.
  var byteCount: Int {
    switch self {
    case .words(let title, let details):
      details.reduce(title.utf8.count) { $0 + $1.utf8.count }
    case .frame(let bytes): bytes.count
    case .observation: 0
    case .event(_, _, _, let node): node.byteCount
    case .write(_, let write): write.byteCount
    case .attempt(_, _, let read, let proposed): read.byteCount + (proposed?.byteCount ?? 0)
    case .outcome(let title, let node): title.utf8.count + node.byteCount
    }
  }

  /// Decodes bytes as text; an ellipsis replaces everything beyond the limit.
  static func text(_ bytes: [UInt8]) -> String {
    guard bytes.count > textLimit else { return String(decoding: bytes, as: UTF8.self) }
    var end = textLimit
    // Do not cut a character in the middle.
    while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return String(decoding: bytes[..<end], as: UTF8.self) + "…"
  }
}

extension DataEventType {
  /// The event as the protocol's other clients call it, such as `child_added`.
  package var name: String {
    switch self {
    case .childRemoved: "child_removed"
    case .childAdded: "child_added"
    case .childMoved: "child_moved"
    case .childChanged: "child_changed"
    case .value: "value"
    }
  }
}

/// The data of a diagnostic; only its text is kept if it is large.
struct DiagnosticNode: Sendable {
  private enum Kept {
    case node(Node)
    case text(String)
  }

  private let kept: Kept
  /// The approximate number of bytes that it keeps.
  let byteCount: Int

  /// - Complexity: O(size), which is bounded; O(1) for what is packed
  init(_ node: Node) {
    let count = node.byteCount(upTo: DiagnosticSubject.textLimit)
    if count <= DiagnosticSubject.textLimit {
      kept = .node(node)
      byteCount = count
    } else {
      let text = Self.text(node)
      kept = .text(text)
      byteCount = text.utf8.count
    }
  }

  /// The JSON of the data in export form.
  var text: String {
    switch kept {
    case .node(let node): Self.text(node)
    case .text(let text): text
    }
  }

  private static func text(_ node: Node) -> String {
    var writer = JSONWriter()
    node.write(to: &writer, limit: DiagnosticSubject.textLimit)
    return DiagnosticSubject.text(writer.bytes)
  }
}

/// The write of a diagnostic; only the first locations are kept if there are many.
struct DiagnosticWrite: Sendable {
  let name: String
  /// The approximate number of bytes that it keeps.
  let byteCount: Int

  private let parts: [(path: Path?, node: DiagnosticNode)]
  private let isWhole: Bool

  init(_ operation: WriteOperation) {
    switch operation {
    case .set(let node):
      name = node.isEmpty ? "remove" : "set"
      parts = [(nil, DiagnosticNode(node))]
      byteCount = parts[0].node.byteCount
      isWhole = true
    case .merge(let changes):
      name = "update"
      var parts: [(path: Path?, node: DiagnosticNode)] = []
      var count = 0
      for change in changes where count <= DiagnosticSubject.textLimit {
        parts.append((change.path, DiagnosticNode(change.node)))
        count += 40 + parts[parts.count - 1].node.byteCount
      }
      self.parts = parts
      byteCount = count
      isWhole = parts.count == changes.count
    }
  }

  /// One line for each location.
  var lines: [String] {
    let lines = parts.map { path, node in "\(path.map { "\($0)" } ?? "value"): \(node.text)" }
    return isWhole ? lines : lines + ["…"]
  }
}
