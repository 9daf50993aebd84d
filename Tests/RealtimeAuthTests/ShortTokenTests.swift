import FirebaseAuth
import Foundation
import NIOConcurrencyHelpers
import RealtimeDatabase
import TestSupport
import Testing

/// Tokens of two seconds under a database that is listened to and written to all the time.
///
/// It runs for 20 seconds; the variable HEARTH_TOKEN_SECONDS asks for another time, such as 600.
@Suite("Tokens that live two seconds", .timeLimit(.minutes(15)))
struct ShortTokenTests {
  static let seconds: Double = {
    ProcessInfo.processInfo.environment["HEARTH_TOKEN_SECONDS"].flatMap(Double.init)
      ?? (Thoroughness.isFull ? 20 : 6)
  }()

  @Test("No listener is lost, no event is missed or told twice")
  func listening() async throws {
    try await Scene.run { scene in
      scene.standIn.state.withLockedValue { $0.lifetime = 2 }
      let writer = try scene.auth()
      let reader = try scene.auth()
      try await writer.createUser(withEmail: "w@example.org", password: "correct horse")
      try await reader.createUser(withEmail: "r@example.org", password: "correct horse")
      let source = try scene.database(writer)
      let sink = try scene.database(reader)
      let added = Record<String>()
      let cancelled = Record<String>()
      let list = sink.reference(withPath: "private/list")
      list.observe(.childAdded) { snapshot in
        added.append(snapshot.key)
      } withCancel: { error in
        cancelled.append("\(error)")
      }
      let end = Date().addingTimeInterval(Self.seconds)
      var written: [String] = []
      while Date() < end {
        // One at a time, so that writes meet the tokens at all moments of their life.
        let place = source.reference(withPath: "private/list").childByAutoId()
        try await place.setValue(written.count)
        written.append(place.key ?? "")
      }
      let all = written
      await added.wait { $0.count >= all.count || !cancelled.elements.isEmpty }
      #expect(added.elements == all)
      #expect(cancelled.elements.isEmpty)
      let refreshes = scene.standIn.requests.filter { $0.path.hasSuffix("/token") }.count
      #expect(Double(refreshes) >= Self.seconds * 0.8)
      await source.close()
      await sink.close()
    }
  }
}
