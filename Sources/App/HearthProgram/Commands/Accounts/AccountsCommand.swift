import ArgumentParser
import BlogModel
import Foundation
import RealtimeAuth
import RealtimeCore
import RealtimeDatabase

struct AccountsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract: "Print who is signed in on this machine, the last one first.",
    discussion: "With --database or --profile only the accounts of that database."
  )

  @OptionGroup var options: CommonOptions

  func run() throws {
    let paths = try options.paths()
    let file = "\(paths.state)/\(AuthConfiguration.fileName)"
    let accounts = try options.accounts()?.keptAccounts() ?? AuthConfiguration.keptAccounts(file)
    for account in accounts {
      let name = account.displayName ?? account.uid
      let email = account.email ?? "no email address"
      options.answer("\(name)  \(email)  \(account.server)", json: account.json)
    }
  }
}

extension KeptAccount {
  fileprivate var json: JSONValue {
    let members = [
      JSONMember("uid", .string(uid)), displayName.map { JSONMember("name", .string($0)) },
      email.map { JSONMember("email", .string($0)) }, JSONMember("database", .string(server)),
    ]
    return .object(members.compactMap(\.self))
  }
}

struct NameCommand: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "name",
    abstract: "Print your name in the blog, or change it.",
    discussion: "What you have written keeps the name under which it was written."
  )

  @Argument("The new name.")
  var name: String?

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let new = try name.map { try Author(userName: $0).name }
    if let refusal = try options.nameRefusal() {
      guard new == nil else { throw CommandFailure(.usage, refusal) }
      return tell(try options.author())
    }
    guard let auth = try options.signedIn() else {
      let session = try BlogSession(options)
      if let new { try await session.blog.perform(.rename(new)) }
      try await session.blog.adoptName()
      return tell(session.blog.me)
    }
    let remote = try RemoteAccounts(options)
    if let new { try await remote.setUserName(new, of: auth) }
    let known = try await remote.userName(of: auth)
    tell(Author(uid: auth.currentUser?.uid ?? "", name: known ?? ""))
  }

  private func tell(_ author: Author) {
    let json = JSONValue.object(("uid", .string(author.uid)), ("name", .string(author.name)))
    name == nil
      ? options.answer(author.name, json: json) : options.confirm(author.name, json: json)
  }
}

struct ProfileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile",
    abstract: "Give a database elsewhere a short name, for hearth --profile NAME.",
    discussion: """
      The profiles are in $XDG_CONFIG_HOME/hearth/profiles.toml, a text file: a line [NAME], and \
      below it database = "URL", and where needed api-key = "KEY" and ca-file = "PATH".
      """,
    subcommands: [Add.self, ListAll.self, ShowOne.self, Remove.self],
    defaultSubcommand: ListAll.self
  )
}

extension ProfileCommand {
  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a profile.")

    @Argument("Its name: \(Profile.rule).")
    var name: String

    @Option(help: "The URL of the database.".taking("url"))
    var database: String

    @Option(help: "The API key of the project; the hosted service needs it.".taking("key"))
    var apiKey: String?

    @Option(
      help: "A PEM file of certificates to trust instead of those of the system.".taking("path"),
      completion: .file()
    )
    var caFile: String?

    func run() throws {
      guard Profile.isValid(name) else {
        throw CommandFailure(.usage, "\"\(name)\" cannot name a profile: only \(Profile.rule) can")
      }
      // Checks the URL when the profile is added, not at its first use.
      _ = try Database(url: database)
      let file = caFile.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
      if let file, !FileManager.default.isReadableFile(atPath: file) {
        throw CommandFailure(.usage, "the file \(file) cannot be read")
      }
      let profile = Profile(name: name, database: database, apiKey: apiKey, caFile: file)
      try ProfileFile().add(profile)
    }
  }

  struct ListAll: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the profiles, one a line."
    )

    @Flag(help: "Print JSON, one value a line.")
    var json = false

    func run() throws {
      for profile in try ProfileFile().read() {
        json
          ? Output.line(profile.json)
          : Output.line(untrusted: "\(profile.name)  \(profile.database)")
      }
    }
  }

  struct ShowOne: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Print a profile."
    )

    @Argument("Its name.", completion: .profiles)
    var name: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
      let profile = try ProfileFile().profile(name)
      if json { return Output.line(profile.json) }
      Output.line(untrusted: "database: \(profile.database)")
      if let key = profile.apiKey { Output.line(untrusted: "api-key: \(key)") }
      if let file = profile.caFile { Output.line(untrusted: "ca-file: \(file)") }
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Remove a profile; accounts stay signed in."
    )

    @Argument("Its name.", completion: .profiles)
    var name: String

    func run() throws {
      try ProfileFile().remove(name)
    }
  }
}

extension Profile {
  fileprivate var json: JSONValue {
    let members = [
      JSONMember("name", .string(name)), JSONMember("database", .string(database)),
      apiKey.map { JSONMember("apiKey", .string($0)) },
      caFile.map { JSONMember("caFile", .string($0)) },
    ]
    return .object(members.compactMap(\.self))
  }
}
