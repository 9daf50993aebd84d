import Foundation
import Testing

/// Simulates two machines on this one: network namespaces joined by a virtual cable, without root.
final class Cable {
  /// One of the two machines.
  enum End {
    case near
    case far
  }

  static let nearAddress = "10.77.0.1"
  private static let farAddresses = ["10.77.0.2", "10.77.0.3"]

  private let sandbox: Sandbox
  private let near: Spawned
  private let far: Spawned
  private var hasMoved = false

  /// Whether this system lets users create namespaces, and has the tools.
  static let isPossible: Bool = {
    guard let sandbox = try? Sandbox() else { return false }
    return (try? Cable(sandbox)) != nil
  }()

  struct Failed: Error {
    let command: String
  }

  init(_ sandbox: Sandbox) throws {
    self.sandbox = sandbox
    let near = try Self.holder(sandbox, ["unshare", "-rn"], marked: "near")
    self.near = near
    let inside = [
      "nsenter", "-t", "\(near.processIdentifier)", "-U", "-n", "--preserve-credentials",
    ]
    do {
      far = try Self.holder(sandbox, inside + ["unshare", "-n"], marked: "far")
    } catch {
      Self.end(near)
      throw error
    }
    try run(.near, "ip link add c0 type veth peer name c1 netns \(far.processIdentifier)")
    try run(.near, "ip addr add \(Self.nearAddress)/24 dev c0")
    try run(.far, "ip addr add \(Self.farAddresses[0])/24 dev c1")
    for (end, device) in [(End.near, "c0"), (.far, "c1")] {
      try run(end, "ip link set \(device) up")
      try run(end, "ip link set lo up")
    }
  }

  deinit {
    for holder in [far, near] { Self.end(holder) }
  }

  private static func end(_ holder: Spawned) {
    kill(holder.processIdentifier, SIGKILL)
    holder.wait()
  }

  /// A process that keeps a namespace open, returned once it is inside it.
  private static func holder(
    _ sandbox: Sandbox,
    _ words: [String],
    marked mark: String
  ) throws -> Spawned {
    let output = sandbox.directory + "/" + mark
    let script = ["sh", "-c", "echo in; exec sleep 600"]
    let process = try Spawned(
      "/usr/bin/env",
      words + script,
      environment: sandbox.environment,
      output: output
    )
    // The process ends immediately if the namespace cannot be created; that is not recorded as a
    // test failure.
    let deadline = Date().addingTimeInterval(60)
    while try String(contentsOfFile: output, encoding: .utf8) != "in\n" {
      guard Date() < deadline, !process.hasEnded else {
        end(process)
        throw Failed(command: mark)
      }
      usleep(20_000)
    }
    return process
  }

  /// The words of a command line that runs a command on one of the machines.
  func words(_ end: End) -> [String] {
    let holder = end == .near ? near : far
    return [
      "nsenter", "-t", "\(holder.processIdentifier)", "-U", "-n", "--preserve-credentials",
    ]
  }

  private func run(_ end: End, _ command: String) throws {
    let process = try Spawned(
      "/usr/bin/env",
      // The network tools are not in every user's `PATH`.
      ["PATH=\(sandbox.environment["PATH"] ?? ""):/usr/sbin:/sbin"] + words(end)
        + command.split(separator: " ").map(String.init),
      environment: sandbox.environment
    )
    guard process.wait() == 0 else { throw Failed(command: command) }
  }

  // MARK: Faults

  /// Unplugs the cable.
  func cut() throws { try run(.near, "ip link set c0 down") }

  /// Plugs the cable in.
  func join() throws { try run(.near, "ip link set c0 up") }

  /// Limits both directions to 50 KB per second, with a long queue before the bottleneck.
  func slow() throws {
    for (end, device) in [(End.near, "c0"), (.far, "c1")] {
      try run(end, "tc qdisc replace dev \(device) root tbf rate 400kbit burst 2kb latency 400ms")
    }
  }

  func fast() throws {
    for (end, device) in [(End.near, "c0"), (.far, "c1")] {
      try run(end, "tc qdisc del dev \(device) root")
    }
  }

  /// Drops what the far machine sends, and delivers what is sent to it.
  func makeOneWay() throws { try run(.far, "ip route add blackhole \(Self.nearAddress)/32") }

  func makeTwoWay() throws { try run(.far, "ip route del blackhole \(Self.nearAddress)/32") }

  /// Drops a quarter of what the far machine sends.
  ///
  /// Not every kernel has netem. Packets are numbered, so every fourth one is directed into a queue
  /// that is full after one byte.
  func makeLossy() throws {
    try run(.far, "tc qdisc add dev c1 root handle 1: htb default 1")
    for way in ["1:1", "1:2"] {
      try run(.far, "tc class add dev c1 parent 1: classid \(way) htb rate 1gbit quantum 1514")
    }
    try run(.far, "tc qdisc add dev c1 parent 1:2 bfifo limit 1")
    try run(
      .far,
      "tc filter add dev c1 parent 1: protocol ip u32 match u16 0 0x0003 at 4 flowid 1:2"
    )
  }

  func makeSound() throws { try run(.far, "tc qdisc del dev c1 root") }

  /// Gives the far machine a new address, and removes its old one.
  func move() throws {
    let (old, new) = (Self.farAddresses[hasMoved ? 1 : 0], Self.farAddresses[hasMoved ? 0 : 1])
    try run(.far, "ip addr del \(old)/24 dev c1")
    try run(.far, "ip addr add \(new)/24 dev c1")
    hasMoved.toggle()
  }
}
