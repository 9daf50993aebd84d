internal import NIOCore
internal import NIOHTTP1

extension PlainRequestHandler {
  /// Tells who waits for it that the body may come.
  func allowBody(_ head: HTTPRequestHead) {
    guard head.version == .http1_1,
      head.headers.first(name: "Expect")?.lowercased() == "100-continue"
    else { return }
    output?.append(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
  }

  /// Asks for the memory of a long body; without it, nothing more is read.
  ///
  /// - Returns: Whether it may be read at once.
  func askForMemory(_ bytes: Int) -> Bool {
    guard let head else { return false }
    let holder = self.holder ?? makeHolder()
    if holder.promised == 0 {
      switch handlers.admitBody(HTTPRequest(head: head, peer: peer)) {
      case .refused(let answer):
        write(answer, isLast: true)
        return false
      case .ofStranger: holder.isStranger = true
      case .ofKnown:
        holder.isStranger = false
        onIdle(false)
      }
    }
    let isPromised = memory.input.promise(bytes, to: holder) { [weak self] in
      guard let self else { return }
      body.reserveCapacity(bytes)
      waitsForMemory = false
      if body.isEmpty, let head = self.head { allowBody(head) }
      setReading(true)
      drain()
    }
    if isPromised {
      body.reserveCapacity(bytes)
    } else {
      waitsForMemory = true
      setReading(false)
    }
    return isPromised
  }

  private func makeHolder() -> InputPromises.Holder {
    let holder = InputPromises.Holder { [weak self] in
      guard let self, phase == .receiving else { return }
      let reason: StaticString = "the body stopped while others waited"
      write(HTTPAnswer(status: 408, error: reason), isLast: true)
    }
    self.holder = holder
    return holder
  }

  /// Gives back what was promised for the body.
  func releaseMemory() {
    waitsForMemory = false
    if let holder { memory.input.release(holder) }
  }
}
