extension Database {
  /// Tells what the database does from now on, instead of whoever was told before; nil ends it.
  ///
  /// What exists already is told first: each observer and each write that is not answered.
  ///
  /// - Parameter observer: Called on the database's own thread: it must be quick.
  package func observeDiagnostics(_ observer: (@Sendable (Diagnostic) -> Void)?) {
    repo.observeDiagnostics(observer)
  }
}
