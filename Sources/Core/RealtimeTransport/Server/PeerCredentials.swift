/// What the kernel says about the process at the other end of a Unix socket.
///
/// The layout is that of the kernel's answer: three numbers of four bytes each.
package struct PeerCredentials: Hashable, Sendable {
  /// The process that connected.
  package let process: Int32
  /// The user it ran as.
  package let user: UInt32
  /// The group it ran as.
  package let group: UInt32

  /// Makes credentials.
  package init(process: Int32, user: UInt32, group: UInt32) {
    self.process = process
    self.user = user
    self.group = group
  }

  /// Whether a server that runs as a user lets this process in: its own user, and root.
  package func isAllowed(byServerOf user: UInt32) -> Bool {
    self.user == user || self.user == 0
  }
}
