import CNcurses
import Glibc

/// The descriptors of a terminal, and its type according to the environment.
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
/// Everything that the handlers need is prepared before they are installed; they call only `write`,
/// `tcsetattr`, `sigaction` and `raise`, which are async-signal-safe.
enum TerminalGuard {
  /// The state that signal handlers may read.
  struct State {
    var isActive = false
    var terminal: Int32 = -1
    var pipeReader: Int32 = -1
    var pipeWriter: Int32 = -1
    var modes = termios()
    var bytes: UnsafeMutableRawPointer?
    var count = 0
    var hasExitHandler = false
  }

  /// Signals that are reported as bytes in the pipe.
  static let reported = [SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT]
  /// Signals that end the process immediately, most of them because of a crash.
  static let fatal = [SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGQUIT, SIGSYS]

  // Safety: only the main actor writes it, either while no handler is installed or with `isActive`
  // as the last (or first) store; handlers only read it, apart from clearing `isActive`. The memory
  // lives as long as the process.
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

  /// Saves the current modes of the terminal and the current actions of all signals.
  @MainActor
  static func prepare(terminal: Int32) throws(TerminalError) {
    if state.pointee.pipeReader < 0 {
      guard nc_pipe(&state.pointee.pipeReader, &state.pointee.pipeWriter) == 0 else {
        throw .systemFailure("pipe", code: errno)
      }
    }
    state.pointee.terminal = terminal
    guard tcgetattr(terminal, &state.pointee.modes) == 0 else {
      throw .systemFailure("tcgetattr", code: errno)
    }
    for signal in reported + fatal {
      var action = sigaction()
      sigaction(signal, nil, &action)
      previousActions[signal] = action
    }
  }

  /// Installs the handlers; from then on, these bytes restore the terminal.
  @MainActor
  static func activate(restoring bytes: [UInt8]) {
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
    let flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_NODEFER | SA_ONSTACK
    for signal in fatal { install(signal, flags: flags, handler: restoreAndDie) }
  }

  /// Restores the previous actions of all signals.
  @MainActor
  static func deactivate() {
    for (signal, action) in previousActions {
      var action = action
      sigaction(signal, &action, nil)
    }
    state.pointee.isActive = false
  }

  /// Restores the original modes of the terminal.
  @MainActor
  static func restoreModes() {
    tcsetattr(state.pointee.terminal, TCSADRAIN, &state.pointee.modes)
  }

  /// Stops the process as the terminal's suspend key would, and returns when it continues.
  ///
  /// In a process that no shell could continue, the default action does nothing.
  @MainActor
  static func stopProcess() {
    var standard = sigaction()
    standard.__sigaction_handler.sa_handler = SIG_DFL
    sigaction(SIGTSTP, &standard, nil)
    raise(SIGTSTP)
    install(SIGTSTP, flags: SA_RESTART, handler: reportSignal)
  }

  /// Leaves the interrupt and suspend keys to another program in the foreground.
  ///
  /// An interrupt reaches only that program; a stop signal stops both.
  @MainActor
  static func yieldKeys() {
    for signal in [SIGINT, SIGQUIT] { setAction(of: signal, SIG_IGN) }
    setAction(of: SIGTSTP, SIG_DFL)
  }

  /// Takes these keys back, and discards the signals that arrived in between.
  @MainActor
  static func reclaimKeys() {
    for signal in [SIGINT, SIGTSTP] { install(signal, flags: SA_RESTART, handler: reportSignal) }
    let flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_NODEFER | SA_ONSTACK
    install(SIGQUIT, flags: flags, handler: restoreAndDie)
    var ending: Int32?
    while let signal = nextSignal() {
      if signal == SIGTERM || signal == SIGHUP { ending = signal }
    }
    if let ending { reportSignal(ending) }
  }

  private static func setAction(of signal: Int32, _ handler: __sighandler_t?) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = handler
    sigemptyset(&action.sa_mask)
    sigaction(signal, &action, nil)
  }

  /// Lets the signals reach the current thread.
  ///
  /// Threads of the dispatch library block them, and one of these may run the main actor.
  @MainActor
  static func unblockSignals() {
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

  private static func restore() {
    guard state.pointee.isActive else { return }
    state.pointee.isActive = false
    if let bytes = state.pointee.bytes {
      _ = write(state.pointee.terminal, bytes, state.pointee.count)
    }
    tcsetattr(state.pointee.terminal, TCSANOW, &state.pointee.modes)
  }

  /// It belongs to no actor, since a process can end on any thread.
  private static let restoreAtExit: @convention(c) () -> Void = { restore() }

  private static let reportSignal: @convention(c) (Int32) -> Void = { signal in
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: signal)
    _ = write(state.pointee.pipeWriter, &byte, 1)
    errno = saved
  }

  private static let restoreAndDie: @convention(c) (Int32) -> Void = { signal in
    restore()
    // The kernel resets the action to the default before it calls this handler.
    raise(signal)
  }

  private static func install(
    _ signal: Int32,
    flags: Int32,
    handler: @escaping @convention(c) (Int32) -> Void
  ) {
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
