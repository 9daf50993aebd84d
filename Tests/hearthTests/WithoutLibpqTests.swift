import Foundation
import TestSupport
import Testing

/// A machine without the library of PostgreSQL, as most that run this program are.
@Suite("Without libpq", .enabled(if: WithoutLibpqTests.isPossible), .timeLimit(.minutes(2)))
struct WithoutLibpqTests {
  /// Runs a program on the same machine, from which the library has been removed.
  ///
  /// The directory of the library is seen through a layer that lacks it, in a mount namespace of the
  /// program's own. Where it is not installed, there is nothing to remove.
  private static let script = """
    set -e
    for file in $(ldconfig -p | awk '$1 == "libpq.so.5" { print $NF }'); do
      folder=$(dirname "$(readlink -f "$file")")
      layers=$(mktemp -d)
      mount -t tmpfs none "$layers"
      mkdir "$layers/changes" "$layers/work"
      mount -t overlay -o "lowerdir=$folder,upperdir=$layers/changes,workdir=$layers/work" none "$folder"
      rm -f "$folder"/libpq.so*
    done
    exec "$@"
    """

  private static func arguments(_ words: [String]) -> [String] {
    ["unshare", "-rm", "sh", "-c", script, "sh"] + words
  }

  /// Whether this system lets its users do that.
  private static let isPossible: Bool = {
    guard let place = try? Place(),
      let outcome = try? place.run(
        arguments(["true"]),
        of: "/usr/bin/env",
        environment: environment(place)
      ), outcome.status == 0
    else {
      print("SKIPPED: the library cannot be hidden here (unshare, overlay): the tests do not run")
      return false
    }
    return true
  }()

  private static func environment(_ place: Place) -> [String: String] {
    var environment = place.environment
    environment["PATH"] = "\(environment["PATH"] ?? ""):/usr/sbin:/sbin"
    return environment
  }

  private func hearth(_ place: Place, _ words: String...) throws -> Place.Outcome {
    try place.run(
      Self.arguments([Place.program] + words),
      of: "/usr/bin/env",
      environment: Self.environment(place)
    )
  }

  @Test("--store names the package that is missing")
  func named() throws {
    let place = try Place()
    let store = "postgres://hearth@127.0.0.1:1/hearth"
    for words in [
      ["serve", "--port", "0", "--store", store], ["cluster", "--store", store],
      ["export", "--store", store], ["migrate", place.directory + "/data", store],
    ] {
      let outcome = try place.run(
        Self.arguments([Place.program] + words),
        of: "/usr/bin/env",
        environment: Self.environment(place)
      )
      #expect(outcome.status != 0, "\(words)")
      #expect(outcome.errors.contains("apt-get install libpq5"), "\(words): \(outcome.errors)")
      #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    }
  }

  @Test("everything else works")
  func others() throws {
    let place = try Place()
    let posted = try hearth(place, "post", "--title", "Tea", "--body", "Come over")
    #expect(posted.status == 0, "\(posted.errors)")
    #expect(try hearth(place, "list", "recent").output.contains("Tea"))
    #expect(try hearth(place, "fsck").status == 0)
    #expect(try hearth(place, "doctor").errors.contains("libpq") == false)
    #expect(try hearth(place, "stop").status == 0)
  }
}
