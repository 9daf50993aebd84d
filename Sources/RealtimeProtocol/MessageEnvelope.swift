internal import RealtimeTree

/// The outer object of every message: control or data.
struct MessageEnvelope {
  enum Kind {
    case control
    case data
  }

  let kind: Kind
  let body: JSONValue
  /// The data that the message carries to be put into a tree; they are not in `body`.
  let data: JSONSpan?

  /// Reads a message and hands it on.
  ///
  /// - Parameters:
  ///   - bytes: The UTF-8 text of one message.
  ///   - actionsWithData: The actions that replace the data of one location; those data are left to
  ///     `decode`, which reads them straight into nodes.
  ///   - decode: Makes the message.
  /// - Returns: The message.
  /// - Throws: ``MessageError`` when the text is no message.
  /// - Complexity: O(bytes)
  static func read<Message>(
    _ bytes: some Collection<UInt8>,
    actionsWithData: Set<String>,
    _ decode: (MessageEnvelope) throws(MessageError) -> Message
  ) throws(MessageError) -> Message {
    func read(_ source: UnsafeBufferPointer<UInt8>) -> Result<Message, MessageError> {
      do throws(MessageError) {
        return .success(try decode(MessageEnvelope(source, actionsWithData: actionsWithData)))
      } catch {
        return .failure(error)
      }
    }
    let result =
      bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)
    return try result.get()
  }

  private init(
    _ source: UnsafeBufferPointer<UInt8>,
    actionsWithData: Set<String>
  ) throws(MessageError) {
    var json: JSONValue
    let aside: JSONSpan?
    do throws(JSONError) {
      (json, aside) = try JSONParser.parse(source, settingAside: ["d", "b", "d"])
      if let aside, !actionsWithData.contains(json["d"]?["a"]?.string ?? "") {
        json = json.setting(["d", "b", "d"], to: try aside.json())
        data = nil
      } else {
        data = aside
      }
    } catch {
      throw MessageError(error.description)
    }
    guard let body = json["d"] else { throw MessageError("a message needs a member \"d\"") }
    switch json["t"]?.string {
    case "c": kind = .control
    case "d": kind = .data
    case nil, _?: throw MessageError("a message needs a member \"t\" of \"c\" or \"d\"")
    }
    self.body = body
  }
}

extension JSONValue {
  /// This object with a member at the end of a chain of names.
  fileprivate func setting(_ names: ArraySlice<String>, to value: JSONValue) -> JSONValue {
    guard let name = names.first else { return value }
    var members = self.members ?? []
    members.removeAll { $0.name == name }
    let old = self[name] ?? .object([])
    members.append(JSONMember(name, old.setting(names.dropFirst(), to: value)))
    return .object(members)
  }
}

extension JSONSpan {
  /// Reads what replaces the data at a path, which may be a priority.
  ///
  /// - Parameters:
  ///   - path: Where the data go.
  ///   - requestID: The number of the request that brings them.
  /// - Returns: The data.
  /// - Throws: ``MessageError``, with the number of the request when the message itself is sound.
  func node(at path: Path, requestID: Int64? = nil) throws(MessageError) -> Node {
    do throws(NodeParserError) {
      if path.isPriority { return try priority() }
      return try node()
    } catch {
      switch error {
      case .syntax(let error): throw MessageError(error.description)
      case .data(let error): throw MessageError(error.description, requestID: requestID)
      }
    }
  }

  private func priority() throws(NodeParserError) -> Node {
    let value: JSONValue
    do throws(JSONError) {
      value = try json()
    } catch {
      throw .syntax(error)
    }
    do throws(NodeError) {
      return try Node.priorityValue(value).map { .leaf($0) } ?? .empty
    } catch {
      throw .data(error)
    }
  }
}
