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
  var fields: JSONFields {
    let (kind, details): (String, JSONFields) =
      switch self {
      case .started(let header): ("header", header.fields)
      case .invoked(let number, let intent): ("invoke", ["op": number] + intent.fields)
      case .answered(let number, let outcome): (outcome.name, ["op": number] + outcome.fields)
      case .shown(let showing): ("shown", showing.fields)
      case .told(let telling): ("told", telling.fields)
      case .connection(let isUp): ("connection", ["up": isUp])
      case .finalView(let view): ("view", view.fields)
      case .screen(let screen): ("screen", screen.fields)
      case .fault(let name, let target, let isOver):
        ("fault", ["name": name, "target": target, "over": isOver])
      case .server(let change): ("server", ["change": change])
      case .rules(let source): ("rules", ["source": source])
      case .sample(let bytes, let descriptors, let p99):
        ("sample", ["rss": bytes, "fds": descriptors, "p99": p99])
      case .stalled(let microseconds): ("stalled", ["for": microseconds])
      case .coalesced(let microseconds): ("coalesced", ["for": microseconds])
      case .ended: ("end", [:])
      }
    return ["k": kind] + details
  }

  init(_ fields: JSONFields) throws(HistoryError) {
    let kind: String = try fields("k")
    switch kind {
    case "header": self = .started(try HistoryHeader(fields))
    case "invoke": self = try .invoked(fields("op"), Intent(fields))
    case "ok": self = try .answered(fields("op"), .ok(fields("value")))
    case "refused": self = try .answered(fields("op"), .refused(fields("reason")))
    case "unknown": self = try .answered(fields("op"), .unknown(fields("reason")))
    case "shown": self = .shown(try Showing(fields))
    case "connection": self = try .connection(isUp: fields("up"))
    case "view": self = .finalView(try FinalView(fields))
    case "screen": self = .screen(try CapturedScreen(fields))
    case "fault":
      self = try .fault(name: fields("name"), target: fields("target"), isOver: fields("over"))
    case "server": self = try .server(fields("change"))
    case "rules": self = try .rules(source: fields("source"))
    case "sample":
      self = try .sample(
        residentBytes: fields("rss"),
        descriptors: fields("fds"),
        p99Microseconds: fields("p99")
      )
    case "told": self = .told(try Telling(fields))
    case "stalled": self = try .stalled(microseconds: fields("for"))
    case "coalesced": self = try .coalesced(microseconds: fields("for"))
    case "end": self = .ended
    default: throw fields.missing("k")
    }
  }
}

extension HistoryEvent.ServerChange: JSONField {}

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
  var text: String { (["t": time.microseconds] + event.fields).object.text }

  init(_ text: String) throws(HistoryError) {
    guard let json = try? JSONParser.parse(text) else { throw HistoryError("it is not JSON") }
    let fields = JSONFields(json)
    time = Moment(microseconds: try fields("t"))
    event = try HistoryEvent(fields)
  }
}
