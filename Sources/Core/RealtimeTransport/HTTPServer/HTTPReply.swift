/// How a plain HTTP request is answered.
package enum HTTPReply: Sendable {
  /// At once, with everything.
  case answer(HTTPAnswer)
  /// With a header now and a body that comes bit by bit; the answer's body is not used.
  ///
  /// The closure takes the stream once the header is on its way, on the connection's event loop,
  /// and returns what is called when the stream is over, however it ends.
  case stream(HTTPAnswer, open: @Sendable (HTTPStream) -> @Sendable () -> Void)
}
