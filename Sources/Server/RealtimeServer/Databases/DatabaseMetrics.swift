internal import NIOCore
package import RealtimeCore

/// The metrics of one database since it was opened.
struct DatabaseMetrics {
  var connections = 0
  /// Requests over WebSockets, REST and event streams by their kind.
  var requests = RequestCounts()
  /// Messages that could not be decoded.
  var undecodable = 0
  var sent = 0
  /// The bytes of messages that were sent over WebSockets.
  var sentBytes = 0
  var commits = 0
  /// Batches that could not be stored.
  var failedBatches = 0
  /// Changes that were dropped for clients that were behind.
  var coalesced = 0
  /// Connections that were closed by the server, because they exceeded a limit or had to make room.
  var dropped = 0
  /// The number of commits in a batch.
  var batchCommits = Histogram()
  /// How long the store took for a batch, in microseconds.
  var commitTime = Histogram()
  /// The time from the arrival of a write to its acknowledgement, in microseconds.
  var acknowledgeTime = Histogram()
}

extension Histogram {
  /// The count, the mean, some quantiles and the maximum.
  var json: JSONValue {
    .object(
      ("count", .integer(Int64(count))),
      ("mean", .integer(Int64(count == 0 ? 0 : sum / count))),
      ("p50", .integer(Int64(quantile(0.5)))),
      ("p90", .integer(Int64(quantile(0.9)))),
      ("p99", .integer(Int64(quantile(0.99)))),
      ("maximum", .integer(Int64(maximum)))
    )
  }
}

/// A histogram of values, with a resolution of one eighth of each value.
///
/// Values below 8 have a bucket each; above, every power of two is divided into eight buckets.
struct Histogram {
  private(set) var count = 0
  private(set) var sum = 0
  private(set) var maximum = 0
  private var buckets: [Int] = []

  /// Records a value; negative ones count as 0.
  ///
  /// - Complexity: O(1)
  mutating func record(_ value: Int) {
    let value = max(0, value)
    let bucket = Self.bucket(of: value)
    if buckets.count <= bucket {
      buckets.append(contentsOf: repeatElement(0, count: bucket + 1 - buckets.count))
    }
    buckets[bucket] += 1
    count += 1
    sum &+= value
    maximum = max(maximum, value)
  }

  /// A value that a share of all values does not exceed; it is too high by at most an eighth.
  ///
  /// - Complexity: O(log maximum)
  func quantile(_ share: Double) -> Int {
    let rank = max(1, Int((Double(count) * share).rounded(.up)))
    var seen = 0
    for (bucket, number) in buckets.enumerated() {
      seen += number
      if seen >= rank { return min(Self.largestValue(at: bucket), maximum) }
    }
    return maximum
  }

  private static func bucket(of value: Int) -> Int {
    guard value >= 8 else { return value }
    let power = Int.bitWidth - 1 - value.leadingZeroBitCount
    return (power - 2) * 8 + (value >> (power - 3)) - 8
  }

  private static func largestValue(at bucket: Int) -> Int {
    guard bucket >= 8 else { return bucket }
    let power = bucket / 8 + 2
    let step = 1 << (power - 3)
    return (1 << power) + (bucket % 8 + 1) * step - 1
  }
}

extension TimeAmount {
  var microseconds: Int { Int(nanoseconds / 1_000) }
}

/// JSON in the metadata of a log message, which a log handler that writes JSON can embed unchanged.
package struct LoggedJSON: CustomStringConvertible, Sendable {
  package let json: JSONValue

  package var description: String { json.text }
}

struct RequestCounts {
  enum Kind: Int, CaseIterable {
    case appCheck
    case authenticate
    case get
    case listen
    case onDisconnect
    case stats
    case unauthenticate
    case unknown
    case unlisten
    case write
  }

  private var counts = Array(repeating: 0, count: Kind.allCases.count)

  mutating func add(_ kind: Kind) { counts[kind.rawValue] += 1 }

  /// The kinds that have occurred, with their numbers.
  var counted: [(kind: String, count: Int)] {
    Kind.allCases.filter { counts[$0.rawValue] > 0 }.map { ("\($0)", counts[$0.rawValue]) }
  }

  var json: JSONValue { .object(counted.map { JSONMember($0.kind, .integer(Int64($0.count))) }) }
}

extension ClientRequest {
  var kind: RequestCounts.Kind {
    switch self {
    case .stats: .stats
    case .authenticate: .authenticate
    case .unauthenticate: .unauthenticate
    case .appCheck: .appCheck
    case .listen: .listen
    case .unlisten: .unlisten
    case .get: .get
    case .write: .write
    case .onDisconnect, .cancelOnDisconnect: .onDisconnect
    case .unknown: .unknown
    }
  }
}

extension DatabaseCore {
  /// The metrics as administrators read them.
  var metricsJSON: JSONValue {
    func count(_ count: Int) -> JSONValue { .integer(Int64(count)) }
    return .object(
      ("connections", count(sessions.count + peers.inside.count)),
      ("connectionsSinceStart", count(metrics.connections)),
      ("listens", count(hub.listenCount)),
      ("revision", .integer(hub.revision)),
      ("storeFailure", batcher.progress.failure.map { .string("\($0.kind)") } ?? .null),
      ("requests", metrics.requests.json),
      ("undecodableMessages", count(metrics.undecodable)),
      ("sentMessages", count(metrics.sent)),
      ("sentBytes", count(metrics.sentBytes)),
      ("coalescedPushes", count(metrics.coalesced)),
      ("droppedConnections", count(metrics.dropped)),
      ("commits", count(metrics.commits)),
      ("failedBatches", count(metrics.failedBatches)),
      ("batchCommits", metrics.batchCommits.json),
      ("commitMicroseconds", metrics.commitTime.json),
      ("acknowledgeMicroseconds", metrics.acknowledgeTime.json),
      ("epoch", term.map { .integer($0.epoch) }),
      ("leaseMilliseconds", term.map { .integer(Int64($0.remaining / .milliseconds(1))) })
    )
  }

  /// The path at which administrators read the metrics over a WebSocket.
  private static let metricsPath = Path(wire: ".info/metrics")

  /// The answer to a `g` request for the server's metrics, or nil for any other request.
  ///
  /// It is sent at once, because the metrics have no place in the order of writes.
  func metrics(for request: ClientRequest, of peer: PeerID) -> ServerMessage.Response? {
    guard case .get(Self.metricsPath, _) = request else { return nil }
    guard hub.identity(of: peer) == .administrator else {
      return ServerMessage.Response(.permissionDenied, payload: .json(.string("Permission denied")))
    }
    return ServerMessage.Response(.ok, payload: .json(context.metrics()))
  }
}
