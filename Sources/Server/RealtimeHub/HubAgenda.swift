/// What the owner of a hub has to see to after a call.
package struct HubAgenda: Sendable {
  /// Whether anything waits to be stored.
  package let hasPendingCommits: Bool
  /// When the next credential ends, in milliseconds since 1970, or nil when none does.
  package let nextDeadline: Int64?
}
