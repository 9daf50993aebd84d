import TestSupport
import Testing

@Suite("A server, frame by frame")
struct TranscriptTests {
  @Test(
    "connects, greets, segments and redirects as specified in §1",
    arguments: Scene.all("connection")
  )
  func connection(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("answers every action in the order specified in §2", arguments: Scene.all("messages"))
  func messages(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("selects, tags and compares hashes as specified in §3", arguments: Scene.all("queries"))
  func queries(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("reads and resolves values as specified in §4 and §5", arguments: Scene.all("values"))
  func values(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("applies onDisconnect writes once as specified in §8", arguments: Scene.all("endings"))
  func endings(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("answers REST requests as specified in §9", arguments: Scene.all("rest"))
  func rest(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("applies rules and credentials to REST requests", arguments: Scene.all("rest-rules"))
  func restRules(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("identifies users and applies the rules", arguments: Scene.all("auth"))
  func auth(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("keeps the accounts of its users", arguments: Scene.all("accounts"))
  func accounts(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("allows what is within its limits and refuses more", arguments: Scene.all("limits"))
  func limits(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("streams events as specified in §9.4", arguments: Scene.all("streams"))
  func streams(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("serves clients that poll", arguments: Scene.all("polling"))
  func polling(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test(
    "serves a database together with others",
    .cleansUp,
    .timeLimit(.minutes(2)),
    arguments: Scene.all("clusters")
  )
  func clusters(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test(
    "behaves the same as the program that users run",
    arguments: (Scene.all("messages") + Scene.all("queries")).filter(\.suitsProgram)
  )
  func program(scene: Scene) async throws { try await SceneRun.play(scene, against: .program) }
}
