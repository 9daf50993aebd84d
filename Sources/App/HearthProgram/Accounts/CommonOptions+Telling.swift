import RealtimeAuth
import RealtimeCore

extension CommonOptions {
  /// Says who has signed in.
  func tell(_ auth: Auth, name: String) {
    let uid = auth.currentUser?.uid ?? ""
    json
      ? Output.line(.object(("uid", .string(uid)), ("name", .string(name))))
      : Output.line(untrusted: "signed in as \(name)")
  }
}

extension AccountDesk {
  /// - Throws: ``CommandFailure`` when the options name the local database, which has no accounts.
  init(_ options: CommonOptions) throws(CommandFailure) {
    guard let configuration = try options.accounts() else {
      throw CommandFailure(
        .usage,
        "the local database needs no account; name another with --database or --profile"
      )
    }
    self.init(configuration: configuration)
  }
}
