import NIOPosix
import TestSupport

/// The built program, against which a scene is played.
final class SceneProgram: Sendable {
  private let process: EmulatorProcess
  private let home: TemporaryDirectory

  var port: Int { process.port }

  private init(_ process: EmulatorProcess, _ home: TemporaryDirectory) {
    self.process = process
    self.home = home
  }

  static func start() async throws -> SceneProgram {
    let home = try TemporaryDirectory()
    return try await NIOThreadPool.singleton.runIfActive {
      SceneProgram(try EmulatorProcess(home: home.path), home)
    }
  }

  /// Writes a value as an administrator.
  func put(_ body: String, at path: String) async throws {
    var pattern = Pattern()
    let talk = RESTTalk(port: port, "PUT", path + "?ns=hearth")
    for (word, rest) in [("+", "Authorization: Bearer owner"), ("=", body), ("200", "")] {
      try await talk.take(word, rest, &pattern)
    }
  }

  func stop() async {
    _ = try? await NIOThreadPool.singleton.runIfActive { self.process.stop() }
  }
}
