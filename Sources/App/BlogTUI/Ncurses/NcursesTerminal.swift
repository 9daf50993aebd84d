import CNcurses
import Glibc

package struct TerminalOptions: Hashable, Sendable {
  package enum ColorMode: String, CaseIterable, Hashable, Sendable {
    /// Colours, unless the terminal has none or `NO_COLOR` is set and not empty.
    case automatic = "auto"
    /// Colours, unless the terminal has none.
    case always
    /// No colours; bold, reverse and underline stay.
    case never
  }

  package var colorMode = ColorMode.automatic
  /// Whether the program receives clicks and the wheel; otherwise the terminal handles them.
  package var usesMouse = true
  /// Whether only ASCII is drawn, even if the terminal can show more.
  package var usesOnlyASCII = false
  /// Whether each change appears all at once, on terminals that support it.
  package var usesSynchronizedOutput = true
  /// Whether links in texts become links of the terminal, if it is known to open them.
  package var usesLinks = true
  /// Whether the terminal draws joined emoji in two cells; nil to ask the terminal.
  package var joinsEmoji: Bool?
  /// Whether 24-bit colours are used on terminals that say they have them.
  var usesDirectColor = true
}

extension TerminalOptions {
  package init(usesMouse: Bool) {
    self.init()
    self.usesMouse = usesMouse
  }

  /// The terminal options that follow from the settings.
  package init(_ settings: Settings) {
    self.init(
      colorMode: ColorMode(rawValue: settings.word(.color)) ?? .automatic,
      usesMouse: settings.isOn(.mouse),
      usesOnlyASCII: settings.isOn(.ascii),
      usesSynchronizedOutput: settings.isOn(.synchronized),
      usesLinks: settings.isOn(.hyperlinks)
    )
  }
}

/// Why a terminal cannot be used; the description says what to do about it.
package enum TerminalError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Standard input is a file or a pipe.
  case inputIsNoTerminal
  /// Standard output is a file or a pipe.
  case outputIsNoTerminal
  case typeIsMissing
  /// The terminal cannot move its cursor.
  case typeIsTooSimple(String)
  case typeIsUnknown(String)
  /// A system or library call failed; the string is its name.
  case systemFailure(String, code: Int32)

  package var description: String {
    switch self {
    case .inputIsNoTerminal:
      return "standard input is not a terminal; run the program from a terminal window, "
        + "or use a subcommand"
    case .outputIsNoTerminal:
      return "standard output is not a terminal; do not redirect it, or use a subcommand"
    case .typeIsMissing:
      return "TERM is not set; set it to the type of your terminal, such as xterm-256color, "
        + "or use a subcommand"
    case .typeIsTooSimple(let type):
      return "a terminal of type \"\(type)\" cannot show screens; set TERM to the real type, "
        + "such as xterm-256color, or use a subcommand"
    case .typeIsUnknown(let type):
      return "no terminal of type \"\(type)\" is known; set TERM to a known type, "
        + "such as xterm-256color, install its terminfo entry "
        + "(on Debian in ncurses-base or ncurses-term), or use a subcommand"
    case .systemFailure(let call, let code):
      return "\(call) failed: \(String(cString: strerror(code))); try another terminal, "
        + "or use a subcommand"
    }
  }
}

