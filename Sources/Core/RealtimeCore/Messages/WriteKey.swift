/// Names one write of one client for good, so that a server applies it once however often it arrives.
///
/// An extension of the protocol: sent only to servers whose hello offers it. A server remembers the
/// writes of a user for that user alone, and those of somebody who has not signed in for whoever knows
/// the client's name, so that this must be long, random and told to nobody else.
package struct WriteKey: Hashable, Sendable {
  /// The client instance, unique among all that ever connect.
  package let client: String
  /// The number of the write; a client counts up and sends its writes in this order.
  package let number: Int64

  /// What the names of clients begin with whose writes belong to whoever knows the name, also when a
  /// user sends them: somebody who has signed in since they were first sent.
  private static let bearerMark = "~"

  /// The name under which a client sends what was written before anybody signed in.
  package static func bearerName(_ client: String) -> String { bearerMark + client }

  /// Whether the write belongs to whoever knows the client's name.
  package var isBearer: Bool { client.hasPrefix(Self.bearerMark) }

  /// Makes a key.
  package init(client: String, number: Int64) {
    self.client = client
    self.number = number
  }

  /// Reads the form on the wire, `CLIENT:NUMBER`; nil when it has another form.
  package init?(wire text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.count <= 64,
      let number = Int64(parts[1]), number >= 0
    else { return nil }
    self.init(client: String(parts[0]), number: number)
  }

  /// The form on the wire.
  package var wireText: String { "\(client):\(number)" }
}
