internal import NIOHTTP1

/// What a server that is meant for this machine lets in.
///
/// A web page in a browser of this machine could reach it too: a browser always names the page in
/// `Origin` or, where that is left out, says in `Sec-Fetch-Site` that one asks; and a host name that
/// was pointed here afterwards shows in `Host`.
enum RequestPolicy {
  /// The refusal of a request, or nil.
  static func refusal(of request: HTTPRequest) -> HTTPAnswer? {
    let site = request.header("Sec-Fetch-Site")
    if request.header("Origin") != nil || (site != nil && site != "none") {
      return HTTPAnswer(status: 403, error: "requests from web pages are not allowed")
    }
    switch request.peer {
    case .local: return nil
    case .network:
      let hosts = request.headers["Host"]
      guard hosts.count == 1, let host = Authority(hosts[0]), host.isLoopback else {
        return HTTPAnswer(status: 403, error: "the host must be localhost, 127.0.0.1 or [::1]")
      }
      return nil
    }
  }
}
