internal import NIOHTTP1

extension TransportLimits {
  /// The bounds of a handshake as the HTTP decoder wants them.
  var decoderConfiguration: NIOHTTPDecoderLimitConfiguration {
    var configuration = NIOHTTPDecoderLimitConfiguration()
    configuration.maxHeaderFieldSize = headerBytes
    configuration.maxHeaderListSize = headerBytes
    configuration.maxHeaderFieldCount = headerLines
    return configuration
  }
}
