import NIOCore
import RealtimeSync

extension Repo {
  nonisolated func observeDiagnostics(_ observer: (@Sendable (Diagnostic) -> Void)?) {
    eventLoop.execute {
      self.assumeIsolated { repo in
        repo.recorder = observer.map { DiagnosticRecorder($0) }
        guard let observer else { return }
        let time = Self.wallClock()
        for (id, listener) in repo.listeners.sorted(by: { $0.key.number < $1.key.number }) {
          let kind = Diagnostic.Kind.observing(observer: id.number)
          let title = "observe \(listener.query.path)"
          observer(Diagnostic(time: time, kind: kind, .words(title)))
        }
        for (token, completion) in repo.completions {
          guard case .write(let path, _) = completion else { continue }
          let kind = Diagnostic.Kind.writing(request: token.number)
          observer(Diagnostic(time: time, kind: kind, .words("write \(path)")))
        }
      }
    }
  }
}
