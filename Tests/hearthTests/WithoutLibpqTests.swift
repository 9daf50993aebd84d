import Foundation
import TestSupport
import Testing

/// A machine without PostgreSQL's library, like most machines that run this program.
enum MachineWithoutLibpq {
  /// Runs a program on the same machine with the library removed.
  ///
  /// The program runs in its own mount namespace, in which an overlay hides the library. If the
  /// library is not installed, there is nothing to hide.
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

  /// Whether this system lets users do that; prints a message if it does not.
  static let isPossible: Bool = {
    guard let sandbox = try? Sandbox(), let outcome = try? run(["true"], at: sandbox),
      outcome.status == 0
    else {
      print("SKIPPED: the library cannot be hidden here (unshare, overlay): the tests do not run")
      return false
    }
    return true
  }()

  static func run(_ words: [String], at sandbox: Sandbox) throws -> Sandbox.Outcome {
    var environment = sandbox.environment
    environment["PATH"] = "\(environment["PATH"] ?? ""):/usr/sbin:/sbin"
    return try sandbox.run(
      ["unshare", "-rm", "sh", "-c", script, "sh"] + words,
      of: "/usr/bin/env",
      environment: environment
    )
  }
}

@Suite("Without libpq", .enabled(if: MachineWithoutLibpq.isPossible), .timeLimit(.minutes(2)))
struct WithoutLibpqTests {
  private func hearth(_ sandbox: Sandbox, _ words: String...) throws -> Sandbox.Outcome {
    try MachineWithoutLibpq.run([Sandbox.program] + words, at: sandbox)
  }

  @Test("--store names the missing package")
  func named() throws {
    let sandbox = try Sandbox()
    let store = "postgres://hearth@127.0.0.1:1/hearth"
    for words in [
      ["serve", "--port", "0", "--store", store], ["cluster", "--store", store],
      ["export", "--store", store], ["migrate", store, sandbox.directory + "/data"],
    ] {
      let outcome = try MachineWithoutLibpq.run([Sandbox.program] + words, at: sandbox)
      #expect(outcome.status != 0, "\(words)")
      #expect(outcome.errors.contains("apt-get install libpq5"), "\(words): \(outcome.errors)")
      #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    }
  }

  @Test("All other commands work")
  func others() throws {
    let sandbox = try Sandbox()
    let posted = try hearth(sandbox, "post", "--title", "Tea", "--body", "Come over")
    #expect(posted.status == 0, "\(posted.errors)")
    #expect(try hearth(sandbox, "list", "recent").output.contains("Tea"))
    #expect(try hearth(sandbox, "fsck").status == 0)
    #expect(try hearth(sandbox, "doctor").errors.contains("libpq") == false)
    #expect(try hearth(sandbox, "stop").status == 0)
  }
}
