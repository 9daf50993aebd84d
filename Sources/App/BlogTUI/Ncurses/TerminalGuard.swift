import CNcurses
import Glibc

struct TerminalDescriptors {
  /// The descriptor from which keys are read.
  let input: Int32
  /// The descriptor to which screens are written.
  let output: Int32
  /// The name of its terminfo entry.
  let type: String?

  /// The terminal in which the process was started.
  static var standard: TerminalDescriptors {
    let type = getenv("TERM").map { String(cString: $0) }
    return TerminalDescriptors(input: STDIN_FILENO, output: STDOUT_FILENO, type: type)
  }
}

/// Restores the terminal on every way out of the process, and turns signals into bytes in a pipe.
///
/// A terminal that takes no output keeps ncurses in a `write` that nothing ends. Once a signal has
/// told the program to leave, a timer therefore gives the descriptor of ncurses to `/dev/null`.
///
/// Everything that the handlers need is prepared before they are installed; they call only
/// functions that are async-signal-safe, and plain system calls.
enum TerminalGuard {
  /// The state that signal handlers may read.
  struct State {
    var isActive = false
    /// Whether the terminal takes no output, and therefore gets no more.
    var isSilent = false
    var terminal: Int32 = -1
    /// The descriptor to which screens are written.
    var stream: Int32 = -1
    /// `/dev/null`.
    var nowhere: Int32 = -1
    var drawer = pthread_t()
    var pipeReader: Int32 = -1
    var pipeWriter: Int32 = -1
    var modes = termios()
    var bytes: UnsafeMutableRawPointer?
    var count = 0
    var hasExitHandler = false
  }

  /// Signals that are reported as bytes in the pipe.
  static let reported = [SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT]
  /// Signals that end the process immediately, because of a crash or by default.
  static let fatal = (1..<_NSIG).filter { !reported.contains($0) && !harmless.contains($0) }
  /// Signals that no program can handle, that stop it, or that do nothing by default.
  private static let harmless = [SIGKILL, SIGSTOP, SIGTTIN, SIGTTOU, SIGCHLD, SIGURG]
  /// How many milliseconds a program that was told to leave has before its output is dropped.
  private static let patience: Int32 = 200

  // Safety: only the main actor writes it, either while no handler is installed or with `isActive`
  // as the last (or first) store; handlers only read it, apart from clearing `isActive` and setting
  // `isSilent`. The memory lives as long as the process.
  private nonisolated(unsafe) static let state: UnsafeMutablePointer<State> = {
    let pointer = UnsafeMutablePointer<State>.allocate(capacity: 1)
    pointer.initialize(to: State())
    return pointer
  }()

  @MainActor private static var previousActions: [Int32: sigaction] = [:]

  /// Whether the terminal has to be restored if the process ends.
  static var isActive: Bool { state.pointee.isActive }

  /// The read end of the pipe, which the event loop polls.
  static var reader: Int32 { state.pointee.pipeReader }

  /// Saves the current modes of the terminal and the current actions of all signals that end or
  /// stop the process, or that are reported.
  @MainActor
  static func prepare(terminal: Int32) throws(TerminalError) {
    if state.pointee.pipeReader < 0 {
      guard nc_pipe(&state.pointee.pipeReader, &state.pointee.pipeWriter) == 0 else {
        throw .systemFailure("pipe", code: errno)
      }
      state.pointee.nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
    }
    state.pointee.terminal = terminal
    guard tcgetattr(terminal, &state.pointee.modes) == 0 else {
      throw .systemFailure("tcgetattr", code: errno)
    }
    for signal in reported + fatal {
      var action = sigaction()
      // The C library keeps some for itself.
      if sigaction(signal, nil, &action) == 0 { previousActions[signal] = action }
    }
  }

  /// Installs the handlers; from then on, these bytes restore the terminal.
  ///
  /// The stream is the descriptor to which screens are written, another one than the terminal's.
  @MainActor
  static func activate(_ stream: Int32, restoring bytes: [UInt8]) {
    state.pointee.stream = stream
    state.pointee.isSilent = false
    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
    memory.copyMemory(from: bytes, byteCount: bytes.count)
    state.pointee.bytes?.deallocate()
    state.pointee.bytes = memory
    state.pointee.count = bytes.count
    if !state.pointee.hasExitHandler {
      state.pointee.hasExitHandler = true
      installAlternateStack()
      atexit(restoreAtExit)
    }
    state.pointee.isActive = true
    for signal in reported { install(signal, flags: SA_RESTART, handler: reportSignal) }
    for (signal, action) in previousActions where fatal.contains(signal) && !isIgnored(action) {
      install(signal, flags: fatalFlags, handler: restoreAndDie)
    }
  }

  private static let fatalFlags =
    Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_NODEFER | SA_ONSTACK

