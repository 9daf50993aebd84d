private import CryptoExtras
private import Foundation

/// A password as it is stored: it can be compared with another, but not read.
package struct PasswordHash: Hashable, Sendable {
  /// How much work it was.
  package let cost: PasswordCost
  private let salt: [UInt8]
  private let digest: [UInt8]

  private static let digestBytes = 32
  /// Bytes of a salt.
  package static let saltBytes = 16

  /// Hashes a password; nil when there is no memory for it.
  ///
  /// - Parameters:
  ///   - password: The password.
  ///   - salt: ``saltBytes`` random bytes.
  ///   - cost: How much work it is to be.
  /// - Complexity: As the cost says; not for a thread that others wait for.
  package init?(of password: Password, salt: [UInt8], cost: PasswordCost) {
    guard let digest = Self.digest(of: password, salt, cost) else { return nil }
    self.cost = cost
    self.salt = salt
    self.digest = digest
  }

  /// Whether it is the hash of a password, or nil when there is no memory to find out.
  ///
  /// - Complexity: As the cost says; not for a thread that others wait for.
  package func matches(_ password: Password) -> Bool? {
    Self.digest(of: password, salt, cost).map { ConstantTime.areEqual($0, digest) }
  }

  private static func digest(
    of password: Password,
    _ salt: [UInt8],
    _ cost: PasswordCost
  ) -> [UInt8]? {
    let key = try? KDF.Scrypt.deriveKey(
      from: password.bytes,
      salt: salt,
      outputByteCount: digestBytes,
      rounds: 1 << cost.roundsLog2,
      blockSize: cost.blockSize,
      parallelism: cost.parallelism
    )
    return key?.withUnsafeBytes { Array($0) }
  }

  // MARK: Text

  /// The hash with everything that is needed to try a password, in the usual form.
  package var text: String {
    let cost = "ln=\(cost.roundsLog2),r=\(cost.blockSize),p=\(cost.parallelism)"
    return "$scrypt$\(cost)$\(Base64URL.encode(salt))$\(Base64URL.encode(digest))"
  }

  /// Reads what ``text`` gives; nil when it is something else.
  package init?(_ text: String) {
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
