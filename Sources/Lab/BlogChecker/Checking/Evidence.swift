package import RealtimeCore

/// All that a check goes by: what clients have noted, and what the witness saw.
package struct Evidence: Sendable {
  /// What clients have noted.
  package let history: History
  /// What the witness saw.
  package let testimony: Testimony
  /// What is tolerated, and how much must have been done.
  package let options: CheckOptions
  /// What must be in the database by what the clients were told.
  let reckoning: Reckoning

  /// Puts the evidence together.
  ///
  /// - Complexity: O(n log n)
  package init(_ history: History, _ testimony: Testimony, _ options: CheckOptions) {
    self.history = history
    self.testimony = testimony
    self.options = options
    reckoning = Reckoning(history, initial: testimony.root)
  }

  /// All data at the end.
  package var finalRoot: Node { testimony.finalRoot }
}
