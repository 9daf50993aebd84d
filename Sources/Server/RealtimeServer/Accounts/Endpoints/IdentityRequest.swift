/// A request about identities, as it came over HTTP or from a command of the same machine.
package struct IdentityRequest: Sendable {
  /// The method, such as "POST".
  package var method: String
  /// What it is about.
  package var route: IdentityRoute
  /// The database whose accounts are meant.
  package var database: String
  /// The parameters after the path.
  package var parameters: [(name: String, value: String)] = []
  /// The type of the body, or nil when none is named.
  package var contentType: String?
  /// The body.
  package var body: [UInt8] = []
  /// What attempts are counted under: an address, or a user of this machine.
  package var client = ""
  /// Whether it comes from an administrator's socket.
  package var isLocalAdministrator = false
  /// What came as `Authorization: Bearer`, or nil.
  package var bearer: String?

  /// Makes a request without parameters and body.
  package init(_ method: String, _ route: IdentityRoute, database: String) {
    self.method = method
    self.route = route
    self.database = database
  }

  /// The path with the parameters, as a client sends them.
  package var target: String {
    guard !parameters.isEmpty else { return route.path }
    let pairs = parameters.map { "\(Self.escaped($0.name))=\(Self.escaped($0.value))" }
    return "\(route.path)?\(pairs.joined(separator: "&"))"
  }

  private static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    let bytes = text.utf8.flatMap { byte -> [UInt8] in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        [byte]
      default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The value of the first parameter of a name, or nil.
  func parameter(_ name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }
}
