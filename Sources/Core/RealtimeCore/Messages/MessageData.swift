/// Data that a message carries to be put into a tree.
struct MessageData {
  /// Where they are in the text.
  let span: JSONSpan
  /// What they are, when that was clear as they were reached; else they have not been looked at.
  let early: Result<Node, NodeError>?

  /// Gives what replaces the data at a path, which may be a priority.
  ///
  /// - Parameters:
  ///   - path: Where the data go.
  ///   - requestID: The number of the request that brings them.
  /// - Returns: The data.
  /// - Throws: ``MessageError``, with the number of the request when the message itself is sound.
  func node(at path: Path, requestID: Int64? = nil) throws(MessageError) -> Node {
    do throws(NodeParserError) {
      if path.isPriority { return try priority() }
      switch early {
      case .success(let node): return node
      case .failure(let error): throw .data(error)
      case nil: return try span.node()
      }
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
      value = try span.json()
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
