import CNcurses

extension NcursesTerminal {
  /// Gives the terminal back while the body runs, for another program that uses it.
  ///
  /// - Throws: What the body throws.
  /// - Returns: What the body returns.
  package func withSuspendedScreen<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    leaveScreen()
    // What stops or interrupts the other program is not meant for this one, which waits for it.
    TerminalGuard.yieldKeys()
    defer {
      TerminalGuard.reclaimKeys()
      resume()
      adoptSize()
    }
    return try body()
  }

  /// Stops the process, as the suspend key does, and takes the terminal again when it goes on.
  ///
  /// Where no shell could make it go on, the system does not stop it, and this returns at once.
  package func suspend() {
    leaveScreen()
    TerminalGuard.stopProcess()
    resume()
    adoptSize()
  }

  /// The same, with what the program must learn of it.
  func suspend(_ events: inout [TerminalEvent]) {
    let before = size
    suspend()
    events.append(.resumed)
    if size != before { events.append(.key(.resize(size))) }
  }

  /// Rings the bell, or flashes where there is none.
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

  /// Takes the terminal again after something else had it.
  func resume() {
    reset_prog_mode()
    setExtraModes(true)
    cursorWasChanged()
    redraw()
  }
}
