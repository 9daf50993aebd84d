import FirebaseAuth
import FirebaseDatabase
import Logging
import RealtimeServer
import TestSupport
import Testing

/// Code in the style of programs for the original, with a real server:
/// `assets/examples/Sources/Ported`.
///
/// The code finds its databases by name, so each test needs its own process. These files are
/// compiled twice: in Swift 5 mode (`Swift5ClientTests`) and in Swift 6 mode.
@Suite("Code written for Firebase", .timeLimit(.minutes(2)))
struct PortedCodeTests {
  @Test("A main-actor class observes, writes, stars, reads and removes")
  func posts() async {
    await #expect(processExitsWith: .success) {
      try await withServer { port in
        Database.database().useEmulator(withHost: "127.0.0.1", port: port)
        let controller = PostListController()
        controller.viewDidLoad()
        controller.viewWillAppear()
        controller.write("First", uid: "ann", name: "Ann")
        await wait(for: controller) {
          controller.messages.count == 1 && controller.posts.count == 1
        }
        #expect(controller.messages == ["written at http://127.0.0.1:\(port)"])
        let key = controller.posts[0]

        controller.toggleStar(key, uid: "bob")
        await wait(for: controller) { controller.messages.count == 3 }
        controller.toggleStar(key, uid: "bob")
        await wait(for: controller) { controller.messages.count == 5 }
        #expect(
          controller.messages.suffix(4)
            == ["committed: true", "1 stars", "committed: true", "0 stars"]
        )
        #expect(controller.starCounts[key] == 0)

        controller.read(key)
        await wait(for: controller) { controller.messages.count == 7 }
        #expect(controller.messages.suffix(2) == ["First", "First"])

        let author = Post.Author(uid: "bob", name: "Bob")
        try controller.write(Post(author: author, title: "Second", written: Date()))
        await wait(for: controller) { controller.messages.last == "stored" }
        #expect(controller.posts.count == 2)
        controller.remove(key)
        await wait(for: controller) { controller.messages.last == "removed" }
        #expect(!controller.posts.contains(key))
        #expect(controller.lastError == nil)
        controller.viewWillDisappear()
      }
    }
  }

  @Test("An app continues offline and cancels unsent writes")
  func offline() async {
    await #expect(processExitsWith: .success) {
      try await withServer { port in
        Database.database().useEmulator(withHost: "127.0.0.1", port: port)
        let controller = OfflineController()
        controller.viewDidLoad()
        await wait(for: controller) { controller.isConnected }
        controller.add(3)
        controller.add(7)
        await wait(for: controller) { controller.scores == [3, 7] }
        controller.arrangeGoodbye(uid: "ann")
        await wait(for: controller) { controller.arranged == 2 }

        controller.goOffline()
        await wait(for: controller) { !controller.isConnected }
        controller.add(9)
        await wait(for: controller) { controller.scores == [3, 7, 9] }
        controller.giveUp()
        await wait(for: controller) { controller.canceled == 1 }
        controller.goOnline()
        await wait(for: controller) { controller.isConnected }
        controller.add(11)
        await wait(for: controller) { controller.scores == [3, 7, 9, 11] }
      }
    }
  }

  @Test("Users sign in and see the app's own error messages")
  func signIn() async {
    await #expect(processExitsWith: .success) {
      try await withServer { port in
        Auth.auth().useEmulator(withHost: "127.0.0.1", port: port)
        let controller = SignInController()
        controller.viewWillAppear()
        await wait(for: controller) { controller.seen == ["nobody"] }
        let (email, password) = ("ann@example.org", "correct horse")
        controller.createUser(email, "short")
        await wait(for: controller) { controller.message == "weak" }
        controller.createUser(email, password)
        await wait(for: controller) { controller.message == "hello \(email)" }
        #expect(controller.name == email)
        controller.createUser(email, password)
        await wait(for: controller) { controller.message == "taken" }
        controller.signOut()
        await wait(for: controller) { controller.seen == ["nobody", email, "nobody"] }
        controller.signIn(email, "wrong horse")
        await wait(for: controller) { controller.message == "wrong" }
        controller.signIn(email, password)
        await wait(for: controller) { controller.message == "hello \(email)" }
        controller.viewWillDisappear()
      }
    }
  }

  // Differs: ``Database/database()`` works before
  // Differs: Without a project
  @Test("configure() uses the project file in the working directory, if there is one")
  func configureFromFile() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      #expect(FileManager.default.changeCurrentDirectoryPath(directory.path))
      #expect(FirebaseOptions.defaultOptions() === nil)
      let list = [
        "DATABASE_URL": "https://shop.firebaseio.com", "PROJECT_ID": "shop", "API_KEY": "key",
        "GOOGLE_APP_ID": "1:2:ios:3", "GCM_SENDER_ID": "2",
      ]
      let data = try PropertyListSerialization.data(
        fromPropertyList: list,
        format: .xml,
        options: 0
      )
      try data.write(to: URL(fileURLWithPath: directory.file("GoogleService-Info.plist")))
      FirebaseApp.configure()
      #expect(Database.database().reference().url == "https://shop.firebaseio.com")
      #expect(FirebaseApp.app()?.options.apiKey == "key")
      #expect(FirebaseApp.app()?.options.googleAppID == "1:2:ios:3")
    }
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      #expect(FileManager.default.changeCurrentDirectoryPath(directory.path))
      try Database.configure(url: "http://localhost:9000?ns=mine")
      FirebaseApp.configure()
      #expect(Database.database().reference().url == "http://localhost:9000")
      #expect(Database.database().app === FirebaseApp.app())
    }
  }

  // Differs: Of `FirebaseOptions`
  @Test("The default app uses its project's database, and other apps use theirs")
  func apps() async {
    await #expect(processExitsWith: .success) {
      let options = FirebaseOptions(googleAppID: "1:2:ios:3", gcmSenderID: "2")
      options.projectID = "my-project"
      FirebaseApp.configure(options: options)
      let database = Database.database()
      #expect(database.reference().url == "https://my-project-default-rtdb.firebaseio.com")
      #expect(database.app === FirebaseApp.app())
      #expect(Database.database(app: FirebaseApp.app()!) === database)
      #expect(FirebaseApp.app()?.options.projectID == "my-project")

      options.databaseURL = "https://other.firebaseio.com"
      FirebaseApp.configure(name: "other", options: options)
      let app = FirebaseApp.app(name: "other")!
      let other = Database.database(app: app)
      #expect(other.reference().description() == "https://other.firebaseio.com")
      #expect(other.app === app)
      #expect(Database.database(app: app, url: "https://other.firebaseio.com/") === other)
      #expect(Database.database(url: "https://other.firebaseio.com") !== other)
      #expect(FirebaseApp.allApps?.keys.sorted() == ["[DEFAULT]", "other"])

      #expect(await app.delete())
      #expect(FirebaseApp.app(name: "other") === nil)
      #expect(other.app === nil)
      FirebaseApp.configure(name: "other", options: options)
      #expect(Database.database(app: FirebaseApp.app(name: "other")!) !== other)
    }
  }
}

/// Runs a server that lets every client do everything, isolated from the files of the machine's
/// user.
@MainActor
private func withServer(_ body: @MainActor (Int) async throws -> Void) async throws {
  let directory = try TemporaryDirectory()
  setenv("XDG_STATE_HOME", directory.path, 1)
  let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  let server = try await DatabaseServer.start(.emulator(port: 0), logger: silent)
  try await body(server.port ?? 0)
  await server.stop()
}

/// Waits until a controller's content meets a condition; the time limit of the test is the
/// deadline.
@MainActor
private func wait(
  for controller: Controller,
  until isMet: @escaping @MainActor () -> Bool
) async {
  await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
    var isWaiting = true
    let check = { @MainActor in
      guard isWaiting, isMet() else { return }
      isWaiting = false
      continuation.resume()
    }
    controller.didReload = check
    check()
  }
}
