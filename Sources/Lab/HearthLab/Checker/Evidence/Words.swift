/// Wording for reports.
package enum Words {
  /// A number with its noun, such as "1 fault" or "2 faults"; irregular plurals are passed in.
  package static func count(
    _ number: some BinaryInteger,
    _ name: String,
    plural: String? = nil
  ) -> String {
    "\(number) \(number == 1 ? name : plural ?? "\(name)s")"
  }
}
