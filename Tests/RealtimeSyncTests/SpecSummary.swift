import Testing

/// Prints the closing line after the suite.
struct SpecSummary: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await function()
    print(await SpecTally.shared.line)
  }
}
