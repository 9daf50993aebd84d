import ArgumentParser
import BlogModel
import BlogTUI
import Dispatch
import Foundation
import NIOConcurrencyHelpers
import RealtimeServer

/// The command line as shells complete it: the options of the default command are the program's.
struct CompletedHearth: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: Hearth.configuration.commandName,
    abstract: Hearth.configuration.abstract,
    version: Hearth.configuration.version,
    groupedSubcommands: Hearth.configuration.groupedSubcommands
  )

  @OptionGroup var open: Open

  /// Answers a shell that asks for completions, and ends the process; returns otherwise.
  static func answerRequest() {
    let words = Array(Swift.CommandLine.arguments.dropFirst())
    guard words.first == "---completion" else { return }
    do {
      _ = try parseAsRoot(words)
    } catch {
      // The candidates are printed as they are: some shells expect tabs in them.
      exit(withError: error)
    }
  }
}

extension CompletionKind {
  /// The names of the themes, including those of the user.
  static var themes: CompletionKind {
    .custom { words, _, _ in
      ConfigurationFiles(path: TypedOptions(words)["--config"]).read().themeNames
    }
  }

  static var profiles: CompletionKind {
    .custom { _, _, _ in
      let profiles = (try? ProfileFile().read()) ?? []
      return profiles.map { candidate($0.name, meaning: $0.database) }
    }
  }

  /// The names of the databases in the data directory.
  static var databases: CompletionKind {
    .custom { words, _, _ in
      (try? TypedOptions(words).common?.paths().databases().names()) ?? []
    }
  }

  /// The ids of the newest posts, with their titles where the shell shows them.
  static var posts: CompletionKind {
    .custom { words, _, _ in
      guard let options = TypedOptions(words).common else { return [] }
      let posts = NIOLockedValueBox<[Post]>([])
      let done = DispatchSemaphore(value: 0)
      Task.detached {
        let session = try? BlogSession(options)
        let found = (try? await session?.blog.posts(.recent)) ?? []
        posts.withLockedValue { $0 = found }
        done.signal()
      }
      done.wait()
      return posts.withLockedValue(\.self).map { candidate($0.id, meaning: $0.title) }
    }
  }

  /// A candidate in the form of the shell that asks.
  private static func candidate(_ word: String, meaning: String) -> String {
    let safe = SafeText(untrusted: meaning, mode: .singleLine, limit: 60).string
    guard let shell = CompletionShell.requesting else { return word }
    switch shell {
    case .zsh: return "\(word):\(safe)"
    case .fish: return "\(word)\t\(safe)"
    default: return word
    }
  }
}

/// The options among the words of an unfinished command line.
private struct TypedOptions {
  private static let names = [
    "--config", "--data-dir", "--socket", "--user", "--database", "--profile", "--account",
    "--api-key", "--ca-file",
  ]

  private var values: [String: String] = [:]
  private var isEphemeral = false

  init(_ words: [String]) {
    isEphemeral = words.contains("--ephemeral")
    for (index, word) in words.enumerated() {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard let name = parts.first, Self.names.contains(name) else { continue }
      values[name] = parts.count > 1 ? parts[1] : words.dropFirst(index + 1).first
    }
  }

  subscript(name: String) -> String? { values[name] }

  /// The options that all commands take, with little time to answer; nil if they are not usable.
  ///
  /// What goes wrong is not shown: it would stand in the middle of what is typed.
  var common: CommonOptions? {
    FileDescriptors.silence(STDERR_FILENO)
    let words = values.filter { $0.key != "--config" }.map { "\($0.key)=\($0.value)" }
    return try? CommonOptions.parse(
      words + (isEphemeral ? ["--ephemeral"] : []) + ["--timeout=2"]
    )
  }
}
