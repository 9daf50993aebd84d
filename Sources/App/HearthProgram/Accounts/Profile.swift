import ArgumentParser

/// A database elsewhere under a short name.
struct Profile: Equatable, Sendable {
  /// The name.
  var name: String
  /// The URL of the database.
  var database: String
  /// The key of the project, which the hosted service needs.
  var apiKey: String?
  /// The PEM file of the authorities to believe in place of the system's.
  var caFile: String?

  /// Whether a name can be typed and written without quotation marks.
  static func isValid(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 64 && !name.hasPrefix("-")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  /// What ``isValid(_:)`` demands, in words.
  static let rule = "letters, digits, hyphens and underscores, at most 64"
}

extension Profile {
  /// The profile that an option names, or nil when none does.
  ///
  /// - Parameters:
  ///   - name: The value of `--profile`.
  ///   - database: The value of `--database`, which names the same thing.
  /// - Returns: The profile.
  /// - Throws: `ValidationError` when there is no such profile, or a URL beside it.
  static func chosen(_ name: String?, beside database: String?) throws -> Profile? {
    guard let name else { return nil }
    guard database == nil else {
      throw ValidationError("--profile and --database each name a database; give one of them")
    }
    do throws(CommandFailure) {
      return try ProfileFile().profile(name)
    } catch {
      throw ValidationError(error.description)
    }
  }
}
