package import RealtimeCore

extension RuleSet {
  /// Whether someone may read what a query selects at a location.
  ///
  /// The first `.read` that is true between the root and the location allows; rules below the
  /// location are not asked.
  ///
  /// - Parameters:
  ///   - path: The location.
  ///   - query: What is read of it.
  ///   - auth: Who asks, as rules see it: an object with `uid`, `token` and so on, or nil.
  ///   - now: The time in milliseconds since 1970.
  ///   - root: All data.
  ///   - steps: What the evaluation may cost; a request that costs more is refused.
  ///   - explaining: Whether to list what was evaluated; it takes longer.
  /// - Returns: The decision and the rule that made it.
  /// - Complexity: O(depth), times the cost of the rules, up to the steps.
  package func canRead(
    _ path: Path,
    query: Query = .all,
    auth: JSONValue?,
    now: Int64,
    root: Node,
    steps: Int = RulesLimits.steps,
    explaining: Bool = false
  ) -> Decision {
    canRead(
      path,
      query: query,
      by: RuleSubject(auth),
      now: now,
      root: root,
      steps: steps,
      explaining: explaining
    )
  }

  /// Whether someone who has been made ready may read what a query selects at a location.
  ///
  /// - Parameters:
  ///   - path: The location.
  ///   - query: What is read of it.
  ///   - subject: Who asks.
  ///   - now: The time in milliseconds since 1970.
  ///   - root: All data.
  ///   - steps: What the evaluation may cost; a request that costs more is refused.
  ///   - explaining: Whether to list what was evaluated; it takes longer.
  /// - Returns: The decision and the rule that made it.
  /// - Complexity: O(depth), times the cost of the rules, up to the steps.
  package func canRead(
    _ path: Path,
    query: Query,
    by subject: RuleSubject,
    now: Int64,
    root: Node,
    steps: Int = RulesLimits.steps,
    explaining: Bool = false
  ) -> Decision {
    root.withView { root in
      let request = RuleRequest(
        subject: subject,
        now: Double(now),
        root: root,
        newRoot: nil,
        query: query
      )
      var inspection = Inspection(self, explaining: explaining, request, steps: steps)
      return inspection.read(path)
    }
  }

  /// Whether someone may make changes, all together or none.
  ///
  /// For each location a `.write` between the root and it must be true, and every `.validate` on
  /// that way and below it, where there are new data, must be true.
  ///
  /// - Parameters:
  ///   - paths: The locations that the changes are made at.
  ///   - auth: Who asks, as rules see it: an object with `uid`, `token` and so on, or nil.
  ///   - now: The time in milliseconds since 1970, the same that a server timestamp becomes.
  ///   - oldRoot: All data before the changes.
  ///   - newRoot: All data with all changes made, server values decided.
  ///   - steps: What the evaluation may cost; a request that costs more is refused.
  ///   - explaining: Whether to list what was evaluated; it takes longer.
  /// - Returns: The decision and the rule that made it: for a refusal the first one in the way.
  /// - Complexity: O(size of the new data where `.validate` rules exist), times the cost of the
  ///   rules, up to the steps.
  package func canWrite(
    _ paths: [Path],
    auth: JSONValue?,
    now: Int64,
    from oldRoot: Node,
    to newRoot: Node,
    steps: Int = RulesLimits.steps,
    explaining: Bool = false
  ) -> Decision {
    canWrite(
      paths,
      by: RuleSubject(auth),
      now: now,
      from: oldRoot,
      to: newRoot,
      steps: steps,
      explaining: explaining
    )
  }

  /// Whether someone who has been made ready may make changes, all together or none.
  ///
  /// - Parameters:
  ///   - paths: The locations that the changes are made at.
  ///   - subject: Who asks.
  ///   - now: The time in milliseconds since 1970, the same that a server timestamp becomes.
  ///   - oldRoot: All data before the changes.
  ///   - newRoot: All data with all changes made, server values decided.
  ///   - steps: What the evaluation may cost; a request that costs more is refused.
  ///   - explaining: Whether to list what was evaluated; it takes longer.
  /// - Returns: The decision and the rule that made it: for a refusal the first one in the way.
  /// - Complexity: O(size of the new data where `.validate` rules exist), times the cost of the
  ///   rules, up to the steps.
  package func canWrite(
    _ paths: [Path],
    by subject: RuleSubject,
    now: Int64,
    from oldRoot: Node,
    to newRoot: Node,
    steps: Int = RulesLimits.steps,
    explaining: Bool = false
  ) -> Decision {
    oldRoot.withView { root in
      newRoot.withView { newRoot in
        let request = RuleRequest(
          subject: subject,
          now: Double(now),
          root: root,
          newRoot: newRoot,
          query: nil
        )
        var inspection = Inspection(self, explaining: explaining, request, steps: steps)
        return inspection.write(paths)
      }
    }
  }

  /// Whether there may be new data that someone is allowed to write at all of some locations.
  ///
  /// It is asked before new data are built, which may take much longer than to ask. Only what the
  /// rules say of the data that are there, of the time and of who asks, counts.
  ///
  /// - Parameters:
  ///   - paths: The locations; none is looked at after one that cannot be written.
  ///   - subject: Who asks.
  ///   - now: The time in milliseconds since 1970.
  ///   - root: All data.
  ///   - steps: What the evaluation may cost; when it costs more, nothing is certain.
  /// - Returns: False when ``canWrite(_:by:now:from:to:steps:explaining:)`` would refuse whatever is
  ///   written.
  /// - Complexity: O(paths · depth), times the cost of the rules, up to the steps.
  package func couldWrite(
    _ paths: some Sequence<Path>,
    by subject: RuleSubject,
    now: Int64,
    from root: Node,
    steps: Int = RulesLimits.steps
  ) -> Bool {
    root.withView { root in
      let request = RuleRequest(
        subject: subject,
        now: Double(now),
        root: root,
        newRoot: nil,
        query: nil
      )
      var inspection = Inspection(self, explaining: false, request, steps: steps)
      for path in paths where !inspection.couldWrite(path) { return false }
      return true
    }
  }
}