/// The terminal of the process: it draws screens, reads keys, and is the only caller of curses.
///
/// States: open → (suspended → open)* → closed. While it is open, nothing else may write to the
/// terminal. ncurses keeps its state in globals, so everything happens on the main actor, and only
/// one terminal can be open at a time.
@MainActor
package final class NcursesTerminal: TerminalDevice {
  /// The characters that are drawn; others appear as `?`.
  package private(set) var repertoire: CharacterRepertoire
  /// The number of colours in use; 0 if there are none.
  package let colorCount: Int
  /// The number of columns and rows; follows the window, see ``KeyEvent/resize(_:)``.
  package internal(set) var size: Size

  let input: Int32
  let waker: Waker
  var parser: InputParser
  /// When the input so far ends if its rest has not come.
  var inputDeadline: ContinuousClock.Instant?
  var isHungUp = false
  private let screen: OpaquePointer
  private let streams: (UnsafeMutablePointer<FILE>?, UnsafeMutablePointer<FILE>?)
  let output: Int32
  /// The descriptor to which ncurses writes, and everything else: it can be silenced.
  private let stream: Int32
  var shown: Screen?
  var isOpen = true
  var cursorIsVisible: Bool?
  private var usesMouse: Bool
  var usesSynchronizedOutput: Bool
  /// Whether the terminal has reported that it can show whole frames at once.
  var canSynchronize = false
  /// Whether a reply from the terminal may still be on its way.
  private var awaitsAnswer = false
  /// When the terminal was first asked something; nil once it has answered.
  private var askedAt: ContinuousClock.Instant?
  /// Called when the terminal has first answered, with the time that it took.
  package var didAnswer: ((Duration) -> Void)?
  /// Whether links are written: the user wants them and the terminal opens them.
  private(set) var drawsLinks = false
  private let opensLinks: Bool
  /// Whether the terminal draws joined emoji in two cells.
  private(set) var joinsEmoji = false
  /// The emoji probes without a reply so far; empty if none was sent or the result is known.
  private var openMeasures: Set<Int> = []
  /// Called with the result of the emoji probes: whether the terminal joins emoji.
  package var didMeasure: ((Bool) -> Void)?
  /// Called when the terminal has said whether its background is light.
  package var didTellBackground: ((_ isLight: Bool) -> Void)?

  /// The symbols that the program itself draws.
  package var glyphs: GlyphSet { .of(repertoire) }

  /// Takes over the terminal of standard input and output.
  ///
  /// Opening it again before ``close()`` is a programmer error.
  ///
  /// - Throws: ``TerminalError`` if there is no terminal or it cannot show screens; nothing has
  ///   been changed then.
  package static func open(
    _ options: TerminalOptions = TerminalOptions()
  ) throws(TerminalError) -> NcursesTerminal {
    try open(options, on: .standard)
  }

  static func open(
    _ options: TerminalOptions,
    on device: TerminalDescriptors
  ) throws(TerminalError) -> NcursesTerminal {
    precondition(!TerminalGuard.isActive, "the terminal is open already")
    let type = try usableType(of: device)
    adoptLocale(on: device.input)
    try TerminalGuard.prepare(terminal: device.output)
    return try NcursesTerminal(options, device: device, type: type)
  }

  /// Why the terminal of standard input and output cannot show screens; nil if it can.
  ///
  /// It only reads the terminal database.
  package static func problem() -> TerminalError? {
    do throws(TerminalError) {
      _ = try usableType(of: .standard)
      return nil
    } catch {
      return error
    }
  }

  /// The character encoding of the user's locale, such as `UTF-8`, and whether screens can use
  /// Unicode.
  package static func encoding() -> (name: String, isUnicode: Bool) {
    adoptLocale(on: STDIN_FILENO)
    return (String(cString: nl_langinfo(nl_item(CODESET))), nc_is_utf8() != 0)
  }

  /// Sets the locale that the environment names.
  ///
  /// One that is not installed, or is none (macOS sends `LC_CTYPE=UTF-8`), would be the locale C
  /// with ASCII alone: then the characters are UTF-8 if the name or the terminal says so.
  private static func adoptLocale(on terminal: Int32) {
    // Numbers are read and written for machines, whatever the user's language.
    defer { setlocale(LC_NUMERIC, "C") }
    guard setlocale(LC_ALL, "") == nil, setlocale(LC_CTYPE, "") == nil else { return }
    let name = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment($0) }
      .first { !$0.isEmpty }
    let namesUTF8 = name?.uppercased().replacing("-", with: "").contains("UTF8") ?? false
    guard namesUTF8 || nc_sends_utf8(terminal) != 0 else { return }
    for substitute in ["C.UTF-8", "en_US.UTF-8"] where setlocale(LC_CTYPE, substitute) != nil {
      return
    }
  }

  private static func usableType(of device: TerminalDescriptors) throws(TerminalError) -> String {
    guard isatty(device.input) == 1 else { throw .inputIsNoTerminal }
    guard isatty(device.output) == 1 else { throw .outputIsNoTerminal }
    guard let type = device.type, !type.isEmpty else { throw .typeIsMissing }
    guard type != "dumb" else { throw .typeIsTooSimple(type) }
    switch nc_terminal_is_usable(type, device.output) {
    case 0: throw .typeIsUnknown(type)
    case 1: throw .typeIsTooSimple(type)
    default: return type
    }
  }

  nonisolated static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  private init(
    _ options: TerminalOptions,
    device: TerminalDescriptors,
    type: String
  ) throws(TerminalError) {
    waker = try Waker()
    input = device.input
    output = device.output
    // LINES or COLUMNS in the environment would keep ncurses from ever resizing; the kernel knows
    // better.
    unsetenv("LINES")
    unsetenv("COLUMNS")
    var out: UnsafeMutablePointer<FILE>?
    var `in`: UnsafeMutablePointer<FILE>?
    let direct =
      options.usesDirectColor ? DirectColor.description(of: type) { Self.environment($0) } : nil
    let newTerminal = {
      Self.limitingSize(of: device.output) {
        nc_newterm(type, device.output, device.input, &out, &`in`)
      }
    }
    guard let screen = direct.flatMap({ Self.describing($0, newTerminal) }) ?? newTerminal(),
      let out
    else {
      throw .systemFailure("newterm", code: errno)
    }
    self.screen = screen
    streams = (out, `in`)
    stream = fileno(out)
    usesMouse = options.usesMouse
    usesSynchronizedOutput = options.usesSynchronizedOutput
    parser = InputParser(
      isUTF8: nc_is_utf8() != 0,
      described: Self.describedKeys(),
      escapeDelay: Self.escapeDelay
    )
    opensLinks =
      nc_is_ansi() != 0 && TerminalAbilities.opensLinks(type: type) { Self.environment($0) }
    repertoire = Self.repertoire(options)
    colorCount = Self.startColors(options.colorMode)
    size = Size(width: Int(nc_columns()), height: Int(nc_lines()))
    Self.configure()
    makeBlocking()
    // ncurses writes a frame only when it is complete, and does not check for keys in between.
    typeahead(-1)
    _ = nc_leave_unseen(stream)
    TerminalGuard.activate(stream, restoring: Self.restoringBytes())
    adoptSize()
    setExtraModes(true)
    drawsLinks = opensLinks && options.usesLinks
    if Self.understandsQueries(type) { ask() }
    if repertoire == .unicode, nc_is_ansi() != 0 { prepareEmoji(options.joinsEmoji, type: type) }
  }

  /// Calls the body while `TERMINFO` has that value; what other programs inherit is as before.
  private static func describing<Result>(_ value: String, _ body: () -> Result) -> Result {
    let before = environment("TERMINFO")
    setenv("TERMINFO", value, 1)
    defer {
      if let before { setenv("TERMINFO", before, 1) } else { unsetenv("TERMINFO") }
    }
    return body()
  }

  /// Calls the body, in which ncurses asks for the size of the window; of a window for which it has
  /// no memory, it sees only a part.
  static func limitingSize<Result>(of output: Int32, _ body: () -> Result) -> Result {
    var (rows, columns) = (Int32(0), Int32(0))
    guard nc_terminal_size(output, &rows, &columns) == 0, max(rows, columns) == NC_LARGEST else {
      return body()
    }
    setenv("LINES", String(rows), 1)
    setenv("COLUMNS", String(columns), 1)
    defer {
      unsetenv("LINES")
      unsetenv("COLUMNS")
    }
    return body()
  }

  private static func startColors(_ mode: TerminalOptions.ColorMode) -> Int {
    let isForbidden = !(environment("NO_COLOR") ?? "").isEmpty
    switch mode {
    case .never: return 0
    case .automatic where isForbidden: return 0
    case .automatic, .always: break
    }
    guard has_colors(), start_color() == OK, use_default_colors() == OK else { return 0 }
    return Int(nc_colors())
  }

  private static func configure() {
    raw()
    noecho()
    nonl()
    let window = nc_stdscr()
    keypad(window, true)
    scrollok(window, false)
    leaveok(window, false)
  }

  /// Whether the terminal reports the mouse; ncurses is not asked for that, as it would read the
  /// reports.
  private static var hasMouse: Bool { nc_is_ansi() != 0 && nc_string("kmous") != nil }

  /// Whether terminals of that type reply to queries, or at least ignore them silently.
  private static func understandsQueries(_ type: String) -> Bool {
    let families = ["xterm", "tmux", "screen", "foot", "alacritty", "kitty", "wezterm", "contour"]
    return families.contains { type.hasPrefix($0) }
  }

  private static let modesOff =
    "\u{1B}[?1000l\u{1B}[?1002l\u{1B}[?1006l\u{1B}[?2004l\u{1B}[?2026l"

  private static func restoringBytes() -> [UInt8] {
    var bytes = nc_is_ansi() != 0 ? Array(modesOff.utf8) : []
    for name in ["sgr0", "op", "cnorm", "rmkx", "rmcup"] {
      guard let value = nc_string(name) else { continue }
      bytes += withoutPadding(String(cString: value)).utf8
    }
    return bytes + [0x0D]
  }

  /// The capability without its `$<…>` delays.
  private static func withoutPadding(_ text: String) -> String {
    let parts = text.split(separator: "$<", omittingEmptySubsequences: false)
    let rest = parts.dropFirst().map { $0.drop { $0 != ">" }.dropFirst() }
    return (parts.prefix(1) + rest).joined()
  }

  /// Restores the terminal; later calls do nothing.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    if !isHungUp {
      setExtraModes(false)
      nc_set_cursor(1)
      endwin()
      // A reply that came too late would end up in the shell.
      if awaitsAnswer { tcflush(input, TCIFLUSH) }
      TerminalGuard.restoreModes()
    }
    TerminalGuard.deactivate()
    delscreen(screen)
    if let out = streams.0 { fclose(out) }
    if let `in` = streams.1 { fclose(`in`) }
  }

  /// Sets modes that ncurses leaves alone: bracketed paste, and the mouse.
  func setExtraModes(_ areOn: Bool) {
    guard nc_is_ansi() != 0 else { return }
    writeDirectly("\u{1B}[?2004" + (areOn ? "h" : "l"))
    if usesMouse { reportMouse(areOn) }
  }

  /// Asks for reports of buttons and the wheel, in the form that has no largest column.
  private func reportMouse(_ isOn: Bool) {
    if Self.hasMouse { writeDirectly("\u{1B}[?1006;1000" + (isOn ? "h" : "l")) }
  }

  func writeDirectly(_ text: String) {
    writeDirectly(Array(text.utf8))
  }

  private func writeDirectly(_ bytes: [UInt8]) {
    var bytes = bytes[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(stream, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { return }
      bytes = bytes.dropFirst(max(0, count))
    }
  }

  /// Asks which background the terminal has, and whether it can show whole frames at once.
  private func ask() {
    let background = colorCount > 0 ? "\u{1B}]11;?\u{1B}\\" : ""
    let question = background + (usesSynchronizedOutput ? "\u{1B}[?2026$p" : "")
    guard !question.isEmpty else { return }
    awaitsAnswer = true
    askedAt = .now
    writeDirectly(question)
  }

  func wasAnswered() {
    guard let askedAt else { return }
    self.askedAt = nil
    didAnswer?(.now - askedAt)
  }

  func wasAnswered(canSynchronize: Bool) {
    awaitsAnswer = false
    self.canSynchronize = canSynchronize
  }

  /// Uses what is known about the terminal, or asks it.
  private func prepareEmoji(_ known: Bool?, type: String) {
    if let known {
      joinsEmoji = known
    } else if Self.understandsQueries(type), let question = EmojiMeasure.question(rows: size.height)
    {
      openMeasures = Set(EmojiMeasure.probes.indices)
      awaitsAnswer = true
      writeDirectly(question)
    }
  }

  /// Handles one reply about emoji; calls ``didMeasure`` once the result is known.
  func wasMeasured(_ number: Int, isRight: Bool) {
    guard openMeasures.remove(number) != nil else { return }
    if !isRight { openMeasures = [] }
    guard openMeasures.isEmpty else { return }
    joinsEmoji = isRight
    if joinsEmoji, shown?.cells.contains(where: \.cluster.isJoined) == true { redraw() }
    didMeasure?(isRight)
  }

  /// Applies options that the user has changed, apart from those about colours and emoji.
  package func apply(_ options: TerminalOptions) {
    guard isOpen else { return }
    if drawsLinks != (opensLinks && options.usesLinks) {
      drawsLinks = opensLinks && options.usesLinks
      redraw()
    }
    usesSynchronizedOutput = options.usesSynchronizedOutput
    let characters = Self.repertoire(options)
    if characters != repertoire {
      repertoire = characters
      redraw()
    }
    guard options.usesMouse != usesMouse else { return }
    usesMouse = options.usesMouse
    reportMouse(usesMouse)
  }

  private static func repertoire(_ options: TerminalOptions) -> CharacterRepertoire {
    nc_is_utf8() != 0 && !options.usesOnlyASCII ? .unicode : .ascii
  }

  package func apply(_ settings: Settings) { apply(TerminalOptions(settings)) }

  /// Copies a text to the clipboard of the terminal, unless it is too long.
  package func copy(_ text: String) {
    let isInScreen = Self.environment("STY") != nil
    guard isOpen, nc_is_ansi() != 0,
      let bytes = Clipboard.sequence(text, isInScreen: isInScreen)
    else { return }
    writeDirectly(bytes)
  }

  /// Reads the size of the window and passes it to ncurses; returns whether it changed.
  @discardableResult
  func adoptSize() -> Bool {
    var rows: Int32 = 0
    var columns: Int32 = 0
    guard nc_terminal_size(output, &rows, &columns) == 0 else { return false }
    let new = Size(width: Int(columns), height: Int(rows))
    guard new != size || rows != nc_lines() || columns != nc_columns() else { return false }
    resizeterm(rows, columns)
    size = new
    shown = nil
    return true
  }
}

