import Foundation
import RealtimeCore

/// Leaves secrets out of texts that people pass on.
struct Secrets {
  /// What stands in place of a secret.
  static let mark = "(left out)"

  /// Names of secrets, or their ends; more letters, digits and dashes may follow.
  private static let names =
    "(?:token|passw(?:or)?d|passphrase|secret|credentials?|api[_-]?key|private[_-]?key"
    + "|access[_-]?key|(?<![a-z])(?:auth|cred|pwd)(?![a-z])|cookie|session[_-]?id)"
    + "[a-z0-9_-]{0,20}"
  /// A value: in quotation marks, before each of which there may be backslashes, or a word.
  ///
  /// The quantifiers have limits, so that the time is linear in the length of the text.
  private static let value =
    #"(?:(?<mark>\\{0,9})"(?:(?!(?<!\\)\k<mark>").){0,4000}+(?:\k<mark>"|[^\s"]*)"#
    + #"|'[^']{0,4000}+'?|[^\s&;,"'<>{}\[\]\\]++)"#

  /// Expressions and what stands in place of their matches.
  private static let rules: [(pattern: String, template: String)] = [
    (
      #"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[a-z0-9+/=:,\s\\-]{0,20000}+"#
        + "(?:END [A-Z ]{0,40}PRIVATE KEY-----)?",
      mark
    ),
    // A password may contain @ and /; only a colon before them tells it from a path.
    (
      #"(://)(?:[^/\s"'<>]{0,300}|[^/\s:@"'<>]{0,100}:[^\s"'<>]{0,300})@"#,
      "$1\(mark)@"
    ),
    (#"((?:authorization|cookie)["']?\s{0,9}:\s{0,9}["']?)[^\r\n"']+"#, "$1\(mark)"),
    (#"\b(bearer\s{1,9})[^\s"',;\\]+"#, "$1\(mark)"),
    // In an address or a line of variables; a name may be in quotation marks, as in JSON.
    (#"(\#(names)\\{0,9}["']?\s{0,9}[=:]\s{0,9})\#(value)"#, "$1\(mark)"),
    (#"([?&](?:key|code|sig|signature)=)[^&\s"'<>]+"#, "$1\(mark)"),
    (#"(--?\#(names)\s{1,9})\#(value)"#, "$1\(mark)"),
    (#"\beyJ[a-z0-9_-]{5,}+(?:\.[a-z0-9_-]*+){1,4}"#, mark),
    (#"\bAIza[a-z0-9_-]{20,}"#, mark),
  ]

  /// Words without which no expression matches, to save looking for them in most texts.
  private static let signs = [
    "://", "begin", "authorization", "cookie", "bearer", "token", "pass", "secret", "cred", "key",
    "auth", "pwd", "session", "code=", "sig", "eyj", "aiza",
  ]

  private let expressions: [(expression: NSRegularExpression, template: String)]
  private let known: [String]

  /// Compiles the expressions.
  ///
  /// - Parameter known: Secrets that are left out wherever they are.
  /// - Throws: An error of `NSRegularExpression`, which a test excludes.
  init(known: [String] = []) throws {
    self.known = known.filter { !$0.isEmpty }
    expressions = try Self.rules.map {
      (try NSRegularExpression(pattern: $0.pattern, options: .caseInsensitive), $0.template)
    }
  }

  /// The text without secrets.
  func leftOut(of text: String) -> String {
    var text = text
    for secret in known { text = text.replacing(secret, with: Self.mark) }
    let folded = text.lowercased()
    guard Self.signs.contains(where: folded.contains) else { return text }
    for (expression, template) in expressions {
      let range = NSRange(text.startIndex..., in: text)
      text = expression.stringByReplacingMatches(in: text, range: range, withTemplate: template)
    }
    return text
  }

  /// Lines of JSON without secrets; they remain JSON.
  func leftOut(ofJSONLines text: String) -> String {
    text.split(separator: "\n").map { line in
      (try? JSONParser.parse(Array(line.utf8))).map { leftOut(of: $0).text }
        ?? leftOut(of: String(line))
    }.map { $0 + "\n" }.joined()
  }

  private func leftOut(of json: JSONValue) -> JSONValue {
    switch json {
    case .string(let text): .string(leftOut(of: text))
    case .array(let elements): .array(elements.map { leftOut(of: $0) })
    case .object(let members):
      .object(
        members.map { member in
          guard case .string(let text) = member.value else {
            return JSONMember(member.name, leftOut(of: member.value))
          }
          // The name decides as well, as it does in front of an equals sign.
          let example = "\(member.name)=x"
          let isSecret = leftOut(of: example) != example
          return JSONMember(member.name, .string(isSecret ? Self.mark : leftOut(of: text)))
        }
      )
    case .null, .bool, .integer, .double: json
    }
  }
}
