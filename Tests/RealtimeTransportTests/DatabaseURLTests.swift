import RealtimeTransport
import Testing

@Suite("DatabaseURL")
struct DatabaseURLTests {
  // Differs: A URL without a scheme
  @Test(
    "specifies host, port, namespace and encryption",
    arguments: [
      ("https://my-ns.firebaseio.com", "my-ns.firebaseio.com", 443, true, "my-ns"),
      ("https://My-NS.firebaseio.com/", "my-ns.firebaseio.com", 443, true, "my-ns"),
      ("my-ns.firebaseio.com", "my-ns.firebaseio.com", 443, true, "my-ns"),
      ("http://my-ns.firebaseio.com", "my-ns.firebaseio.com", 443, true, "my-ns"),
      (
        "https://db1.europe-west1.firebasedatabase.app", "db1.europe-west1.firebasedatabase.app",
        443, true, "db1"
      ),
      ("http://localhost:9000?ns=demo", "localhost", 9_000, false, "demo"),
      ("http://localhost:9000/?ns=demo&x=1", "localhost", 9_000, false, "demo"),
      ("localhost:9000?ns=demo", "localhost", 9_000, false, "demo"),
      ("https://localhost:9000?ns=demo", "localhost", 9_000, true, "demo"),
      ("http://127.0.0.1:9000?ns=demo", "127.0.0.1", 9_000, false, "demo"),
      ("http://[::1]:9000?ns=demo", "::1", 9_000, false, "demo"),
      ("https://a.firebaseio.com?ns=b", "a.firebaseio.com", 443, true, "b"),
      ("example.test:9000?ns=b", "example.test", 9_000, true, "b"),
      ("ws://example.test:81?ns=b", "example.test", 81, false, "b"),
    ] as [(String, String, Int, Bool, String)]
  )
  func parts(text: String, host: String, port: Int, isSecure: Bool, namespace: String) throws {
    let target = try DatabaseURL(text).target
    #expect(target.endpoint == .tcp(host: host, port: port))
    #expect(target.isSecure == isSecure)
    #expect(target.namespace == namespace)
  }

  @Test("may omit the namespace for localhost, an IP address or a Unix socket")
  func withoutNamespace() throws {
    #expect(try DatabaseURL("http://localhost:9000").target.namespace == nil)
    #expect(try DatabaseURL("http://127.0.0.1:9000").target.namespace == nil)
    #expect(try DatabaseURL("unix:/run/hearth.sock").target.namespace == nil)
  }

  @Test("may name a Unix socket", arguments: ["unix:/run/a b.sock", "unix:///run/a b.sock"])
  func unix(text: String) throws {
    let url = try DatabaseURL(text + "?ns=demo")
    #expect(url.target.endpoint == .unix(path: "/run/a b.sock"))
    #expect(url.target.namespace == "demo")
    #expect(url.target.host == "localhost")
    #expect(url.target.description == "unix:/run/a b.sock")
  }

  @Test("may have a path, whose keys are unescaped unless an escape is invalid")
  func path() throws {
    let url = try DatabaseURL("http://localhost:9000//a%20b/c+d/%zz/?ns=demo")
    #expect(url.path == ["a b", "c d", "%zz"])
  }

  @Test("is split at its delimiters even if followed by combining characters")
  func joinedDelimiters() throws {
    let socket = try DatabaseURL("unix:/run/\u{6DD}?ns=b#/\u{301}a/\u{6DD}/c")
    #expect(socket.target.endpoint == .unix(path: "/run/\u{6DD}"))
    #expect(socket.target.namespace == "b")
    #expect(socket.path == ["\u{301}a", "\u{6DD}", "c"])
    let marked = try DatabaseURL("unix:/\u{301}s")
    #expect(marked.target.endpoint == .unix(path: "/\u{301}s"))
    #expect(try DatabaseURL(marked.description) == marked)
    let network = try DatabaseURL("http://localhost:9000/\u{301}a/\u{6DD}/c\u{6DD}?ns=b")
    #expect(network.target.endpoint == .tcp(host: "localhost", port: 9_000))
    #expect(network.target.namespace == "b")
    #expect(network.path == ["\u{301}a", "\u{6DD}", "c\u{6DD}"])
  }

  @Test("round-trips with percent escapes")
  func roundTrip() throws {
    let url = try DatabaseURL("http://localhost:9000?ns=demo")
    #expect(url.target.url(at: ["a b", "ü%"]) == "http://localhost:9000/a%20b/%C3%BC%25")
    #expect(url.target.url(at: []) == "http://localhost:9000")
    #expect(url.target.url(at: ["a&b@c:d+e"]) == "http://localhost:9000/a%26b%40c%3Ad%2Be")
    #expect(try DatabaseURL(url.target.url(at: ["a b", "ü%/+"])).path == ["a b", "ü%/+"])
    let odd = ConnectionTarget(unixSocket: "/a b/50%?#.sock")
    #expect(try DatabaseURL(odd.description).target == odd)
    let unix = try DatabaseURL("unix:/s?ns=demo")
    #expect(try DatabaseURL(unix.target.url(at: ["x", "y z"])).path == ["x", "y z"])
  }

  @Test(
    "is rejected with a reason if invalid",
    arguments: [
      ("", "host"), ("ftp://localhost:9000", "scheme"), ("http://a.localhost:9000", "database"),
      ("https://x.firebase.com", "firebaseio.com"), ("unix:relative", "\"/\""),
      ("http://localhost?ns=a", "port"), ("http://local host:9000", "host"),
      ("http://localhost:99999?ns=a", "host"), ("http://localhost:9000?ns=a%20b", "ns="),
      ("http://localhost:9000?ns=", "ns="), ("http://localhost:9000/a#b?ns=c", "#"),
      ("http://localhost:9000?ns=a#b", "#"), ("http://a\r\nb:9000?ns=a", "host"),
    ]
  )
  func refused(text: String, word: String) {
    let error = #expect(throws: DatabaseURLError.self) { try DatabaseURL(text) }
    #expect(error?.description.contains(word) == true)
  }

  @Test("produces a handshake with protocol version, last session and namespace")
  func requestTarget() {
    let target = ConnectionTarget(host: "localhost", port: 9_000, namespace: "demo")
    #expect(target.requestTarget(lastSession: nil) == "/.ws?v=5&ns=demo")
    #expect(target.requestTarget(lastSession: "Ab1") == "/.ws?v=5&ls=Ab1&ns=demo")
    #expect(target.requestTarget(lastSession: "a b\r\n") == "/.ws?v=5&ns=demo")
  }

  @Test("follows the greeting's host on TCP and stays on a Unix socket")
  func redirection() {
    let target = ConnectionTarget(host: "localhost", port: 9_000, namespace: "demo")
    #expect(target.redirected(to: "other:81")?.endpoint == .tcp(host: "other", port: 81))
    #expect(target.redirected(to: "other")?.host == "other")
    #expect(target.redirected(to: "not a host") == nil)
    let unix = ConnectionTarget(unixSocket: "/s")
    #expect(unix.redirected(to: "other:81") == unix)
  }
}
