import RealtimeCore

enum HistoryEvent: Hashable, Sendable {
  /// A process of the client has started; the first line of every file.
  case started(HistoryHeader)
  /// An operation begins; its number is unique within the file.
  case invoked(Int64, Intent)
  /// An operation has ended, at most once; an operation without an end has an unknown outcome.
  case answered(Int64, Outcome)
  /// A listener was told something.
  case shown(Showing)
  /// A listener was told about a change at a path.
  case told(Telling)
  case connection(isUp: Bool)
  /// The content of a view at the end, when everything was quiet.
  case finalView(FinalView)
  case screen(CapturedScreen)
  /// A fault begins or ends; the target is a client, the server or a connection.
  case fault(name: String, target: String, isOver: Bool)
  /// The server was started, killed by the driver, or ended on its own.
  case server(ServerChange)
  /// These security rules take effect.
  case rules(source: String)
  /// What the server used, and the 99th percentile of its response times since the last sample.
  case sample(residentBytes: Int64, descriptors: Int64, p99Microseconds: Int64)
  /// The machine did not run the process for this long.
  case stalled(microseconds: Int64)
  /// Within this time the server has merged changes for a client that does not keep up.
  case coalesced(microseconds: Int64)
  /// The process has ended properly; a killed process does not write this.
  case ended

  enum ServerChange: String, Sendable {
    case up
    case killed
    case died
  }

  /// The members of the line apart from its time.
  var members: [JSONMember] {
    func member(_ name: String, _ number: Int64) -> JSONMember {
      JSONMember(name, .integer(number))
    }
    let (kind, details): (String, [JSONMember]) =
      switch self {
      case .started(let header): ("header", header.members)
      case .invoked(let number, let intent): ("invoke", [member("op", number)] + intent.members)
      case .answered(let number, let outcome):
        (outcome.name, [member("op", number)] + outcome.members)
      case .shown(let showing): ("shown", showing.members)
      case .told(let telling): ("told", telling.members)
      case .connection(let isUp): ("connection", [JSONMember("up", .bool(isUp))])
      case .finalView(let view): ("view", view.members)
      case .screen(let screen): ("screen", screen.members)
      case .fault(let name, let target, let isOver):
        (
          "fault",
          [
            JSONMember("name", .string(name)), JSONMember("target", .string(target)),
            JSONMember("over", .bool(isOver)),
          ]
        )
      case .server(let change): ("server", [JSONMember("change", .string(change.rawValue))])
      case .rules(let source): ("rules", [JSONMember("source", .string(source))])
      case .sample(let bytes, let descriptors, let p99):
        ("sample", [member("rss", bytes), member("fds", descriptors), member("p99", p99)])
      case .stalled(let microseconds): ("stalled", [member("for", microseconds)])
      case .coalesced(let microseconds): ("coalesced", [member("for", microseconds)])
      case .ended: ("end", [])
      }
    return [JSONMember("k", .string(kind))] + details
  }

  init(_ fields: HistoryFields) throws(HistoryError) {
    switch try fields.text("k") {
    case "header": self = .started(try HistoryHeader(fields))
    case "invoke": self = .invoked(try fields.integer("op"), try Intent(fields))
    case "ok": self = .answered(try fields.integer("op"), .ok(fields.value("value")))
    case "refused":
      self = .answered(try fields.integer("op"), .refused(try fields.text("reason")))
    case "unknown":
      self = .answered(try fields.integer("op"), .unknown(try fields.text("reason")))
    case "shown": self = .shown(try Showing(fields))
    case "connection": self = .connection(isUp: try fields.bool("up"))
    case "view": self = .finalView(try FinalView(fields))
    case "screen": self = .screen(try CapturedScreen(fields))
    case "fault":
      self = .fault(
        name: try fields.text("name"),
        target: try fields.text("target"),
        isOver: try fields.bool("over")
      )
    case "server": self = .server(try fields.choice("change"))
    case "rules": self = .rules(source: try fields.text("source"))
    case "sample":
      self = .sample(
        residentBytes: try fields.integer("rss"),
        descriptors: try fields.integer("fds"),
        p99Microseconds: try fields.integer("p99")
      )
    case "told": self = .told(try Telling(fields))
    case "stalled": self = .stalled(microseconds: try fields.integer("for"))
    case "coalesced": self = .coalesced(microseconds: try fields.integer("for"))
    case "end": self = .ended
    default: throw fields.missing("k")
    }
  }
}

/// One line of a history: a JSON object with the time in microseconds (`t`) and the kind of event
/// (`k`).
///
/// A file contains the events of one client in chronological order:
///
///     {"t":8123456,"k":"header","client":"c07","role":"client","user":"ann","uid":"ann","pid":412,…}
///     {"t":8129001,"k":"invoke","op":1,"do":"comment","post":"-Na","comment":"-Nb","text":"c07-1"}
///     {"t":8131877,"k":"shown","view":"recent","order":1,"what":"post","post":"-Na","starCount":2,…}
///     {"t":8134590,"k":"ok","op":1}
///     {"t":8134700,"k":"invoke","op":2,"do":"star","post":"-Na"}
///     {"t":8139000,"k":"connection","up":false}
///     {"t":9200000,"k":"view","view":"recent","path":"/posts","limit":100,"digest":"…"}
///     {"t":9300000,"k":"end"}
///
/// A killed process leaves no `end`, and perhaps a partial last line. The client's next process
/// appends to the same file, starting with its own header.
struct HistoryLine: Hashable, Sendable {
  var time: Moment
  var event: HistoryEvent

  init(_ event: HistoryEvent, at time: Moment) {
    self.time = time
    self.event = event
  }

  /// The line without its newline.
  var text: String {
    let time = JSONMember("t", .integer(time.microseconds))
    return JSONValue.object([time] + event.members).text
  }

  init(_ text: String) throws(HistoryError) {
    guard let json = try? JSONParser.parse(text) else { throw HistoryError("it is not JSON") }
    let fields = HistoryFields(json)
    time = Moment(microseconds: try fields.integer("t"))
    event = try HistoryEvent(fields)
  }
}

/// The members of one line of a history, by name.
struct HistoryFields {
  private let json: JSONValue

  init(_ json: JSONValue) {
    self.json = json
  }

  func missing(_ name: String) -> HistoryError {
    HistoryError("\"\(name)\" is missing or of the wrong kind")
  }

  func value(_ name: String) -> JSONValue? {
    guard let value = json[name], value != .null else { return nil }
    return value
  }

  func text(_ name: String) throws(HistoryError) -> String {
    guard let text = json[name]?.string else { throw missing(name) }
    return text
  }

  func optionalText(_ name: String) -> String? { json[name]?.string }

  func integer(_ name: String) throws(HistoryError) -> Int64 {
    guard let number = json[name]?.integer else { throw missing(name) }
    return number
  }

  func optionalInteger(_ name: String) -> Int64? { json[name]?.integer }

  func bool(_ name: String) throws(HistoryError) -> Bool {
    guard let bool = json[name]?.bool else { throw missing(name) }
    return bool
  }

  func texts(_ name: String) throws(HistoryError) -> [String] {
    guard let elements = json[name]?.elements else { throw missing(name) }
    return elements.compactMap(\.string)
  }

  func choice<Choice: RawRepresentable<String>>(
    _ name: String
  ) throws(HistoryError) -> Choice {
    guard let choice = Choice(rawValue: try text(name)) else { throw missing(name) }
    return choice
  }
}