extension NcursesTerminal {
  /// Releases the terminal to another program while the body runs.
  package func withSuspendedScreen<Result>(_ body: () -> Result) -> Result {
    leaveScreen()
    // Signals that stop or interrupt the other program are not meant for this one, which waits for
    // it.
    TerminalGuard.yieldKeys()
    defer {
      TerminalGuard.reclaimKeys()
      resume()
      adoptSize()
    }
    return body()
  }

  /// Stops the process, as the suspend key does, and takes over the terminal again once it
  /// continues.
  ///
  /// If no shell could continue it, the system does not stop it, and this returns at once.
  package func suspend() {
    leaveScreen()
    TerminalGuard.stopProcess()
    resume()
    adoptSize()
  }

  func suspend(_ events: inout [TerminalEvent]) {
    let before = size
    suspend()
    events.append(.resumed)
    if size != before { events.append(.key(.resize(size))) }
  }

  /// Rings the bell; a terminal without one flashes.
  package func bell() {
    beep()
  }

  private func leaveScreen() {
    def_prog_mode()
    setExtraModes(false)
    nc_set_cursor(1)
    endwin()
    TerminalGuard.restoreModes()
  }

  /// Takes over the terminal again after another program has used it.
  func resume() {
    makeBlocking()
    reset_prog_mode()
    keypad(nc_stdscr(), true)
    setExtraModes(true)
    cursorIsVisible = nil
    redraw()
  }

  /// Lets writing wait again, after a program that has left the terminal otherwise.
  private func makeBlocking() {
    let flags = fcntl(stream, F_GETFL)
    if flags >= 0, flags & O_NONBLOCK != 0 { _ = fcntl(stream, F_SETFL, flags & ~O_NONBLOCK) }
  }
}
