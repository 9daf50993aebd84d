import Foundation
import Testing

extension EndToEnd {
  /// What `hearth doctor` says of ports, where a test has to listen.
  @Suite("Doctor")
  struct DoctorTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// The findings, by subject.
    private func findings(
      _ arguments: [String]
    ) throws -> (status: Int32, [String: (grade: String, text: String)]) {
      let outcome = try sandbox.run(["doctor", "--json"] + arguments)
      var found: [String: (grade: String, text: String)] = [:]
      for line in outcome.lines {
        let finding = try object(line)
        let subject = try #require(finding["subject"] as? String)
        found[subject] = (
          try #require(finding["grade"] as? String), try #require(finding["text"] as? String)
        )
      }
      return (outcome.status, found)
    }

    @Test("doctor detects a port in use")
    func port() throws {
      let taken = try #require(Self.listeningPort())
      defer { close(taken.descriptor) }
      let (status, found) = try findings(["--port", "\(taken.port)"])
      #expect(status == 0)
      #expect(found["port \(taken.port)"]?.grade == "warning")
      #expect(found["port \(taken.port)"]?.text.hasPrefix("in use") == true)
    }

    @Test("doctor names the cause when a database hangs")
    func database() throws {
      let taken = try #require(Self.listeningPort())
      defer { close(taken.descriptor) }
      let (status, mute) = try findings(
        ["--database", "http://127.0.0.1:\(taken.port)?ns=hearth"]
      )
      #expect(status == 1)
      #expect(mute["database"]?.text.hasPrefix("no answer within 5 s") == true)
    }

    /// A local port that this process listens on.
    static func listeningPort() -> (descriptor: Int32, port: Int)? {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0
            && getsockname(descriptor, $0, &length) == 0
        }
      }
      return isBound ? (descriptor, Int(in_port_t(bigEndian: address.sin_port))) : nil
    }
  }
}
