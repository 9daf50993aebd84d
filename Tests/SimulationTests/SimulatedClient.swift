import RealtimeCore
import RealtimeHub
import RealtimeSync

/// One engine with what surrounds it: its timers, its connection and its listeners.
struct SimulatedClient {
  /// Counts the starts of the program that the engine is part of.
  var incarnation: Int
  var core: RepoCore
  /// How far its clock is off.
  let skew: Int64
  var link: Int?
  /// The connection before, which the next one names to the server.
  var lastPeer: PeerID?
  var timers: [RepoTimer: Int] = [:]
  var listeners: [ListenerID: ListenerLog] = [:]
  /// The events of the input that is being handled.
  var raised: [ListenerID: [DataEvent]] = [:]
  /// What it has scheduled for the end of a connection.
  var scheduled: [Path] = []
  /// The number of requests without a completion.
  var openRequests = 0

  init(number: Int, incarnation: Int, skew: Int64) {
    self.incarnation = incarnation
    self.skew = skew
    var configuration = RepoConfiguration(
      clientID: "c\(number)-\(incarnation)",
      statisticsName: "sdk.test"
    )
    configuration.maximumReconnectDelay = 4_000
    core = RepoCore(configuration: configuration)
  }
}
