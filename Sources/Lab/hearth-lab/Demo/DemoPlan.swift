import Foundation

/// What a demonstration shows: the file that its live pane begins with.
struct DemoPlan: Codable, Sendable {
  /// Somebody at a terminal.
  struct Actor: Codable, Sendable {
    /// The name.
    let name: String
    /// The terminal.
    let pane: TmuxServer.Pane
  }

  /// The user's own terminal.
  var own: TmuxServer.Pane
  /// The others, who act.
  var actors: [Actor] = []
  /// Whether there are scenes.
  var presents: Bool
  /// After how many seconds it ends by itself; nil for never.
  var seconds: Double?
  /// The number that makes two demonstrations alike.
  var seed: UInt64
  /// How long people have to read a scene, as a multiple of the usual time.
  var pace = 1.0
  /// The database elsewhere; nil for one of its own.
  var database: String?
  /// Somebody who is not let in by the socket, so that rules decide; nil when nobody is.
  var stranger: Actor?

  /// Writes the file.
  ///
  /// - Throws: What the system reports.
  func write(to path: String) throws {
    try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  /// Reads the file.
  ///
  /// - Throws: What the system reports, or what is wrong with it.
  init(from path: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  init(own: TmuxServer.Pane, presents: Bool, seconds: Double?, seed: UInt64) {
    self.own = own
    self.presents = presents
    self.seconds = seconds
    self.seed = seed
  }
}
