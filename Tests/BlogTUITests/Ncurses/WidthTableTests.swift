import CNcurses
import Glibc
import Testing

@testable import BlogTUI

@Suite("Width table")
struct WidthTableTests {
  /// The version of the C library from which the table was generated.
  private static let tableVersion = "glibc 2.36"

  private static var hasTableVersion: Bool {
    var name = [CChar](repeating: 0, count: 64)
    guard confstr(Int32(_CS_GNU_LIBC_VERSION), &name, name.count) > 0 else { return false }
    return name.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { String(cString: $0) } == tableVersion
    }
  }

  /// Compares in a separate locale, so that other tests are not disturbed.
  private func differences(in values: ClosedRange<UInt32>) -> [UInt32] {
    guard let locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) else { return [] }
    let previous = uselocale(locale)
    defer {
      uselocale(previous)
      freelocale(locale)
    }
    return values.filter { value in
      guard value != 0x7F, let scalar = Unicode.Scalar(value) else { return false }
      let ours = TextWidth.width(of: scalar)
      let theirs = Int(wcwidth(Int32(bitPattern: value)))
      // Characters unknown to the table are drawn as a box, whatever a newer library says.
      return ours != (theirs < 0 ? nil : theirs) && (Self.hasTableVersion || ours != nil)
    }
  }

  @Test("The table agrees with the C library on the first two planes")
  func firstPlanes() {
    #expect(differences(in: 0x20...0x1FFFF) == [])
  }

  @Test("The table agrees with the C library on the other planes")
  func otherPlanes() {
    #expect(differences(in: 0x20000...0x10FFFF) == [])
  }
}
