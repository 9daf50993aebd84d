import Dispatch
import FirebaseDatabase
import Foundation
import TestSupport
import Testing

/// The behaviour of the original that existing programs rely on.
@Suite("Compatibility with Firebase", .timeLimit(.minutes(1)), .cleansUp)
struct OriginalTests {
  // MARK: URLs

  @Test("A location's URL is its parent's URL, a slash and the escaped key")
  func urls() throws {
    let database = try Database(url: "http://localhost:9000/?ns=a")
    let root = database.reference()
    #expect(root.url == "http://localhost:9000")
    #expect(root.child("a/b c").url == "http://localhost:9000/a/b%20c")
    #expect(root.child("a&b@c:d+e").url == "http://localhost:9000/a%26b%40c%3Ad%2Be")
    #expect(root.child("é~_-!*'()").url == "http://localhost:9000/%C3%A9~_-%21%2A%27%28%29")
    for key in ["a&b@c:d", "a+b", "a%2Fb", "é", "a?b=c"] {
      #expect(database.reference(fromURL: root.child(key).url) == root.child(key))
    }
  }

  @Test("A reference provides its URL as a description method and a property")
  func description() throws {
    let ref = try Database(url: "http://localhost:9000?ns=a").reference(withPath: "x")
    #expect(ref.description() == "http://localhost:9000/x")
    #expect("\(ref)" == "http://localhost:9000/x")
    #expect(ref.description == "http://localhost:9000/x")
  }

  // Differs: `database(url:)` distinguishes
  @Test("All URLs of a database return the same instance")
  func oneInstance() {
    let database = Database.database(url: "http://localhost:9000?ns=one")
    for url in [
      "http://LOCALHOST:9000/?ns=one", "localhost:9000?ns=one", "http://localhost:9000/?ns=one&x=1",
    ] {
      #expect(Database.database(url: url) === database)
    }
    #expect(Database.database(url: "http://localhost:9000?ns=two") !== database)
    #expect(Database.database(url: "http://localhost:9001?ns=one") !== database)
    let hosted = Database.database(url: "https://one.firebaseio.com")
    #expect(Database.database(url: "https://ONE.firebaseio.com/") === hosted)
    #expect(Database.database(url: "one.firebaseio.com") === hosted)
  }

  @Test("With an emulator, its URLs and the hosted ones lead to the same location")
  func emulatorURLs() throws {
    let database = try Database(url: "https://shop.firebaseio.com")
    database.useEmulator(withHost: "127.0.0.1", port: 9_000)
    let place = database.reference(withPath: "a/b")
    #expect(place.url == "http://127.0.0.1:9000/a/b")
    #expect(database.reference(fromURL: place.url) == place)
    #expect(database.reference(fromURL: "https://shop.firebaseio.com/a/b") == place)
    #expect(database.reference(fromURL: "http://127.0.0.1:9000/a/b?ns=shop") == place)
  }

  // Differs: ``Database/reference(fromURL:)`` traps
  @Test(
    "A URL of another database, or with characters invalid in keys, is a programmer error",
    arguments: [
      "https://other.firebaseio.com/a", "http://127.0.0.1:9000/a?ns=other",
      "https://shop.firebaseio.com/a#b", "https://shop.firebaseio.com/a%23b",
    ]
  )
  func foreignURL(url: String) async {
    await #expect(processExitsWith: .failure) { [url] in
      let database = try Database(url: "https://shop.firebaseio.com")
      database.useEmulator(withHost: "127.0.0.1", port: 9_000)
      _ = database.reference(fromURL: url)
    }
  }

  // MARK: Errors

  @Test(
    "Errors have Firebase's domain and codes",
    arguments: [
      (DatabaseError.Kind.permissionDenied, 1), (.unavailable, 2), (.writeCanceled, 3),
      (.disconnected, 9_999), (.maximumRetries, 9_999), (.overriddenBySet, 9_999),
      (.invalidData, 9_999),
    ] as [(DatabaseError.Kind, Int)]
  )
  func numbers(code: DatabaseError.Kind, number: Int) {
    let error: any Error = DatabaseError(code, path: "/a", reason: "because")
    let bridged = error as NSError
    #expect(bridged.domain == "com.firebase")
    #expect(bridged.code == number)
    #expect(bridged.localizedDescription == "because")
    #expect(bridged.userInfo[NSLocalizedDescriptionKey] as? String == "because")
  }

  // MARK: Codable

  @Test("Encoders and decoders are reference types, so later settings apply to all holders")
  func objects() throws {
    struct Holder { let encoder = Database.Encoder(); let decoder = Database.Decoder() }
    let holder = Holder()
    let (encoder, decoder) = (holder.encoder, holder.decoder)
    holder.encoder.keyEncodingStrategy = .convertToSnakeCase
    holder.decoder.keyDecodingStrategy = .convertFromSnakeCase
    struct Entry: Codable { var firstName: String }
    let encoded = try encoder.encode(Entry(firstName: "Ann"))
    #expect(encoded as? [String: String] == ["first_name": "Ann"])
    #expect(try decoder.decode(Entry.self, from: encoded).firstName == "Ann")
  }

  // MARK: Callbacks

  @MainActor
  private final class Screen {
    var lines: [String] = []
    let shown = Record<String>()

    func show(_ line: String) {
      dispatchPrecondition(condition: .onQueue(.main))
      lines.append(line)
      shown.append(line)
    }

    func start(_ ref: DatabaseReference) {
      ref.observe(.value) { self.show("value \($0.value as? Int ?? 0)") }
      ref.setValue(1) { _, _ in self.show("stored") }
    }

    func change(_ ref: DatabaseReference) {
      let step = lines.count
      ref.runTransactionBlock({ data in
        data.value = (data.value as? Int ?? 0) + step
        return .success(withValue: data)
      }) { _, isCommitted, _ in
        self.show("committed \(isCommitted)")
      }
      ref.parent?.observeSingleEvent(of: .value, with: { _ in self.show("once") })
      ref.getData { error, snapshot in self.show("got \(snapshot?.value as? Int ?? 0)") }
    }
  }

  // Differs: The block of a transaction is
  @Test("Callbacks of a main-actor class run on the main queue and may use the class")
  @MainActor
  func mainActor() async throws {
    let station = try await Station()
    let ref = try Database(url: station.url).reference(withPath: "list/number")
    let screen = Screen()
    screen.start(ref)
    #expect(await screen.shown.wait(for: 2) == ["value 1", "stored"])
    screen.change(ref)
    let told = await screen.shown.wait(for: 6)
    #expect(told.dropFirst(2).sorted() == ["committed true", "got 3", "once", "value 3"])
    #expect(screen.lines == told)
    await ref.database.close()
  }

  // Differs: ``Database/callbackQueue`` may be set
  @Test("Callbacks run on another queue if one is set")
  func otherQueue() async throws {
    let station = try await Station()
    let database = try Database(url: station.url)
    let queue = DispatchQueue(label: "test.other")
    database.callbackQueue = queue
    let told = Record<String>()
    database.reference(withPath: "x").setValue(1) { error, _ in
      dispatchPrecondition(condition: .onQueue(queue))
      told.append(error == nil ? "stored" : "refused")
    }
    #expect(await told.wait(for: 1) == ["stored"])
    await database.close()
  }
}
