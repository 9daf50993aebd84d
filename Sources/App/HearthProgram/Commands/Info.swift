import ArgumentParser
import BlogModel
import Foundation
import RealtimeCore
import RealtimeDatabase

/// Prints who, where and with what.
struct Info: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the version, who you are, and where the database, socket and log are."
  )

  @OptionGroup var options: CommonOptions

  func run() throws {
    let places = try options.places()
    let me = try options.author()
    var server = "not running"
    if case .process(let process) = UnixSocketProbe.look(at: places.socket) {
      server = "process \(process)"
    }
    let facts = [
      ("version", SDKVersion.current),
      ("user", me.name),
      ("uid", me.uid),
      ("database", try options.databaseURL()),
      ("data", places.isEphemeral ? "in memory only" : places.data),
      ("socket", places.socket),
      ("server", server),
      ("log", places.log),
      ("applog", places.ownLog),
    ]
    if options.json {
      Output.line(.object(facts.map { JSONMember($0.0, .string($0.1)) }))
    } else {
      for (name, value) in facts {
        let padding = String(repeating: " ", count: 10 - name.count)
        Output.line(untrusted: "\(name)\(padding)\(value)")
      }
    }
  }
}
