import DurableFiles
import FirebaseAuth
import Foundation
import TestSupport
import Testing

@testable import RealtimeAuth

/// Runs a program as another user.
private let setpriv = "/usr/bin/setpriv"

@Suite("Stored credentials", .timeLimit(.minutes(2)), .cleansUp)
struct CredentialFileTests {
  private let ann = "ann@example.org"
  private let bob = "bob@example.org"
  private let password = "correct horse"

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? Int ?? 0) & 0o777
  }

  private func problem(_ body: () throws -> Auth) -> String? {
    do {
      _ = try body()
      return nil
    } catch {
      return (error as? AuthError)?.kind == .keychainError ? "\(error)" : nil
    }
  }

  /// Runs the body with a file in which a new user has been stored.
  private func stored(_ body: (Scene) async throws -> Void) async throws {
    let scene = try await Scene()
    let auth = try scene.auth(isKept: true)
    try await auth.createUser(withEmail: ann, password: password)
    try await body(scene)
  }

  @Test("A user stays signed in when the program restarts")
  func again() async throws {
    let scene = try await Scene()
    let first = try scene.auth(isKept: true)
    let user = try await first.createUser(withEmail: ann, password: password).user
    let request = user.createProfileChangeRequest()
    request.displayName = "Ann"
    try await request.commitChanges()
    let second = try scene.auth(isKept: true)
    #expect(second.currentUser?.uid == user.uid)
    #expect(second.currentUser?.displayName == "Ann")
    #expect(try await second.currentUser?.getIDToken() == user.getIDToken())
  }

  @Test("The file and its directory are accessible to their owner only")
  func modes() async throws {
    try await stored { scene in
      #expect(try mode(scene.credentials) == 0o600)
      #expect(try mode((scene.credentials as NSString).deletingLastPathComponent) == 0o700)
      let text = try String(contentsOfFile: scene.credentials, encoding: .utf8)
      #expect(!text.contains(password))
    }
  }

  /// What a program that runs as another user of the machine can read of a file.
  private func read(_ path: String, asUser uid: Int) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: setpriv)
    process.arguments = ["--reuid=\(uid)", "--regid=\(uid)", "--clear-groups", "cat", path]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  @Test(
    "Another local user cannot read the file, even in an open directory",
    .enabled(if: geteuid() == 0 && access(setpriv, X_OK) == 0, "only root can be somebody else")
  )
  func otherUser() async throws {
    try await stored { scene in
      let folder = (scene.credentials as NSString).deletingLastPathComponent
      for path in [scene.directory.path, folder] { chmod(path, 0o755) }
      let open = folder + "/open"
      try "open".write(toFile: open, atomically: false, encoding: .utf8)
      chmod(open, 0o644)
      #expect(try read(open, asUser: 65_534) == (0, "open"))
      let found = try read(scene.credentials, asUser: 65_534)
      #expect(found.status != 0)
      #expect(found.text.isEmpty)
      #expect(try read(scene.credentials, asUser: 0).text.contains(ann))
    }
  }

  @Test("A file readable by others is rejected with that reason")
  func readableByOthers() async throws {
    try await stored { scene in
      chmod(scene.credentials, 0o640)
      #expect(problem { try scene.auth(isKept: true) }?.contains("chmod 600") == true)
      chmod(scene.credentials, 0o600)
      let auth = try scene.auth(isKept: true)
      #expect(auth.currentUser != nil)
    }
  }

  @Test("A file in an unknown format is rejected", arguments: ["", "{}", "{\"version\":2}", "x"])
  func damaged(_ text: String) async throws {
    try await stored { scene in
      try text.write(toFile: scene.credentials, atomically: false, encoding: .utf8)
      #expect(problem { try scene.auth(isKept: true) } != nil)
    }
  }

  @Test("A symbolic link in place of the file is not followed")
  func link() async throws {
    try await stored { scene in
      let elsewhere = scene.directory.file("elsewhere")
      try FileManager.default.moveItem(atPath: scene.credentials, toPath: elsewhere)
      try FileManager.default.createSymbolicLink(
        atPath: scene.credentials,
        withDestinationPath: elsewhere
      )
      #expect(problem { try scene.auth(isKept: true) } != nil)
    }
  }

  @Test("Several accounts are stored side by side; the latest sign-in is the default")
  func several() async throws {
    let scene = try await Scene()
    let first = try scene.auth(isKept: true)
    let annsID = try await first.createUser(withEmail: ann, password: password).user.uid
    let second = try scene.auth(isKept: true)
    let bobsID = try await second.createUser(withEmail: bob, password: password).user.uid
    #expect(first.currentUser?.uid == annsID)
    #expect(try scene.auth(isKept: true).currentUser?.uid == bobsID)
    #expect(try scene.auth(isKept: true, account: ann).currentUser?.uid == annsID)
    #expect(try scene.auth(isKept: true, account: "ANN@example.org").currentUser?.uid == annsID)
    #expect(try scene.auth(isKept: true, account: bobsID).currentUser?.uid == bobsID)
    #expect(try scene.auth(isKept: true, account: "carl").currentUser == nil)
    try second.signOut()
    await second.settle()
    #expect(try scene.auth(isKept: true).currentUser?.uid == annsID)
  }

  // Differs: `Auth` keeps credentials
  @Test("Sign-out in one program signs out the others at their next refresh")
  func signedOutElsewhere() async throws {
    let scene = try await Scene()
    let first = try scene.auth(isKept: true)
    let user = try await first.createUser(withEmail: ann, password: password).user
    let second = try scene.auth(isKept: true)
    try second.signOut()
    await second.settle()
    await #expect(throws: AuthError.self) { try await user.getIDToken(forcingRefresh: true) }
    #expect(first.currentUser == nil)
    let text = try String(contentsOfFile: scene.credentials, encoding: .utf8)
    #expect(!text.contains(ann))
  }

  @Test("Only one of two programs refreshes, and both use the new token")
  func sharedRefresh() async throws {
    let scene = try await Scene()
    let first = try scene.auth(isKept: true)
    try await first.createUser(withEmail: ann, password: password)
    let second = try scene.auth(isKept: true)
    async let one = first.currentUser?.getIDToken(forcingRefresh: true)
    async let two = second.currentUser?.getIDToken(forcingRefresh: true)
    #expect(try await one == two)
    #expect(scene.standIn.requests.filter { $0.path.hasSuffix("/token") }.count == 1)
  }

  @Test("Accounts are kept separate per server")
  func servers() async throws {
    try await stored { scene in
      var configuration = AuthConfiguration(databaseURL: "http://127.0.0.1:1?ns=other")
      configuration.persistence = .file(scene.credentials)
      let auth = try Auth(configuration)
      #expect(auth.currentUser == nil)
    }
  }

  @Test("The default location is in the directory of the programs' state")
  func place() {
    let file = "\(FilePath.stateDirectory())/hearth/credentials.json"
    #expect(AuthConfiguration(databaseURL: "http://localhost").persistence == .file(file))
  }
}