  private static func isIgnored(_ action: sigaction) -> Bool {
    unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Restores the previous actions of all signals.
  ///
  /// A terminal that takes no output gets none from the rest of the process either.
  @MainActor
  static func deactivate() {
    nc_set_timer(0, 0)
    if state.pointee.isSilent, !restore(), isatty(STDERR_FILENO) == 1 {
      _ = nc_redirect(STDERR_FILENO, state.pointee.nowhere)
    }
    for (signal, action) in previousActions {
      var action = action
      sigaction(signal, &action, nil)
    }
    state.pointee.isActive = false
  }

  @MainActor
  static func restoreModes() {
    // ncurses has waited for its output; a terminal that takes none must not keep this waiting.
    tcsetattr(state.pointee.terminal, TCSANOW, &state.pointee.modes)
  }

  /// Stops the process as the terminal's suspend key would, and returns when it continues.
  ///
  /// In a process that no shell could continue, the default action does nothing.
  @MainActor
  static func stopProcess() {
    install(SIGTSTP, handler: SIG_DFL)
    raise(SIGTSTP)
    install(SIGTSTP, flags: SA_RESTART, handler: reportSignal)
  }

  /// Leaves the interrupt and suspend keys to another program in the foreground.
  ///
  /// An interrupt reaches only that program; a stop signal stops both.
  @MainActor
  static func yieldKeys() {
    for signal in [SIGINT, SIGQUIT] { install(signal, handler: SIG_IGN) }
    install(SIGTSTP, handler: SIG_DFL)
  }

  /// Takes these keys back, and discards the signals that arrived in between.
  @MainActor
  static func reclaimKeys() {
    for signal in [SIGINT, SIGTSTP] { install(signal, flags: SA_RESTART, handler: reportSignal) }
    install(SIGQUIT, flags: fatalFlags, handler: restoreAndDie)
    var ending: Int32?
    while let signal = nextSignal() {
      if signal == SIGTERM || signal == SIGHUP { ending = signal }
    }
    if let ending { reportSignal(ending) }
  }

  /// Lets the signals reach the current thread, which draws.
  ///
  /// Threads of the dispatch library block them, and one of these may run the main actor.
  @MainActor
  static func unblockSignals() {
    state.pointee.drawer = pthread_self()
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in reported + fatal { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  /// Reads one signal from the pipe; nil if there is none.
  static func nextSignal() -> Int32? {
    var byte: UInt8 = 0
    return read(state.pointee.pipeReader, &byte, 1) == 1 ? Int32(byte) : nil
  }

  /// Restores the terminal; returns false if it takes no output.
  @discardableResult
  private static func restore() -> Bool {
    guard state.pointee.isActive else { return true }
    state.pointee.isActive = false
    // Another thread may be drawing.
    _ = nc_redirect(state.pointee.stream, state.pointee.nowhere)
    let isWritten =
      nc_write_soon(state.pointee.terminal, state.pointee.bytes, state.pointee.count, patience) == 0
    tcsetattr(state.pointee.terminal, TCSANOW, &state.pointee.modes)
    return isWritten
  }

  /// It belongs to no actor, since a process can end on any thread.
  private static let restoreAtExit: @convention(c) () -> Void = { _ = restore() }

  private static let reportSignal: @convention(c) (Int32) -> Void = { signal in
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: signal)
    _ = write(state.pointee.pipeWriter, &byte, 1)
    if signal == SIGTERM || signal == SIGHUP || signal == SIGINT {
      install(SIGALRM, flags: SA_RESTART, handler: silence)
      nc_set_timer(patience, 100)
    }
    errno = saved
  }

  /// Ends a `write` to the terminal, by restarting it with `/dev/null`.
  private static let silence: @convention(c) (Int32) -> Void = { signal in
    let saved = errno
    state.pointee.isSilent = true
    _ = nc_redirect(state.pointee.stream, state.pointee.nowhere)
    if pthread_equal(pthread_self(), state.pointee.drawer) == 0 {
      pthread_kill(state.pointee.drawer, signal)
    }
    errno = saved
  }

  private static let restoreAndDie: @convention(c) (Int32) -> Void = { signal in
    restore()
    // The kernel resets the action to the default before it calls this handler.
    raise(signal)
  }

  private static func install(_ signal: Int32, flags: Int32 = 0, handler: __sighandler_t?) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = handler
    action.sa_flags = flags
    sigemptyset(&action.sa_mask)
    sigaction(signal, &action, nil)
  }

  /// Lets handlers run even after the main thread's stack has overflowed.
  private static func installAlternateStack() {
    let size = 64 * 1024
    var stack = stack_t()
    stack.ss_sp = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    stack.ss_size = size
    sigaltstack(&stack, nil)
  }
}
