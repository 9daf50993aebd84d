/// How reports put things in words.
package enum Words {
  /// A number of things: "1 fault", "2 faults", or with a plural of their own.
  package static func count(
    _ number: some BinaryInteger,
    _ name: String,
    plural: String? = nil
  ) -> String {
    "\(number) \(number == 1 ? name : plural ?? "\(name)s")"
  }
}
