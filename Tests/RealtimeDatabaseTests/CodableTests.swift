import Foundation
import RealtimeDatabase
import TestSupport
import Testing

@Suite("Codable values and casts", .timeLimit(.minutes(1)), .cleansUp)
struct CodableTests {
  private struct Post: Codable, Equatable {
    var title: String
    var stars: [String: Bool]
    var ratio: Double
    var tags: [String]?
    @ServerTimestamp var created: Date?
  }

  @Test("A value round-trips with the timestamp set by the server")
  func roundTrip() async throws {
    let ref = try await Station().open().reference(withPath: "post")
    let post = Post(title: "T", stars: ["ann": true], ratio: 1, tags: ["x", "y"], created: nil)
    try await ref.setValue(from: post)
    let read = try await ref.getData().data(as: Post.self)
    let created = try #require(read.created)
    #expect(abs(created.timeIntervalSinceNow) < 60)
    #expect(read.title == post.title)
    #expect(read.stars == post.stars)
    #expect(read.tags == post.tags)
    try await ref.setValue(from: read)
    let again = try await ref.getData().data(as: Post.self)
    #expect(abs((again.created ?? .distantPast).timeIntervalSince(created)) < 0.001)
  }

  @Test("A missing timestamp decodes as nil, like any optional property")
  func noTime() throws {
    let data: [String: Any] = ["title": "T", "stars": ["ann": true], "ratio": 1]
    #expect(try Database.Decoder().decode(Post.self, from: data).created == nil)
  }

  @Test("A time that is too large for a date of any year is written as it was read")
  func hugeTime() throws {
    let data: [String: Any] = ["title": "T", "stars": ["ann": true], "ratio": 1, "created": 1e300]
    let post = try Database.Decoder().decode(Post.self, from: data)
    let written = try Database.Encoder().encode(post) as? [String: Any]
    let created = try #require(written?["created"] as? Double)
    #expect(abs(created / 1e300 - 1) < 1e-9)
    let endless = ServerTimestamp(wrappedValue: Date(timeIntervalSince1970: .infinity))
    #expect(throws: EncodingError.self) { try Database.Encoder().encode([endless]) }
  }

  @Test("The completion variant writes too")
  func completion() async throws {
    let ref = try await Station().open().reference(withPath: "list")
    let answers = Record<Bool>()
    try ref.setValue(from: [1, 2], completion: { answers.append($0 == nil) })
    #expect(await answers.wait(for: 1) == [true])
    #expect(try await ref.getData().data(as: [Int].self) == [1, 2])
  }

  private struct Poll: Codable, Equatable {
    var votes: [String: Bool]
    var tags: [String]
    var scores: [Int: [String: Int]]
  }

  @Test("A dictionary stays a dictionary, whatever its keys")
  func dictionaries() async throws {
    let ref = try await Station().open().reference(withPath: "polls")
    let votes = ["2": true, "3": false, "4": true]
    try await ref.setValue(from: votes)
    #expect(try await ref.getData().data(as: [String: Bool].self) == votes)
    #expect(try await ref.getData().data(as: [Int: Bool].self) == [2: true, 3: false, 4: true])
    let poll = Poll(votes: votes, tags: ["x", "y"], scores: [0: ["1": 5, "2": 6], 1: ["a": 7]])
    let polls = Dictionary(uniqueKeysWithValues: (0..<300).map { ("p\($0)", poll) })
    try await ref.setValue(from: polls)
    #expect(try await ref.getData().data(as: [String: Poll].self) == polls)
    try await ref.setValue(from: [poll, poll])
    #expect(try await ref.getData().data(as: [Poll].self) == [poll, poll])
    let snapshot = try await ref.getData()
    #expect(throws: DecodingError.self) { try snapshot.data(as: [String: Int].self) }
  }

  // Differs: `EncodingError` and `DecodingError`
  @Test("Empty data decodes as nil for an optional type and throws for any other")
  func noData() async throws {
    let station = try await Station()
    let snapshot = try await station.open().reference(withPath: "none").getData()
    #expect(try snapshot.data(as: Int?.self) == nil)
    #expect(throws: DecodingError.self) { try snapshot.data(as: Int.self) }
  }

  @Test("Keys and dates follow the configured strategies")
  func strategies() async throws {
    struct Entry: Codable, Equatable { var userName: String, date: Date }
    let ref = try await Station().open().reference(withPath: "entry")
    let encoder = Database.Encoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .secondsSince1970
    let decoder = Database.Decoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .secondsSince1970
    let entry = Entry(userName: "ann", date: Date(timeIntervalSince1970: 12))
    try await ref.setValue(from: entry, encoder: encoder)
    let snapshot = try await ref.getData()
    #expect(snapshot.json == #"{"date":12,"user_name":"ann"}"#)
    #expect(try snapshot.data(as: Entry.self, decoder: decoder) == entry)
  }

  @Test("Values can be cast as in Firebase")
  func casts() async throws {
    let ref = try await Station().open().reference(withPath: "all")
    try await ref.setValue(
      ["int": 5, "half": 0.5, "yes": true, "text": "t", "map": ["a": 1], "list": [1, 2]]
    )
    let value = try await ref.getData().value
    let map = try #require(value as? [String: Any])
    #expect(map["int"] as? Int == 5)
    #expect(map["int"] as? Double == 5)
    #expect(map["int"] as? Int64 == 5)
    #expect(map["int"] as? NSNumber == 5)
    #expect(map["int"] as? Bool == nil)
    #expect(map["int"] as? String == nil)
    #expect(map["half"] as? Double == 0.5)
    #expect(map["half"] as? Int == nil)
    #expect(map["yes"] as? Bool == true)
    #expect(map["text"] as? String == "t")
    #expect(map["text"] as? NSString == "t")
    #expect(map["map"] as? [String: Int] == ["a": 1])
    #expect(map["map"] as? NSDictionary == ["a": 1])
    #expect(map["list"] as? [Int] == [1, 2])
    #expect(map["list"] as? NSArray == [1, 2])
    #expect((value as? NSDictionary)?["int"] as? Int == 5)
    #expect((value as? [String: AnyObject])?["yes"] as? Bool == true)
  }

  @Test("A value read is written back unchanged, whatever container it was cast to")
  func writtenBack() async throws {
    let ref = try await Station().open().reference(withPath: "all")
    let other = ref.root.child("copy")
    try await ref.setValue(["one": 1, "yes": true, "half": 0.5, "map": ["no": false]])
    let snapshot = try await ref.getData()
    for value in [
      snapshot.value, snapshot.value as? NSDictionary, snapshot.value as? [String: AnyObject],
      snapshot.value as? [AnyHashable: Any],
    ] {
      try await other.setValue(value)
      #expect(try await other.getData().json == snapshot.json)
    }
    #expect(snapshot.json == #"{"half":0.5,"map":{"no":false},"one":1,"yes":true}"#)
  }
}
