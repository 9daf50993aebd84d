import FirebaseDatabase
import Foundation
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

@Suite("Database diagnostics", .timeLimit(.minutes(1)), .cleansUp)
struct DiagnosticTests {
  private func open(_ station: Station, _ told: Record<Diagnostic>) throws -> Database {
    var options = DatabaseOptions()
    options.clock = { 5_000 }
    let database = try station.open(options)
    database.observeDiagnostics { told.append($0) }
    return database
  }

  /// The texts of all diagnostics that are neither frames nor about the connection.
  private func words(_ diagnostics: [Diagnostic]) -> [String] {
    diagnostics.filter { ![.sent, .received, .connection].contains($0.kind) }
      .map { ([$0.title] + $0.details).joined(separator: " | ") }
  }

  @Test("Diagnostics describe observers, writes and events in words, with data as JSON")
  func words() async throws {
    let station = try await Station()
    let told = Record<Diagnostic>()
    let place = try open(station, told).reference(withPath: "a")
    let handle = place.queryOrdered(byChild: "n").observe(.childAdded) { _ in }
    try await place.setValue(["b": ["n": 1], "c": ["n": "é\n"]])
    try await place.updateChildValues(["b": NSNull(), "d/e": true])
    try await place.removeValue()
    place.removeObserver(withHandle: handle)
    let all = await told.wait { $0.contains { $0.title.hasPrefix("stop observer") } }
    #expect(
      words(all) == [
        "observe /a | query: {\"i\":\"n\"}",
        "set /a | value: {\"b\":{\"n\":1},\"c\":{\"n\":\"é\\n\"}}",
        "child_added /a b | value: {\"n\":1}",
        "child_added /a c | value: {\"n\":\"é\\n\"}",
        "set /a answered after 0 ms: ok",
        "update /a | /b: null | /d/e: true",
        "child_added /a d | value: {\"e\":true}",
        "update /a answered after 0 ms: ok",
        "remove /a | value: null",
        "remove /a answered after 0 ms: ok",
        "stop observer 1",
      ]
    )
    #expect(all.allSatisfy { $0.time == 5_000 })
  }

  @Test("Diagnostics report each attempt of a transaction and its outcome")
  func transactions() async throws {
    let station = try await Station()
    let told = Record<Diagnostic>()
    let place = try open(station, told).reference(withPath: "n")
    _ = try await place.runTransactionBlock { data in
      data.value = (data.value as? Int ?? 0) + 1
      return .success(withValue: data)
    }
    _ = try await place.runTransactionBlock { _ in .abort() }
    let all = await told.wait { all in words(all).count { $0.hasPrefix("transaction") } >= 4 }
    let lines = words(all).filter { $0.contains("transaction") || $0.contains("try ") }
    #expect(lines.first == "transaction /n begins")
    #expect(lines.contains("try 1 at /n | read: null | proposed: 1"))
    #expect(lines.contains { $0.hasSuffix(" in 0 ms | value: 1") })
    #expect(lines.contains("try 1 at /n | read: null | proposed: nothing, it gives up"))
    #expect(lines.last == "transaction aborted after 1 try in 0 ms | value: null")
    // Programs count these steps, whatever the wording.
    let steps = all.compactMap(\.transactionStep)
    #expect(steps.first == .beginning)
    #expect(steps.dropFirst().first == .attempt(1))
    #expect(steps.suffix(3) == [.beginning, .attempt(1), .end])
    #expect(steps.count { $0 == .end } == 2)
    #expect(lines.contains { $0.hasPrefix("transaction committed after ") })
  }

  @Test("Diagnostics show frames verbatim, in both directions")
  func frames() async throws {
    let station = try await Station()
    let told = Record<Diagnostic>()
    let database = try open(station, told)
    try await database.reference(withPath: "a").setValue("hello")
    let sent = told.elements.filter { $0.kind == .sent }.map(\.title)
    #expect(sent.contains { $0.contains("\"a\":\"p\"") && $0.contains("\"d\":\"hello\"") })
    let received = told.elements.filter { $0.kind == .received }
    #expect(received.contains { $0.title.contains("\"s\":\"ok\"") })
    #expect(received.allSatisfy { $0.details == [$0.title] })
  }

  @Test("Frame events include sizes and carried writes, write events paths and causes")
  func writes() async throws {
    let station = try await Station()
    let told = Record<Diagnostic>()
    let database = try open(station, told)
    let place = database.reference(withPath: "a")
    let text = String(repeating: "x", count: 50_000)
    // What is done elsewhere meanwhile has another cause.
    try await Database.$causeOfWrites.withValue("a key") {
      await Task.detached { place.parent?.child("c").setValue(1) }.value
      try await place.setValue(text)
    }
    try await place.child("b").setValue(2)
    _ = try await place.child("n").runTransactionBlock { data in
      data.value = (data.value as? Int ?? 0) + 1
      return .success(withValue: data)
    }
    let all = await told.wait { $0.contains { $0.title.hasPrefix("transaction committed") } }
    let made = all.compactMap { diagnostic -> (request: Int64, path: String?, cause: String?)? in
      switch diagnostic.kind {
      case .writing(let request): (request, diagnostic.path, diagnostic.cause)
      case .transaction(let request) where diagnostic.title.hasSuffix("begins"):
        (request, diagnostic.path, diagnostic.cause)
      default: nil
      }
    }
    #expect(made.map(\.path) == ["/c", "/a", "/a/b", "/a/n"])
    #expect(made.map(\.cause) == [nil, "a key", nil, nil])
    let carriers = all.filter { !$0.carried.isEmpty }
    #expect(carriers.map(\.kind) == [.sent, .sent, .sent, .sent])
    #expect(carriers.map(\.carried) == made.map { [$0.request] })
    #expect(try #require(carriers.compactMap(\.frameSize).max()) > 50_000)
    for frame in all where [.sent, .received].contains(frame.kind) {
      let size = try #require(frame.frameSize)
      #expect(frame.title.hasSuffix("…") || frame.title.utf8.count == size)
    }
    #expect(all.allSatisfy { $0.frameSize == nil || [.sent, .received].contains($0.kind) })
    let answered = all.filter { $0.title.contains(" answered after ") }
    #expect(answered.map(\.path) == ["/c", "/a", "/a/b"])
  }

  @Test("Diagnostics show and keep only the beginning of long data")
  func bounded() async throws {
    let station = try await Station()
    let told = Record<Diagnostic>()
    let place = try open(station, told).reference(withPath: "a")
    place.observe(.value) { _ in }
    try await place.setValue(String(repeating: "é", count: 200_000))
    try await place.updateChildValues(
      Dictionary(uniqueKeysWithValues: (0..<3_000).map { ("k\($0)", "x") })
    )
    let all = await told.wait { words($0).contains { $0.hasPrefix("update /a answered") } }
    let limit = DiagnosticSubject.textLimit
    let texts = all.flatMap { [$0.title] + $0.details }
    #expect(texts.allSatisfy { $0.utf8.count <= limit + 20 && !$0.contains("\u{FFFD}") })
    #expect(texts.contains { $0.hasPrefix("value: \"éé") && $0.hasSuffix("é…") })
    #expect(texts.contains { $0.hasPrefix("{\"t\"") && $0.hasSuffix("é…") })
    #expect(all.allSatisfy { $0.byteCount <= 2 * limit })
    let update = try #require(all.first { $0.title == "update /a" })
    #expect(update.details.last == "…" && update.details.count < 1_000)
  }

  @Test("Diagnostics format nothing until their text is requested")
  func lazily() async throws {
    let station = try await Station()
    let told = Record<Diagnostic>()
    let place = try open(station, told).reference(withPath: "a")
    place.observe(.value) { _ in }
    try await place.setValue(["b": 1])
    try await place.updateChildValues(["c": 2])
    _ = try await place.runTransactionBlock { .success(withValue: $0) }
    for diagnostic in told.elements {
      let isWords = if case .words = diagnostic.subject { true } else { false }
      switch diagnostic.kind {
      case .sent, .received, .event, .observing, .writing: #expect(!isWords)
      case .stopped, .written, .transaction, .connection: break
      }
    }
    let kinds = told.elements.map(\.kind)
    #expect(kinds.contains(.event) && kinds.contains(.sent))
  }

  @Test("A removed observer gets nothing more; a new one gets the existing state")
  func observers() async throws {
    let station = try await Station()
    let first = Record<Diagnostic>()
    let database = try open(station, first)
    let place = database.reference(withPath: "a")
    place.observe(.value) { _ in }
    try await place.setValue(1)
    database.observeDiagnostics(nil)
    try await place.setValue(2)
    #expect(await database.repo.recorder == nil)
    let count = first.elements.count
    try await place.setValue(3)
    #expect(first.elements.count == count)
    let second = Record<Diagnostic>()
    database.observeDiagnostics { second.append($0) }
    await second.wait(for: 1)
    #expect(second.elements.first?.title == "observe /a")
    #expect(second.elements.first?.kind == .observing(observer: 1))
  }

  @Test("Two diagnostics are equal if they say the same")
  func equality() {
    let node = Diagnostic(time: 1, kind: .event, .words("a", details: ["b"]))
    #expect(node == Diagnostic(time: 1, kind: .event, .words("a", details: ["b"])))
    #expect(node != Diagnostic(time: 1, kind: .event, .words("a", details: ["c"])))
    #expect(node != Diagnostic(time: 1, kind: .event, .words("c", details: ["b"])))
    #expect(node != Diagnostic(time: 1, kind: .sent, .words("a", details: ["b"])))
    #expect(node != Diagnostic(time: 2, kind: .event, .words("a", details: ["b"])))
    let frame = Diagnostic(time: 1, kind: .sent, .frame(Array("x".utf8)))
    #expect(frame == Diagnostic(time: 1, kind: .sent, .words("x", details: ["x"])))
  }
}

extension DiagnosticTests {
  @Test("A credential is neither reported nor stored")
  func credentials() {
    let told = Record<Diagnostic>()
    let recorder = DiagnosticRecorder { told.append($0) }
    let message = ClientMessage.request(id: 1, .authenticate(.init(credential: "secret")))
    recorder.sent(message, as: message.encoded(), at: 1)
    recorder.sent(.request(id: 2, .appCheck("secret")), as: Array("secret".utf8), at: 1)
    for diagnostic in told.elements {
      #expect(diagnostic.title == "a credential (not shown)")
      #expect(diagnostic.details == [diagnostic.title])
      if case .frame = diagnostic.subject { Issue.record("the frame is kept") }
    }
    #expect(told.elements.count == 2)
  }
}
