import Dispatch
import DurableFiles
import Foundation
import NIOConcurrencyHelpers

/// Runs another program without a shell.
package enum OtherProgram {
  package enum Connection {
    /// The program gets the terminal, and this process waits for it.
    case terminal
    /// The program has no input and output and runs independently.
    case none
    /// The program reads a file. Without an output it gets the rest of the terminal, and this process
    /// waits for it; with one, it has no terminal and runs independently.
    case input(Int32, output: Int32?)
    /// The program has only an output, and runs independently even when this process has ended.
    case server(output: Int32)

    fileprivate var isWaitedFor: Bool {
      switch self {
      case .terminal, .input(_, output: nil): true
      case .none, .input, .server: false
      }
    }
  }

  /// Runs a program, which is looked up in `PATH` unless its path is given.
  ///
  /// The variables are added to those of this process. `ended` is called on another thread with the
  /// exit status of a program that is not waited for, `started` with the identifier of the process.
  /// Returns the exit status, 0 if the program is not waited for, or the system's error message if
  /// it cannot be started.
  @discardableResult
  package static func run(
    _ words: [String],
    at path: String? = nil,
    with connection: Connection,
    variables added: [String: String] = [:],
    ended: @escaping @Sendable (Int32) -> Void = { _ in },
    started: (Int32) -> Void = { _ in }
  ) -> Result<Int32, Failure> {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Signals that this program ignores or handles are reset to their defaults for the other.
    var usual = sigset_t()
    sigemptyset(&usual)
    for signal in [SIGINT, SIGQUIT, SIGTSTP, SIGPIPE, SIGXFSZ] { sigaddset(&usual, signal) }
    posix_spawnattr_setsigdefault(&attributes, &usual)
    var mask = sigset_t()
    sigemptyset(&mask)
    posix_spawnattr_setsigmask(&attributes, &mask)
    var flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    switch connection {
    case .terminal: break
    case .input(let input, let output):
      posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
      guard let output else { break }
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
      posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
      // A session of its own has no terminal that it could take over.
      flags |= Self.ownSession
    case .server(let output):
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
      // The end of the terminal does not end a session of its own.
      flags |= Self.ownSession
    case .none:
      for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
      }
      // A process group of its own, which gets none of the terminal's signals.
      flags |= POSIX_SPAWN_SETPGROUP
    }
    posix_spawnattr_setflags(&attributes, Int16(flags))
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    let variables: [UnsafeMutablePointer<CChar>?] =
      ProcessInfo.processInfo.environment.merging(added) { $1 }
      .map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var process: pid_t = 0
    let code = posix_spawnp(&process, path ?? words[0], &actions, &attributes, arguments, variables)
    guard code == 0 else { return .failure(Failure(reason: String(cString: strerror(code)))) }
    started(process)
    guard connection.isWaitedFor else {
      Thread.detachNewThread { [process] in ended(wait(for: process)) }
      return .success(0)
    }
    return .success(wait(for: process, stopping: true))
  }

  /// `POSIX_SPAWN_SETSID`, which the system's headers hide.
  private static let ownSession: Int32 = 0x80

  /// Why a program was not started.
  package struct Failure: Error {
    package let reason: String
  }

  /// How a program ended, in words; statuses above those of signals are its own, such as 255 of ssh.
  static func ending(_ status: Int32) -> String {
    let isSignal = 129...192 ~= status
    return isSignal ? "was ended by signal \(status - 128)" : "ended with status \(status)"
  }

  /// Waits for the end of a process, and returns its exit status.
  ///
  /// With `stopping`, this process stops with it until a shell continues both. If a program that has
  /// the terminal stops itself alone, as some editors do at ^Z, no key could reach anybody.
  private static func wait(for process: pid_t, stopping: Bool = false) -> Int32 {
    var status: Int32 = 0
    while true {
      guard waitpid(process, &status, stopping ? WUNTRACED : 0) >= 0 else {
        if errno == EINTR { continue }
        break
      }
      guard status & 0xFF == 0x7F else { break }
      // Where no shell could continue this process, the signal does nothing.
      raise(SIGTSTP)
      kill(process, SIGCONT)
    }
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }
}

/// The words of a variable such as `EDITOR`, split as a shell would, with no other shell features.
enum CommandWords {
  /// Splits at blanks outside quotes; a backslash quotes the next character.
  ///
  /// Nil if a quote is not closed or there are no words.
  static func split(_ text: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = text[...]
    while let character = rest.popFirst() {
      switch (quote, character) {
      case ("'"?, "'"), ("\""?, "\""):
        quote = nil
      case ("'"?, _):
        word = (word ?? "") + String(character)
      case (_, "\\"):
        word = (word ?? "") + (rest.popFirst().map { String($0) } ?? "\\")
      case (nil, "'"), (nil, "\""):
        quote = character
        word = word ?? ""
      case (nil, _) where character.isWhitespace:
        if let done = word { words.append(done) }
        word = nil
      default:
        word = (word ?? "") + String(character)
      }
    }
    if let done = word { words.append(done) }
    return quote == nil && !words.isEmpty ? words : nil
  }
}

