internal import RealtimeCore

extension ClientRequest {
  /// The kind of request, for counting.
  var kind: String {
    switch self {
    case .stats: "stats"
    case .authenticate: "authenticate"
    case .unauthenticate: "unauthenticate"
    case .appCheck: "appCheck"
    case .listen: "listen"
    case .unlisten: "unlisten"
    case .get: "get"
    case .write: "write"
    case .onDisconnect, .cancelOnDisconnect: "onDisconnect"
    case .unknown: "unknown"
    }
  }
}
