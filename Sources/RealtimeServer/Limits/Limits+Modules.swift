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
