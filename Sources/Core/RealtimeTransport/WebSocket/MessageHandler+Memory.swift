internal import RealtimeCore

extension MessageHandler {
  /// Reads no more of a message that has begun, until there is memory for all of it.
  func askForMemory() {
    guard let memory, !waitsForMemory else { return }
    let (share, limit) = (memory.bounds.share, assembler.byteLimit)
    let announced = min(limit, assembler.announcedFrames * limits.frameBytes)
    // How many fragments a frame has is not announced.
    let isLonger = fragments.assembledBytes + assembler.assembledBytes > max(share, announced)
    let bytes = isLonger ? limit : announced
    guard bytes > share, bytes > holder?.promised ?? 0 else { return }
    let holder = self.holder ?? makeHolder()
    if holder.promised == 0 { holder.isStranger = isStranger }
    if memory.input.promise(bytes, to: holder, whenRoom: { [weak self] in self?.goOn(bytes) }) {
      assembler.reserve(bytes)
    } else {
      waitsForMemory = true
      readingChanged()
    }
  }

  private func goOn(_ bytes: Int) {
    assembler.reserve(bytes)
    waitsForMemory = false
    readingChanged()
  }

  private func makeHolder() -> InputPromises.Holder {
    let holder = InputPromises.Holder { [weak self] in
      self?.fail(.protocolViolation, code: 1_013, "stopped in a message while others waited")
    }
    self.holder = holder
    return holder
  }
}
