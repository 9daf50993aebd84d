package import Testing

/// Expects a body to throw an error, a property of it and parts of its description.
///
///     expectError(\StoreError.kind, .damaged, saying: "fsck") { try store.load() }
@discardableResult
package func expectError<Failure: Error, Value: Equatable, Result>(
  _ property: KeyPath<Failure, Value>,
  _ value: Value,
  saying texts: String...,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Result
) -> Failure? {
  do {
    _ = try body()
    return check(nil, property, value, texts, sourceLocation)
  } catch {
    return check(error, property, value, texts, sourceLocation)
  }
}

/// Expects a body to throw an error, a property of it and parts of its description.
@discardableResult
package func expectError<Failure: Error, Value: Equatable, Result>(
  _ property: KeyPath<Failure, Value>,
  _ value: Value,
  saying texts: String...,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws -> Result
) async -> Failure? {
  do {
    _ = try await body()
    return check(nil, property, value, texts, sourceLocation)
  } catch {
    return check(error, property, value, texts, sourceLocation)
  }
}

private func check<Failure: Error, Value: Equatable>(
  _ error: (any Error)?,
  _ property: KeyPath<Failure, Value>,
  _ value: Value,
  _ texts: [String],
  _ sourceLocation: SourceLocation
) -> Failure? {
  let failure = error as? Failure
  let description = failure.map { "\($0)" } ?? ""
  let isExpected =
    failure?[keyPath: property] == value && texts.allSatisfy { description.contains($0) }
  #expect(
    isExpected,
    "\(error.map { "\($0)" } ?? "nothing") is thrown, not \(value) \(texts)",
    sourceLocation: sourceLocation
  )
  return failure
}
