import Foundation
import Testing

extension EndToEnd {
  /// `hearth doctor` detects every fault that a newcomer meets, and says what to do about it.
  @Suite("Doctor")
  struct DoctorTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// The findings, by subject.
    private func findings(
      _ arguments: [String] = [],
      _ environment: [String: String] = [:]
    ) throws -> (status: Int32, [String: (grade: String, text: String)]) {
      let merged = sandbox.environment.merging(environment) { $1 }.filter { !$0.value.isEmpty }
      let outcome = try sandbox.run(["doctor", "--json"] + arguments, environment: merged)
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

    @Test("Without problems, doctor reports none, starts no server and creates no files")
    func allIsWell() throws {
      let (status, found) = try findings()
      #expect(status == 0)
      #expect(!found.values.contains { $0.grade == "fault" })
      #expect(found["data"]?.text.hasSuffix("will be created") == true)
      #expect(found["text"]?.text == "UTF-8")
      #expect(try sandbox.serverProcess() == nil)
      #expect(!FileManager.default.fileExists(atPath: sandbox.directory + "/data/hearth"))
    }

    @Test("Without a home directory, doctor names the variable and the option")
    func noHome() throws {
      let (status, found) = try findings(
        [],
        ["HOME": "", "XDG_DATA_HOME": "", "XDG_STATE_HOME": ""]
      )
      #expect(status == 1)
      #expect(found["home"]?.grade == "fault")
      #expect(found["home"]?.text.contains("HOME") == true)
      #expect(found["home"]?.text.contains("--data-dir") == true)
    }

    @Test("doctor warns about a locale without UTF-8")
    func noUnicode() throws {
      let (status, found) = try findings([], ["LANG": "C", "LC_ALL": "C"])
      #expect(status == 0)
      #expect(found["text"]?.grade == "warning")
      #expect(found["text"]?.text.contains("LANG=C.UTF-8") == true)
    }

    @Test("doctor distinguishes a data path that is a file from one open to other users")
    func directories() throws {
      let file = try sandbox.write("", to: "file")
      let (status, found) = try findings(["--data-dir", file])
      #expect(status == 1)
      #expect(found["data"]?.text.contains("is not a directory") == true)

      let shared = sandbox.directory + "/shared"
      mkdir(shared, 0o755)
      chmod(shared, 0o755)
      let (second, open) = try findings(["--data-dir", shared])
      #expect(second == 0)
      #expect(open["data"]?.grade == "warning")
      #expect(open["data"]?.text.contains("chmod 700") == true)
    }

    @Test("doctor finds a socket path that is a file and a configuration error")
    func socketAndConfiguration() throws {
      let file = try sandbox.write("", to: "file")
      let configuration = sandbox.directory + "/.config/hearth"
      try FileManager.default.createDirectory(
        atPath: configuration,
        withIntermediateDirectories: true
      )
      try sandbox.write("nonsense = 1\n", to: ".config/hearth/config.toml")
      let (status, found) = try findings(["--socket", file])
      #expect(status == 1)
      #expect(found["local server"]?.grade == "fault")
      #expect(found["configuration"]?.grade == "warning")
      #expect(found["configuration"]?.text.contains("config.toml:1") == true)
    }

    @Test("doctor detects a port in use and a running server")
    func portAndServer() throws {
      try sandbox.post("Tea")
      let taken = try #require(Self.listeningPort())
      defer { close(taken.descriptor) }
      let (status, found) = try findings(["--port", "\(taken.port)"])
      #expect(status == 0)
      #expect(found["port \(taken.port)"]?.grade == "warning")
      #expect(found["port \(taken.port)"]?.text.hasPrefix("in use") == true)
      #expect(found["local server"]?.text.hasPrefix("process ") == true)
    }

    @Test("doctor names the cause when a database is unreachable, hangs or has an invalid URL")
    func database() throws {
      let (status, found) = try findings(["--database", "http://127.0.0.1:9?ns=hearth"])
      #expect(status == 1)
      let text = try #require(found["database"]?.text)
      #expect(text.hasPrefix("cannot connect to 127.0.0.1:9: connection refused;"))
      let (second, wrong) = try findings(["--database", "nonsense"])
      #expect(second == 1)
      #expect(wrong["database"]?.text.contains("is not a database URL") == true)
      let taken = try #require(Self.listeningPort())
      defer { close(taken.descriptor) }
      let (third, mute) = try findings(
        ["--database", "http://127.0.0.1:\(taken.port)?ns=hearth"]
      )
      #expect(third == 1)
      #expect(mute["database"]?.text.hasPrefix("no answer within 5 s") == true)
    }

    /// A local port that this process listens on.
    private static func listeningPort() -> (descriptor: Int32, port: Int)? {
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
