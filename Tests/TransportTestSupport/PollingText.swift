internal import Foundation

/// Encodes messages as a long-polling client does.
package enum PollingText {
  /// The base64 of a text, as the official JavaScript client writes it.
  package static func encode(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: ".")
  }
}
