private import Glibc

/// How many files and connections this process may have open.
enum FileDescriptorLimit {
  /// What is left for files and for connections that are only being refused.
  private static let reserve = DatabaseServer.Limits.spareConnections + 128

  /// How many connections the system lets this process have, or nil when it does not tell.
  static var connections: Int? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return max(1, Int(clamping: limit.rlim_cur) - reserve)
  }
}
