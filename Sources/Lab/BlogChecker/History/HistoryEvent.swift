import RealtimeCore

/// What happened, as one line of a history says it.
package enum HistoryEvent: Hashable, Sendable {
  /// A process of the client has started; the first line of every file.
  case started(HistoryHeader)
  /// An operation begins; its number is unique within the file.
  case invoked(Int64, Intent)
  /// An operation has ended, once; one without an end is of unknown outcome.
  case answered(Int64, Outcome)
  /// A listener was told something.
  case shown(Showing)
  /// A listener was told of a place what it did not know.
  case told(Telling)
  /// The connection was made or lost.
  case connection(isUp: Bool)
  /// What a view had at the end, when everything was quiet.
  case finalView(FinalView)
  /// What stood on a screen.
  case screen(CapturedScreen)
  /// A fault begins or ends; the target is a client, the server or a connection.
  case fault(name: String, target: String, isOver: Bool)
  /// The server was started, was killed by the driver, or ended by itself.
  case server(ServerChange)
  /// The security rules are these from now on.
  case rules(source: String)
  /// What the server took, and how long answers did at the 99th percentile since the last sample.
  case sample(residentBytes: Int64, descriptors: Int64, p99Microseconds: Int64)
  /// The machine has let the process do nothing for so long.
  case stalled(microseconds: Int64)
  /// Within this time the server has told somebody who does not keep up several changes as one.
  case coalesced(microseconds: Int64)
  /// The process has ended as it should; one that was killed does not write this.
  case ended

  /// What became of the server.
  package enum ServerChange: String, Sendable {
    /// It answers.
    case up
    /// The driver has killed it.
    case killed
    /// It has ended though nobody asked it to.
    case died
  }

  private enum Kind: String {
    case header, invoke, ok, refused, unknown, shown, connection, view, screen, fault, server
    case rules, sample, end, told, stalled, coalesced
  }

  private var kind: Kind {
    switch self {
    case .started: .header
    case .invoked: .invoke
    case .answered(_, .ok): .ok
    case .answered(_, .refused): .refused
    case .answered(_, .unknown): .unknown
    case .shown: .shown
    case .connection: .connection
    case .finalView: .view
    case .screen: .screen
    case .fault: .fault
    case .server: .server
    case .rules: .rules
    case .sample: .sample
    case .told: .told
    case .stalled: .stalled
    case .coalesced: .coalesced
    case .ended: .end
    }
  }

  /// The members of the line beside its time.
  var members: [JSONMember] {
    let details: [JSONMember]
    switch self {
    case .started(let header): details = header.members
    case .invoked(let number, let intent):
      details = [JSONMember("op", .integer(number))] + intent.members
    case .answered(let number, let outcome):
      details = [JSONMember("op", .integer(number))] + outcome.members
    case .shown(let showing): details = showing.members
    case .connection(let isUp): details = [JSONMember("up", .bool(isUp))]
    case .finalView(let view): details = view.members
    case .screen(let screen): details = screen.members
    case .fault(let name, let target, let isOver):
      details = [
        JSONMember("name", .string(name)),
        JSONMember("target", .string(target)),
        JSONMember("over", .bool(isOver)),
      ]
    case .server(let change): details = [JSONMember("change", .string(change.rawValue))]
    case .rules(let source): details = [JSONMember("source", .string(source))]
    case .sample(let bytes, let descriptors, let p99):
      details = [
        JSONMember("rss", .integer(bytes)),
        JSONMember("fds", .integer(descriptors)),
        JSONMember("p99", .integer(p99)),
      ]
    case .told(let telling): details = telling.members
    case .stalled(let microseconds), .coalesced(let microseconds):
      details = [JSONMember("for", .integer(microseconds))]
    case .ended: details = []
    }
    return [JSONMember("k", .string(kind.rawValue))] + details
  }

  init(_ fields: HistoryFields) throws(HistoryError) {
    let kind: Kind = try fields.choice("k")
    switch kind {
    case .header: self = .started(try HistoryHeader(fields))
    case .invoke: self = .invoked(try fields.integer("op"), try Intent(fields))
    case .ok: self = .answered(try fields.integer("op"), .ok(fields.value("value")))
    case .refused:
      self = .answered(try fields.integer("op"), .refused(try fields.text("reason")))
    case .unknown:
      self = .answered(try fields.integer("op"), .unknown(try fields.text("reason")))
    case .shown: self = .shown(try Showing(fields))
    case .connection: self = .connection(isUp: try fields.bool("up"))
    case .view: self = .finalView(try FinalView(fields))
    case .screen: self = .screen(try CapturedScreen(fields))
    case .fault:
      self = .fault(
        name: try fields.text("name"),
        target: try fields.text("target"),
        isOver: try fields.bool("over")
      )
    case .server: self = .server(try fields.choice("change"))
    case .rules: self = .rules(source: try fields.text("source"))
    case .sample:
      self = .sample(
        residentBytes: try fields.integer("rss"),
        descriptors: try fields.integer("fds"),
        p99Microseconds: try fields.integer("p99")
      )
    case .told: self = .told(try Telling(fields))
    case .stalled: self = .stalled(microseconds: try fields.integer("for"))
    case .coalesced: self = .coalesced(microseconds: try fields.integer("for"))
    case .end: self = .ended
    }
  }
}
