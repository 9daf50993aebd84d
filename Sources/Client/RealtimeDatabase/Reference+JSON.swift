package import RealtimeCore

/// Reading and writing JSON as it is, for programs of this package.
extension DatabaseReference {
  /// The path with a leading slash.
  package var pathText: String { path.description }

  /// Replaces the data by JSON in export form and waits for the server.
  ///
  /// - Parameter json: The data.
  /// - Throws: ``DatabaseError`` when the data are not legal or the server refuses them.
  package func setValue(json: JSONValue) async throws {
    try await finished { block in
      write(block) { () throws(DatabaseError) in .set(try Self.node(json)) }
    }
  }

  /// Replaces the data at several paths below, all at once, and waits for the server.
  ///
  /// - Parameter json: An object whose names are relative paths.
  /// - Throws: ``DatabaseError`` when the data are not legal or the server refuses them.
  package func updateChildValues(json: JSONValue) async throws {
    try await finished { block in
      write(block) { () throws(DatabaseError) in .merge(try Self.changes(json: json)) }
    }
  }
}

extension DataSnapshot {
  /// The data as JSON, in value form.
  package var jsonValue: JSONValue { node.json(.value) }

  /// The data as JSON with priorities.
  package var exportedJSON: JSONValue { node.json(.export) }
}
