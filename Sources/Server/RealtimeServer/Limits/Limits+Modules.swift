internal import NIOCore
internal import RealtimeHub
internal import RealtimeTransport

extension DatabaseServer.Limits {
  /// Connections beyond the limit that are told so; further ones are cut off at once.
  static let spareConnections = 64

  /// What concerns the hub of a database.
  var hub: HubLimits {
    var limits = HubLimits()
    limits.listensPerPeer = listens
    limits.disconnectWritesPerPeer = disconnectWrites
    limits.disconnectBytesPerPeer = disconnectBytes
    limits.unindexedChildren = unindexedChildren
    limits.responseBytes = responseBytes
    limits.updatePlaces = updatePlaces
    limits.writeValues = writeValues
    limits.ruleSteps = ruleSteps
    limits.dataDepth = dataDepth
    return limits
  }

  /// What all connections share.
  ///
  /// An eighth is for what strangers send and a quarter for what others do; as much for answers, and
  /// once more for those to clients that have nothing waiting yet. The rest is for what is made of it.
  var memory: ConnectionMemory.Bounds {
    var bounds = ConnectionMemory.Bounds()
    bounds.share = strangerBytes
    guard memoryMebibytes > 0 else { return bounds }
    let bytes = memoryMebibytes * 1_024 * 1_024
    bounds.strangers = bytes / 8
    bounds.others = bytes / 4
    bounds.output = bytes / 4
    return bounds
  }

  /// What concerns connections.
  var transport: TransportLimits {
    var limits = TransportLimits.server
    limits.frameBytes = frameBytes
    limits.messageBytes = messageBytes
    limits.messageFrames = messageFrames
    limits.handshake = .seconds(Int64(handshakeSeconds))
    limits.reassembly = .seconds(Int64(messageSeconds))
    limits.congestionBytes = outputCoalesceBytes
    limits.pendingBytes = outputBytes
    limits.stall = .seconds(Int64(outputSeconds))
    limits.headerBytes = headerBytes
    limits.headerLines = headerLines
    limits.bodyBytes = bodyBytes
    limits.request = .seconds(Int64(requestSeconds))
    limits.keepAlive = .seconds(Int64(keepAliveSeconds))
    limits.connections = connections + Self.spareConnections
    return limits
  }
}
