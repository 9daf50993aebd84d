import ArgumentParser
import RealtimeCore

extension Users {
  /// Prints the accounts.
  struct ListAccounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the accounts: identifier, address, name, and what is special about them."
    )

    @OptionGroup var options: Options

    func run() async throws {
      let door = try options.door()
      var next: String? = ""
      while let token = next {
        let page = try await door.call("batchGet", parameters: [("nextPageToken", token)])
        for account in page["users"]?.elements ?? [] { write(account) }
        next = page["nextPageToken"]?.string
      }
    }

    private func write(_ account: JSONValue) {
      guard !options.common.json else { return Output.line(account) }
      var notes: [String] = []
      if account["disabled"]?.bool == true { notes.append("disabled") }
      if account["resetRequestedAt"] != nil { notes.append("asked for a new password") }
      let texts = [
        account["localId"]?.string, account["email"]?.string ?? "-", account["displayName"]?.string,
        notes.isEmpty ? nil : "(\(notes.joined(separator: ", ")))",
      ]
      Output.line(untrusted: texts.compactMap(\.self).joined(separator: "  "))
    }
  }
}
