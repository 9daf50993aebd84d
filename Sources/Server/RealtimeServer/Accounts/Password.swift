private import Foundation
internal import NIOConcurrencyHelpers
internal import NIOPosix

/// A password as a user typed it.
///
/// It is normalized to the composed form of Unicode (NFC), because keyboards differ in how they
/// send an é. Apart from that, every character counts, including spaces and case. A password never
/// describes itself, so it cannot end up in a log.
package struct Password: Sendable, CustomStringConvertible, CustomReflectable {
  let bytes: [UInt8]

  package static let minimumLength = 6
  static let maximumBytes = 4_096

  /// Takes a text to sign in with, of any length up to the maximum.
  init(_ text: String) throws(IdentityError) {
    guard text.utf8.count <= Self.maximumBytes else { throw .longPassword }
    bytes = Array(text.precomposedStringWithCanonicalMapping.utf8)
    guard bytes.count <= Self.maximumBytes else { throw .longPassword }
  }

  /// Takes a text for a new password, which is neither too short nor too long.
  init(new text: String) throws(IdentityError) {
    try self.init(text)
    guard text.count >= Self.minimumLength else { throw .weakPassword }
  }

  package var description: String { "a password" }

  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The work that it takes to try a password: the parameters of scrypt.
///
/// Memory is 128 bytes · `rounds` · `blockSize`; time grows with all three.
package struct PasswordCost: Hashable, Sendable {
  /// The binary logarithm of the number of rounds.
  package let roundsLog2: Int
  /// The size of a block, in units of 128 bytes.
  package let blockSize: Int
  /// How many times the computation is repeated.
  package let parallelism: Int

  /// Validates parameters; nil if scrypt does not accept them, or if they need more than a
  /// gibibyte.
  init?(roundsLog2: Int, blockSize: Int, parallelism: Int) {
    guard (1...20).contains(roundsLog2), (1...32).contains(blockSize),
      (1...32).contains(parallelism), blockSize << roundsLog2 <= 1 << 23
    else { return nil }
    self.init(unchecked: (roundsLog2, blockSize, parallelism))
  }

  private init(unchecked parameters: (roundsLog2: Int, blockSize: Int, parallelism: Int)) {
    (roundsLog2, blockSize, parallelism) = parameters
  }

  /// The cost of new passwords: 32 MiB, about a quarter of a second.
  ///
  /// According to the OWASP table, this is as hard as a single run with 2^17 rounds, at a quarter
  /// of the memory.
  package static let standard = PasswordCost(unchecked: (15, 8, 3))
  /// Minimal work, for the emulator, whose passwords are test data.
  package static let token = PasswordCost(unchecked: (4, 1, 1))
}

/// The stored form of a password, which can be compared with another password but not read.
package struct PasswordHash: Hashable, Sendable {
  package let cost: PasswordCost
  private let salt: [UInt8]
  private let digest: [UInt8]

  private static let digestBytes = 32
  package static let saltBytes = 16

  /// Hashes a password with ``saltBytes`` random bytes; nil if there is not enough memory.
  ///
  /// - Complexity: As the cost says; unsuitable for a thread that others wait for.
  init?(of password: Password, salt: [UInt8], cost: PasswordCost) {
    guard let digest = Cryptography.scrypt(password.bytes, salt: salt, cost: cost) else {
      return nil
    }
    self.cost = cost
    self.salt = salt
    self.digest = digest
  }

  /// Whether it is the hash of a password; nil if there is not enough memory to find out.
  ///
  /// - Complexity: As the cost says; unsuitable for a thread that others wait for.
  package func matches(_ password: Password) -> Bool? {
    Cryptography.scrypt(password.bytes, salt: salt, cost: cost).map {
      ConstantTime.areEqual($0, digest)
    }
  }

  // MARK: Text

  /// The hash in the usual text form, with all that is needed to check a password.
  package var text: String {
    let cost = "ln=\(cost.roundsLog2),r=\(cost.blockSize),p=\(cost.parallelism)"
    return "$scrypt$\(cost)$\(Base64URL.encode(salt))$\(Base64URL.encode(digest))"
  }

  /// Parses a hash; nil if the text is not what ``text`` returns.
  init?(_ text: String) {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt" else { return nil }
    let numbers = parts[2].split(separator: ",").map { pair -> (name: Substring, value: Int)? in
      let sides = pair.split(separator: "=", omittingEmptySubsequences: false)
      return sides.count == 2 ? Int(sides[1]).map { (sides[0], $0) } : nil
    }
    guard numbers.compactMap(\.?.name) == ["ln", "r", "p"], let rounds = numbers[0]?.value,
      let size = numbers[1]?.value, let times = numbers[2]?.value,
      let cost = PasswordCost(roundsLog2: rounds, blockSize: size, parallelism: times),
      let salt = Base64URL.decode(parts[3]), salt.count == Self.saltBytes,
      let digest = Base64URL.decode(parts[4]), digest.count == Self.digestBytes
    else { return nil }
    self.cost = cost
    self.salt = salt
    self.digest = digest
  }
}

/// The threads that hash passwords: few of them, with a bounded queue.
///
/// When the queue is full, clients are told to come back later. So a flood of attempts costs no
/// memory, and does not delay other clients.
final class PasswordThreads: Sendable {
  private let pool: NIOThreadPool
  private let waiting = NIOLockedValueBox(0)
  private let places: Int

  /// Starts the threads, each of which hashes one password at a time; `queue` more may wait.
  init(threads: Int, queue: Int) {
    pool = NIOThreadPool(numberOfThreads: threads)
    pool.start()
    places = threads + queue
  }

  /// Runs a closure on one of the threads.
  ///
  /// - Throws: ``IdentityError/busy`` when too many closures wait, or when the threads have ended.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value
  ) async throws(IdentityError) -> Value {
    let hasPlace = waiting.withLockedValue { count in
      guard count < places else { return false }
      count += 1
      return true
    }
    guard hasPlace else { throw .busy }
    defer { waiting.withLockedValue { $0 -= 1 } }
    do {
      return try await pool.runIfActive(body)
    } catch {
      throw .busy
    }
  }

  /// Ends the threads once nothing is waiting.
  func stop() async {
    try? await pool.shutdownGracefully()
  }
}