/// Calls a block when the process receives a signal, instead of the signal's default action.
package final class SignalWatch {
  private let sources: [any DispatchSourceSignal]

  /// Starts handling signals; until this returns, they have their default action.
  ///
  /// It returns once the handlers are installed. A signal that was ignored in between would be
  /// lost, and its sender would wait forever.
  package init(_ numbers: Int32..., block: @escaping @Sendable () -> Void) {
    sources = numbers.map { DispatchSource.makeSignalSource(signal: $0, queue: .global()) }
    let registration = DispatchGroup()
    for source in sources {
      registration.enter()
      source.setRegistrationHandler { registration.leave() }
      source.setEventHandler(handler: block)
      source.resume()
    }
    registration.wait()
  }

  package func cancel() {
    for source in sources { source.cancel() }
  }

  /// The signals that end a process from outside, without those that this one was started to ignore:
  /// nohup does that, and shells do for what they start in the background.
  static var ends: [Int32] {
    [SIGINT, SIGTERM, SIGHUP].filter { number in
      var action = sigaction()
      sigaction(number, nil, &action)
      // Safety: a handler is a pointer, or a number that stands for none.
      let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      return handler != unsafeBitCast(SIG_IGN, to: Int.self)
    }
  }

  /// Ends the process as an unhandled signal does, so that a shell knows that its script is to end
  /// as well.
  static func end(by number: Int32) -> Never {
    signal(number, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
    _exit(128 + number)
  }
}

/// Tells the first of several calls, on any threads, from later ones.
final class Once: Sendable {
  private let isOver = NIOLockedValueBox(false)

  func isFirst() -> Bool {
    isOver.withLockedValue { isOver in
      defer { isOver = true }
      return !isOver
    }
  }
}

/// The open files, locks and connections of this process.
package enum FileDescriptors {
  /// Occupies the standard descriptors that were closed at the start, so that no file of ours gets
  /// their numbers and receives what is printed.
  ///
  /// They are opened the wrong way round: what is printed to them still fails.
  static func reserveStandardOnes() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      let opened = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
      guard opened >= 0, opened != descriptor else { continue }
      dup2(opened, descriptor)
      close(opened)
    }
  }

  /// Lets what is written to a descriptor go nowhere; whoever reads from its other end sees the end.
  static func silence(_ descriptor: Int32) {
    let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
    guard nothing >= 0 else { return }
    dup2(nothing, descriptor)
    close(nothing)
  }

  /// Locks a file until the descriptor is closed or this process ends in any way.
  ///
  /// Readers share the lock, and do not make a file that is missing. Nil, with the reason in `errno`,
  /// if another process has locked it (`EWOULDBLOCK`) or it cannot be opened.
  static func lock(_ path: String, onlyReads: Bool = false) -> Int32? {
    let descriptor =
      onlyReads ? open(path, O_RDONLY | O_CLOEXEC) : PrivateFile.open(path, O_RDWR)
    guard descriptor >= 0 else { return nil }
    if flock(descriptor, (onlyReads ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 { return descriptor }
    close(descriptor)
    return nil
  }

  /// As many as are needed by a command that starts a server, and by that server.
  private static let fewest: rlim_t = 64

  /// Ensures that there can be as many as a command needs: without them, SwiftNIO ends the process.
  ///
  /// - Throws: ``CommandFailure`` with the limit of the system.
  static func requireEnough() throws(CommandFailure) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
      limit.rlim_cur < fewest
    else { return }
    limit.rlim_cur = min(fewest, limit.rlim_max)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    guard limit.rlim_cur < fewest else { return }
    throw CommandFailure(
      .failed,
      "the system allows \(limit.rlim_max) open files; hearth needs \(fewest) (ulimit -n \(fewest))"
    )
  }

  /// Raises the limit to the maximum that the system allows without privileges.
  package static func allowMany() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}

extension DispatchQueue {
  /// The queue for short work that nobody waits for.
  ///
  /// It is a serial queue rather than a global one because libdispatch counts the threads of its
  /// global queues every second, from their first use until the program ends; a terminal at rest
  /// would never sleep for longer.
  static let hearthBackground = DispatchQueue(label: "hearth.background", qos: .utility)
}

/// A clock that shows the time of day and does not jump with every correction of the system's clock.
///
/// When somebody corrects the system's clock, what happened a minute ago stays a minute old. How far
/// this clock is from the server's is measured with each connection.
enum SteadyClock {
  /// The corrections, in milliseconds, that times and the order of keys do not show.
  private static let tolerance: Int64 = 60_000

  /// A clock that starts with the system's time, in milliseconds since 1970.
  ///
  /// With `followsSystem`, larger corrections count, as they do for a server on this system: new
  /// posts and read marks would otherwise bear other times than those that it gives. `uptime` is a
  /// clock that nobody sets.
  static func now(
    followsSystem: Bool,
    system: @escaping @Sendable () -> Int64 = { milliseconds(CLOCK_REALTIME) },
    uptime: @escaping @Sendable () -> Int64 = { milliseconds(CLOCK_BOOTTIME) }
  ) -> @Sendable () -> Int64 {
    let start = NIOLockedValueBox(system() - uptime())
    return {
      let uptime = uptime()
      let current = followsSystem ? system() - uptime : nil
      return uptime
        + start.withLockedValue { start in
          if let current, abs(current - start) > tolerance { start = current }
          return start
        }
    }
  }

  private static func milliseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
