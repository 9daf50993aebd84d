import Testing

@testable import RealtimeServer

@Suite("Passwords")
struct PasswordTests {
  private static let salt = [UInt8](repeating: 7, count: PasswordHash.saltBytes)

  @Test("A hash matches its password and no other")
  func matches() throws {
    let hash = try #require(
      PasswordHash(of: Password("correct horse"), salt: Self.salt, cost: .token)
    )
    #expect(hash.matches(try Password("correct horse")) == true)
    for other in ["correct horse ", "Correct horse", "correct hors", ""] {
      #expect(hash.matches(try Password(other)) == false)
    }
  }

  @Test("A hash is completely restored from its text")
  func text() throws {
    let cost = try #require(PasswordCost(roundsLog2: 5, blockSize: 2, parallelism: 3))
    let hash = try #require(PasswordHash(of: Password("secret"), salt: Self.salt, cost: cost))
    #expect(hash.text.hasPrefix("$scrypt$ln=5,r=2,p=3$"))
    let read = try #require(PasswordHash(hash.text))
    #expect(read == hash)
    #expect(read.matches(try Password("secret")) == true)
  }

  @Test("The digest matches that of other scrypt implementations")
  func vector() throws {
    // The vectors of RFC 7914 use other salt lengths; this one is from another implementation.
    let cost = try #require(PasswordCost(roundsLog2: 10, blockSize: 8, parallelism: 1))
    let hash = try #require(
      PasswordHash(of: Password("pleaseletmein"), salt: Array("SodiumChloride16".utf8), cost: cost)
    )
    #expect(hash.text.hasSuffix("$wlnb_7z_JJWR3LhyxCL9BPzRzKRdB8wPx_h73sTLibg"))
  }

  @Test(
    "A malformed hash is refused",
    arguments: [
      "", "secret", "$scrypt$", "$bcrypt$ln=5,r=2,p=3$BwcHBwcHBwcHBwcHBwcHBw$AAAA",
      "$scrypt$ln=40,r=8,p=1$BwcHBwcHBwcHBwcHBwcHBw$" + String(repeating: "A", count: 43),
      "$scrypt$ln=5,r=2$BwcHBwcHBwcHBwcHBwcHBw$" + String(repeating: "A", count: 43),
      "$scrypt$ln=5,r=2,p=3$BwcH$" + String(repeating: "A", count: 43),
    ]
  )
  func malformed(text: String) {
    #expect(PasswordHash(text) == nil)
  }

  @Test("A password matches in composed and decomposed Unicode form")
  func normalisation() throws {
    let hash = try #require(
      PasswordHash(of: Password("caf\u{E9}s!"), salt: Self.salt, cost: .token)
    )
    #expect(hash.matches(try Password("cafe\u{301}s!")) == true)
    #expect(hash.matches(try Password("cafes!")) == false)
  }

  @Test("A new password has at least 6 characters and at most 4,096 bytes")
  func rules() throws {
    #expect(throws: IdentityError.weakPassword) { try Password(new: "12345") }
    _ = try Password(new: "123456")
    _ = try Password(new: String(repeating: "x", count: 4_096))
    #expect(throws: IdentityError.longPassword) {
      try Password(new: String(repeating: "x", count: 4_097))
    }
  }

  @Test("Passwords and administrator keys never appear when printed")
  func hidden() throws {
    let secret = String(repeating: "s3cret", count: 6)
    let key = try #require(AdministratorKey(secret))
    let password = try Password(secret)
    let shown = "\(password) \(key) \(String(reflecting: password)) \(String(reflecting: key))"
    #expect(!shown.contains("s3cret"))
    var dumped = ""
    dump((password, key), to: &dumped)
    #expect(!dumped.contains("s3cret") && !dumped.contains("115"))
  }

  @Test("An administrator key matches only as a whole")
  func administratorKey() throws {
    #expect(AdministratorKey(String(repeating: "a", count: 31)) == nil)
    #expect(AdministratorKey(String(repeating: "a b", count: 32)) == nil)
    let key = try #require(AdministratorKey(String(repeating: "a", count: 32)))
    #expect(key.matches(String(repeating: "a", count: 32)))
    #expect(!key.matches(String(repeating: "a", count: 33)))
    #expect(!key.matches(""))
  }
}
