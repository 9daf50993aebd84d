package enum ClientMessage: Sendable, Equatable {
  /// Checks that the connection is alive.
  case ping
  /// Any other control message, which the server ignores.
  case control(String)
  /// A numbered request, which the server answers.
  case request(id: Int64, ClientRequest)

  /// The number and the action of a request, such as "p"; nil if a message is none.
  ///
  /// A write without a key is given one.
  ///
  /// - Complexity: O(bytes), without a look at what the request carries
  package static func outline(
    of bytes: inout [UInt8],
    naming key: WriteKey
  ) -> (id: Int64, action: String)? {
    guard let (id, action, body) = MessageEnvelope.outline(of: bytes) else { return nil }
    if action == "p" || action == "m", let body,
      let position = MessageEnvelope.keyPosition(in: bytes, body: body)
    {
      bytes.insert(contentsOf: ",\"i\":\"\(key.wireText)\"".utf8, at: position)
    }
    return (id, action)
  }
}

package enum ClientRequest: Sendable, Equatable {
  /// Reports counters about the client.
  case stats(JSONValue)
  /// Signs in: `auth` carries a user's token, `gauth` an administrator's.
  case authenticate(Authentication)
  case unauthenticate
  /// Presents an App Check token, or drops it (nil).
  case appCheck(String?)
  case listen(ListenRequest)
  case unlisten(path: Path, query: Query, tag: Int64?)
  /// Reads data once, without listening.
  case get(path: Path, query: Query)
  case write(WriteRequest)
  /// Schedules a write for when the connection ends.
  case onDisconnect(path: Path, WriteOperation)
  /// Cancels the writes scheduled at a path and below it.
  case cancelOnDisconnect(path: Path)
  /// An action that this version does not know.
  case unknown(action: String)

  /// The credential of an `auth` or `gauth` request.
  package struct Authentication: Sendable, Equatable {
    package var credential: String
    /// Whether the request is `gauth`.
    package var isAdministrative: Bool
    /// The user that an administrator wants to act as.
    package var override: JSONValue?
    /// Whether an administrator wants to act without being signed in.
    package var actsAsNobody: Bool

    package init(
      credential: String,
      isAdministrative: Bool = false,
      override: JSONValue? = nil,
      actsAsNobody: Bool = false
    ) {
      self.credential = credential
      self.isAdministrative = isAdministrative
      self.override = override
      self.actsAsNobody = actsAsNobody
    }
  }
}

package struct ListenRequest: Sendable, Equatable {
  package var path: Path
  package var query: Query
  /// The tag that pushes for this listen carry; nil for the default query.
  package var tag: Int64?
  /// The hash of the data that the client already has; empty if it has none.
  package var hash: String
  /// Hashes of ranges of the data that the client already has.
  package var compoundHash: CompoundHash?

  /// The hash of no data, not even of none: the client is sent what there is.
  package static let unknownHash = "?"

  package init(
    path: Path,
    query: Query = .all,
    tag: Int64? = nil,
    hash: String = "",
    compoundHash: CompoundHash? = nil
  ) {
    self.path = path
    self.query = query
    self.tag = tag
    self.hash = hash
    self.compoundHash = compoundHash
  }
}

package enum WriteOperation: Sendable, Equatable {
  case set(Node)
  /// Replaces the data at several paths below, all at once.
  case merge([Change])
}

/// New data at a path.
package struct Change: Sendable, Equatable {
  /// The path, relative to the path of the whole write.
  package var path: Path
  /// The new data; an empty node removes the existing data.
  package var node: Node

  package init(_ path: Path, to node: Node) {
    self.path = path
    self.node = node
  }
}

package struct WriteRequest: Sendable, Equatable {
  package var path: Path
  package var operation: WriteOperation
  /// The hash that the existing data must have, or nil for an unconditional write.
  package var hash: String? {
    get { terms?.hash }
    set { terms = Terms(hash: newValue, key: key) }
  }
  /// The key by which the server recognises a repeated write, if it offers that.
  package var key: WriteKey? {
    get { terms?.key }
    set { terms = Terms(hash: hash, key: newValue) }
  }

  private var terms: Terms?

  /// The hash and the key, out of line: a small request is passed on without being copied.
  private indirect enum Terms: Equatable {
    case terms(hash: String?, key: WriteKey?)

    init?(hash: String?, key: WriteKey?) {
      if hash == nil, key == nil { return nil }
      self = .terms(hash: hash, key: key)
    }

    var hash: String? {
      switch self {
      case .terms(let hash, _): hash
      }
    }

    var key: WriteKey? {
      switch self {
      case .terms(_, let key): key
      }
    }
  }

  package init(path: Path, operation: WriteOperation, hash: String? = nil, key: WriteKey? = nil) {
    self.path = path
    self.operation = operation
    terms = Terms(hash: hash, key: key)
  }
}

/// Identifies one write of one client forever, so that the server applies it only once.
///
/// This protocol extension is used only with servers whose hello message offers it. The server
/// keeps the writes of different users apart. The writes of a client that has not signed in belong
/// to anyone who knows the client's name, so the name must be long, random and secret.
package struct WriteKey: Hashable, Sendable {
  /// The name of the client instance, unique forever.
  package let client: String
  /// The number of the write; a client numbers and sends its writes in ascending order.
  package let number: Int64

  /// Marks the names of clients whose writes belong to anyone who knows the name, even if a user
  /// who signed in after they were first sent sends them again.
  private static let bearerMark = "~"

  /// The client name for writes that were made before anyone signed in.
  package static func bearerName(_ client: String) -> String { bearerMark + client }

  /// Whether the write belongs to anyone who knows the client's name.
  package var isBearer: Bool { client.hasPrefix(Self.bearerMark) }

  package init(client: String, number: Int64) {
    self.client = client
    self.number = number
  }

  /// Parses the wire form `CLIENT:NUMBER`; returns nil if the text has another form.
  package init?(wire text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.count <= 64,
      let number = Int64(parts[1]), number >= 0
    else { return nil }
    self.init(client: String(parts[0]), number: number)
  }

  package var wireText: String { "\(client):\(number)" }
}
