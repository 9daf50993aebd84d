/// What the writes of one ``CrashWriter`` leave behind, but for the counter that all of them share.
struct CrashTrace: Equatable {
  var increments = 0
  var left: [String: Int] = [:]
  var right: [String: Int] = [:]
  var tokens: [String: Int] = [:]

  init() {}

  /// Reads what a writer has left behind in the data of a server.
  init(of name: String, in data: [String: Any]) {
    func numbers(_ place: String) -> [String: Int] {
      (data[place] as? [String: Any])?[name] as? [String: Int] ?? [:]
    }
    increments = (data["counters"] as? [String: Any])?[name] as? Int ?? 0
    left = numbers("left")
    right = numbers("right")
    tokens = numbers("tokens")
  }
}
