import Dispatch
import FirebaseDatabase
import Foundation
import TestSupport
import Testing

/// What programs that were written for the original rely on.
@Suite("Like the original", .timeLimit(.minutes(1)))
struct OriginalTests {
  // MARK: URLs

  @Test("The URL of a location is that of its parent, a slash and the key with its escapes")
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

  @Test("A reference describes itself by a method and in text")
  func description() throws {
    let ref = try Database(url: "http://localhost:9000?ns=a").reference(withPath: "x")
    #expect(ref.description() == "http://localhost:9000/x")
    #expect("\(ref)" == "http://localhost:9000/x")
    #expect(ref.description == "http://localhost:9000/x")
  }

  @Test("After the emulator was chosen, its URLs and those of before both lead to a location")
  func emulatorURLs() throws {
    let database = try Database(url: "https://shop.firebaseio.com")
    database.useEmulator(withHost: "127.0.0.1", port: 9_000)
    let place = database.reference(withPath: "a/b")
    #expect(place.url == "http://127.0.0.1:9000/a/b")
    #expect(database.reference(fromURL: place.url) == place)
    #expect(database.reference(fromURL: "https://shop.firebaseio.com/a/b") == place)
    #expect(database.reference(fromURL: "http://127.0.0.1:9000/a/b?ns=shop") == place)
  }

  @Test(
    "The URL of another database, or with a mark that no key has, is a programmer error",
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
}
