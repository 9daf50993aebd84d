import Testing

@Suite("SyncPointSpec", SpecSummary())
struct SyncPointSpecTests {
  @Test("A conformance case holds", arguments: SpecCase.all)
  func conformance(spec: SpecCase) async throws {
    let failure = try SpecRun.failure(of: spec)
    await SpecTally.shared.count(passed: failure == nil)
    #expect(failure == nil)
  }

  @Test("The cases written here hold", arguments: SpecCase.own)
  func ownCases(spec: SpecCase) throws {
    #expect(try SpecRun.failure(of: spec) == nil)
  }
}
