@testable import BlogTUI

/// Whatever a terminal sends, no key comes of it that its bytes do not spell, however they are cut.
enum KeyCheck {
  /// What a part of the input may become; each part becomes at most one event.
  private enum Part {
    case scalar(Unicode.Scalar)
    /// A sequence, without its escape.
    case sequence([UInt8])
    /// An operating system command, without its escape.
    case string([UInt8])
    /// Bytes that are not a character.
    case malformed
  }

  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    for isUTF8 in [true, false] {
      var whole = InputParser(isUTF8: isUTF8)
      var single = InputParser(isUTF8: isUTF8)
      var events = whole.take(input)
      var others: [InputEvent] = []
      for byte in input { others += single.take([byte]) }
      try demand(events == others, "keys depend on how the input is cut")
      try demand(whole.patience == single.patience, "the state depends on how the input is cut")
      events += whole.timeOut()
      if isUTF8 { try compare(events, with: parts(of: input)) }
      // A paste goes on until its mark.
      _ = whole.take(Array("\u{1B}[201~\u{1B}[201~".utf8) + [0x18])
      _ = whole.timeOut()
      try demand(whole.patience == nil, "something is pending for ever")
      try demand(whole.take([0x71]) == [.key(.character("q"))], "the next key is not read")
    }
  }

  private static func parts(of input: [UInt8]) -> [Part] {
    var scanner = Scanner(input)
    return scanner.parts()
  }

  /// Finds each event in the input, in its order.
  private static func compare(_ events: [InputEvent], with parts: [Part]) throws(BrokenProperty) {
    var rest = parts[...]
    for event in events {
      guard let index = rest.firstIndex(where: { allows($0, event) }) else {
        throw BrokenProperty("\(event) is not spelled by the input")
      }
      rest = rest[(index + 1)...]
    }
  }

  private static func allows(_ part: Part, _ event: InputEvent) -> Bool {
    switch (part, event) {
    case (.scalar(let scalar), .key(let key)), (.scalar(let scalar), .escaped(let key)):
      guard case .character(let character) = key else {
        return scalar.value < 0x20 || scalar.value == 0x7F
      }
      return character == Character(scalar)
    case (.malformed, .unreadable(let reason)): return reason == .notUTF8
    case (.scalar, _), (.malformed, _): return false
    case (.sequence(let bytes), .key(let key)), (.sequence(let bytes), .escaped(let key)):
      let text = String(decoding: bytes, as: UTF8.self)
      switch key {
      case .character, .alt(.character), .control:
        return text.hasPrefix("O") || text.hasSuffix("u") || text.hasPrefix("[27;")
      case .paste: return text.hasPrefix("[200~")
      case .mouse: return text.uppercased().contains("M")
      case .up, .down, .left, .right, .controlLeft, .controlRight, .home, .end, .pageUp, .pageDown,
        .insert, .delete, .backspace, .tab, .backTab, .enter, .escape, .function, .alt, .resize:
        return !text.hasPrefix("[200~")
      }
    case (.sequence(let bytes), .canSynchronize): return bytes.last == UInt8(ascii: "y")
    case (.sequence(let bytes), .cursor): return bytes.last == UInt8(ascii: "R")
    case (.string(let bytes), .background): return bytes.starts(with: "]11;rgb".utf8)
    case (.sequence, .unreadable), (.sequence, .background), (.string, _): return false
    }
  }

  /// Finds the parts of a whole input; unlike the parser, it may look ahead.
  private struct Scanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private func byte(_ index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func parts() -> [Part] {
      var parts: [Part] = []
      while let first = byte(index) {
        if let second = byte(index + 1) {
          if first == 0x1B, "[OP]X^_".utf8.contains(second) {
            if index + 2 == bytes.count {
              parts += [.scalar("\u{1B}"), .scalar(Unicode.Scalar(second))]
              return parts
            }
            skipSequence(second, &parts)
            continue
          }
          if first == 0xC2, (0x80...0x9F).contains(second) {
            if "[OP]X^_".utf8.contains(second - 0x40) {
              skipSequence(second - 0x40, &parts)
            } else {
              index += 2
            }
            continue
          }
        }
        var decoder = Unicode.UTF8()
        var iterator = bytes[index...].makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator) else {
          parts.append(.malformed)
          index += 1
          continue
        }
        parts.append(.scalar(scalar))
        index += UTF8.encode(scalar)?.count ?? 1
      }
      return parts
    }

    private mutating func skipSequence(_ kind: UInt8, _ parts: inout [Part]) {
      let start = index
      index += 2
      switch kind {
      case UInt8(ascii: "["): skipControl()
      case UInt8(ascii: "O"):
        while let next = byte(index), (0x30...0x3B).contains(next) { index += 1 }
        if let next = byte(index), next == 0x20 || (0x40...0x7E).contains(next) { index += 1 }
      default:
        skipString()
        let part = bytes[start..<min(index, bytes.count)]
        if kind == UInt8(ascii: "]") { parts.append(.string([kind] + part.dropFirst(2))) }
        return
      }
      let part = bytes[start..<min(index, bytes.count)]
      // What a paste lacks is told before the paste.
      if String(validating: part, as: UTF8.self) == nil { parts.append(.malformed) }
      parts.append(.sequence([kind] + part.dropFirst(2)))
    }

    private mutating func skipControl() {
      let start = index
      if byte(index) == UInt8(ascii: "[") {
        index += 1
        if let next = byte(index), (0x20...0x7E).contains(next) { index += 1 }
        return
      }
      while let next = byte(index), (0x20...0x3F).contains(next) {
        let digits = bytes[start..<index]
        index += 1
        let areDigits = digits.allSatisfy { (0x30...0x39).contains($0) }
        if next == UInt8(ascii: "$"), (1...2).contains(digits.count), areDigits { return }
      }
      guard let final = byte(index), (0x40...0x7E).contains(final) else { return }
      index += 1
      if final == UInt8(ascii: "M"), index == start + 1 { return skipMouse() }
      guard bytes[start..<index].elementsEqual("200~".utf8) else { return }
      let mark = Array("\u{1B}[201~".utf8)
      while index < bytes.count, !bytes[index...].starts(with: mark) { index += 1 }
      index += mark.count
    }

    private mutating func skipMouse() {
      for number in 0..<3 {
        guard let next = byte(index), next == 0 || next >= 0x20 else { return }
        index += 1
        guard number > 0, (0xC2...0xDF).contains(next), let second = byte(index) else { continue }
        if (0x80...0xBF).contains(second) { index += 1 }
      }
    }

    /// Skips to the end of a string, or to the control that ends it and is a key.
    private mutating func skipString() {
      while let next = byte(index) {
        index += 1
        switch next {
        case 0x07: return
        case 0x9C where byte(index - 2) == 0xC2 && index > 3: return
        case 0x1B:
          if byte(index) == UInt8(ascii: "\\") { return index += 1 }
          return index -= 1
        case 0x00..<0x08, 0x0E..<0x20: return index -= 1
        default: break
        }
      }
    }
  }
}
