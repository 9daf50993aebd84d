/// How much work it is to try a password: the parameters of scrypt.
///
/// Memory is 128 bytes · `rounds` · `blockSize`; time grows with all three.
package struct PasswordCost: Hashable, Sendable {
  /// The binary logarithm of the number of rounds.
  package let roundsLog2: Int
  /// The size of a block, in units of 128 bytes.
  package let blockSize: Int
  /// How often everything is done.
  package let parallelism: Int

  /// Checks parameters; nil when scrypt does not take them, or when they ask for over a gibibyte.
  package init?(roundsLog2: Int, blockSize: Int, parallelism: Int) {
    guard (1...20).contains(roundsLog2), (1...32).contains(blockSize),
      (1...32).contains(parallelism), blockSize << roundsLog2 <= 1 << 23
    else { return nil }
    self.init(unchecked: (roundsLog2, blockSize, parallelism))
  }

  private init(unchecked parameters: (roundsLog2: Int, blockSize: Int, parallelism: Int)) {
    (roundsLog2, blockSize, parallelism) = parameters
  }

  /// What new passwords get: 32 MiB, about a quarter of a second.
  ///
  /// As hard as 2^17 rounds once, by the OWASP table, at a quarter of the memory.
  package static let standard = PasswordCost(unchecked: (15, 8, 3))
  /// Hardly any work, for the emulator, whose passwords are test data.
  package static let token = PasswordCost(unchecked: (4, 1, 1))
}
