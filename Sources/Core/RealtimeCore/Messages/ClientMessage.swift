/// What a client sends.
package enum ClientMessage: Sendable, Equatable {
  /// Asks whether the socket is healthy.
  case ping
  /// Any other control message, which a server ignores.
  case control(String)
  /// A numbered request, which the server answers.
  case request(id: Int64, ClientRequest)
}

/// A request of a client.
package enum ClientRequest: Sendable, Equatable {
  /// Counters about the client.
  case stats(JSONValue)
  /// Credentials: `auth` carries a user's token, `gauth` an administrator's.
  case authenticate(Authentication)
  /// Gives up the credentials.
  case unauthenticate
  /// Presents or drops (nil) an App Check token.
  case appCheck(String?)
  /// Starts a listen.
  case listen(ListenRequest)
  /// Ends a listen.
  case unlisten(path: Path, query: Query, tag: Int64?)
  /// Reads once.
  case get(path: Path, query: Query)
  /// Writes.
  case write(WriteRequest)
  /// Schedules a write for the end of the connection.
  case onDisconnect(path: Path, WriteOperation)
  /// Withdraws what is scheduled at a path and below.
  case cancelOnDisconnect(path: Path)
  /// An action that this version does not know.
  case unknown(action: String)

  /// What an authentication presents.
  package struct Authentication: Sendable, Equatable {
    /// The token.
    package var credential: String
    /// Whether it came as `gauth`.
    package var isAdministrative: Bool
    /// The user to act as, for administrators only.
    package var override: JSONValue?
    /// Whether to act as nobody, for administrators only.
    package var actsAsNobody: Bool

    /// Makes an authentication.
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

/// A listen that a client asks for.
package struct ListenRequest: Sendable, Equatable {
  /// The location.
  package var path: Path
  /// Which children are wanted.
  package var query: Query
  /// What pushes for this listen are marked with; nil for the default query.
  package var tag: Int64?
  /// The hash of what the client has already, empty for nothing.
  package var hash: String
  /// Hashes of parts of what the client has, with the last path of each part.
  package var compoundHash: CompoundHash?

  /// Makes a listen.
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

  /// Hashes of consecutive parts of a node.
  package struct CompoundHash: Sendable, Equatable {
    /// One hash for each part, and an empty one for what comes after the last.
    package var hashes: [String]
    /// The last path of each part but the final one.
    package var posts: [Path]

    /// Makes a compound hash.
    package init(hashes: [String], posts: [Path]) {
      self.hashes = hashes
      self.posts = posts
    }
  }
}

/// What a write does at a path.
package enum WriteOperation: Sendable, Equatable {
  /// Replaces the data.
  case set(Node)
  /// Replaces the data at each path below, all at once.
  case merge([Change])
}

/// New data at a path.
package struct Change: Sendable, Equatable {
  /// Where, relative to what the change belongs to.
  package var path: Path
  /// The new data; empty removes.
  package var node: Node

  /// Makes a change.
  package init(_ path: Path, _ node: Node) {
    self.path = path
    self.node = node
  }
}

/// A write that a client asks for.
package struct WriteRequest: Sendable, Equatable {
  /// The location.
  package var path: Path
  /// What to do there.
  package var operation: WriteOperation
  /// The hash the data at the location must have, or nil for an unconditional write.
  package var hash: String?
  /// The name of the write, where the server offers to apply it once only.
  package var key: WriteKey?

  /// Makes a write.
  package init(path: Path, operation: WriteOperation, hash: String? = nil, key: WriteKey? = nil) {
    self.path = path
    self.operation = operation
    self.hash = hash
    self.key = key
  }
}
