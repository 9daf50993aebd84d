package import Testing

/// Ends what a test has started once the test is over, even if it throws: last started, first ended.
///
/// What starts something in a suite with this trait passes its end to ``afterTest(_:)``.
///
/// It is a trait of tests as well, because those of a suite inherit it.
package struct CleanUpTrait: SuiteTrait, TestTrait, TestScoping {
  @TaskLocal fileprivate static var ends: Record<@Sendable () async -> Void>?

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    let ends = Record<@Sendable () async -> Void>()
    let result: Result<Void, any Error>
    do {
      result = .success(try await Self.$ends.withValue(ends) { try await function() })
    } catch {
      result = .failure(error)
    }
    for end in ends.elements.reversed() { await end() }
    try result.get()
  }
}

extension Trait where Self == CleanUpTrait {
  /// Ends what each test has started; see ``afterTest(_:)``.
  package static var cleansUp: CleanUpTrait { CleanUpTrait() }
}

/// Has something done once the current test is over; its suite needs the trait `.cleansUp`.
///
/// The process of an exit test ends everything itself.
package func afterTest(_ end: @escaping @Sendable () async -> Void) {
  if let ends = CleanUpTrait.ends {
    ends.append(end)
  } else if Test.current != nil {
    Issue.record("the suite lacks the trait .cleansUp")
  }
}
