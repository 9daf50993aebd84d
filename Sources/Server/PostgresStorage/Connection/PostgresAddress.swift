import Foundation
import NIOConcurrencyHelpers

/// The address of a PostgreSQL server: a connection string of libpq, `postgres://…` or `host=…
/// dbname=…`.
///
/// Like libpq, it takes missing parts from the environment and from the password file.
package struct PostgresAddress: Sendable {
  let text: String
  /// Which of the hosts answered last, for all copies of the address.
  let lastHost = LastHost()

  /// Takes a connection string, which is not validated before a connection is opened.
  package init(_ text: String) { self.text = text }

  /// The string without passwords, for messages.
  package var description: String {
    guard let scheme = text.prefixMatch(of: #/postgres(ql)?:\/\//#) else {
      return text.replacing(
        #/\s*(ssl)?password\s*=\s*('(\\.|[^'\\])*'?|(\\.|[^\s\\])*)/#,
        with: ""
      )
    }
    let rest = text[scheme.range.upperBound...]
    // A password may contain a question mark, and by mistake a slash.
    let ends = ["/", "?"].lazy.map { end in rest.prefix { $0 != end }.lastIndex(of: "@") }
    guard let at = ends.compactMap(\.self).first, let colon = rest[..<at].firstIndex(of: ":") else {
      return withoutSecrets(text)
    }
    return withoutSecrets(String(text[..<colon]) + String(text[at...]))
  }

  /// Removes the values of `password=` and `sslpassword=` from the query of a URL.
  private func withoutSecrets(_ url: String) -> String {
    guard let question = url.firstIndex(of: "?") else { return url }
    let parts = url[url.index(after: question)...].split(separator: "&")
      .filter { !$0.hasPrefix("password=") && !$0.hasPrefix("sslpassword=") }
    return String(url[..<question]) + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
  }
}

/// The number of the host of an address that answered last.
final class LastHost: Sendable {
  private let box = NIOLockedValueBox(0)

  var number: Int {
    get { box.withLockedValue { $0 } }
    set { box.withLockedValue { $0 = newValue } }
  }
}
