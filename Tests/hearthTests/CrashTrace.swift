/// What the writes of one ``CrashWriter`` leave behind, apart from the counter that all writers
/// share.
struct CrashTrace: Equatable {
  var increments = 0
  var left: [String: Int] = [:]
  var right: [String: Int] = [:]
  var tokens: [String: Int] = [:]

  init() {}

  /// Extracts what a writer has left behind in a server's data.
  init(of name: String, in data: [String: Any]) {
    func numbers(_ sandbox: String) -> [String: Int] {
      (data[sandbox] as? [String: Any])?[name] as? [String: Int] ?? [:]
    }
    increments = (data["counters"] as? [String: Any])?[name] as? Int ?? 0
    left = numbers("left")
    right = numbers("right")
    tokens = numbers("tokens")
  }
}
