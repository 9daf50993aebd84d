import Testing

@Suite("A server, frame by frame")
struct TranscriptTests {
  @Test("connects, greets, segments and hands over as §1 says", arguments: Scene.all("connection"))
  func connection(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("answers every action, and in the order of §2", arguments: Scene.all("messages"))
  func messages(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("selects, tags and compares hashes as §3 says", arguments: Scene.all("queries"))
  func queries(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("reads and decides values as §4 and §5 say", arguments: Scene.all("values"))
  func values(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test(
    "carries out once what was scheduled for the end, as §8 says",
    arguments: Scene.all("endings")
  )
  func endings(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("answers REST as §9 says", arguments: Scene.all("rest"))
  func rest(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("knows who one is, and what the rules allow", arguments: Scene.all("auth"))
  func auth(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test("streams events as §9.4 says", arguments: Scene.all("streams"))
  func streams(scene: Scene) async throws { try await SceneRun.play(scene) }

  @Test(
    "does the same as the program that people run",
    arguments: (Scene.all("messages") + Scene.all("queries")).filter(\.suitsProgram)
  )
  func program(scene: Scene) async throws { try await SceneRun.play(scene, against: .program) }
}
