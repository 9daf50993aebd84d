import Testing

@testable import BlogTUI

@Suite("ColorTable")
struct ColorTableTests {
  @Test("Without colours every colour is the terminal's default")
  func none() {
    for color in [Color.standard, .red, .white, .indexed(200)] {
      #expect(ColorTable.number(of: color, count: 0) == -1)
    }
  }

  @Test("With 256 colours an index maps to itself")
  func many() {
    for index in UInt8.min...UInt8.max {
      #expect(ColorTable.number(of: .indexed(index), count: 256) == Int32(index))
    }
    #expect(ColorTable.number(of: .cyan, count: 256) == 6)
    #expect(ColorTable.number(of: .standard, count: 256) == -1)
  }

  @Test("With eight colours an index maps to the nearest one")
  func few() {
    #expect(ColorTable.number(of: .indexed(196), count: 8) == 1)
    #expect(ColorTable.number(of: .indexed(46), count: 8) == 2)
    #expect(ColorTable.number(of: .indexed(231), count: 8) == 7)
    #expect(ColorTable.number(of: .indexed(16), count: 8) == 0)
    #expect(ColorTable.number(of: .indexed(9), count: 8) == 1)
    for index in UInt8.min...UInt8.max {
      #expect((0..<8).contains(ColorTable.number(of: .indexed(index), count: 8)))
    }
  }

  @Test("RGB values map to the nearest available colour")
  func components() {
    #expect(ColorTable.number(of: .rgb(255, 0, 0), count: 0) == -1)
    #expect(ColorTable.number(of: .rgb(255, 0, 0), count: 8) == 1)
    #expect(ColorTable.number(of: .rgb(0x87, 0x5F, 0xFF), count: 256) == 99)
    #expect(ColorTable.number(of: .rgb(0x80, 0x80, 0x80), count: 256) == 244)
    #expect(ColorTable.number(of: .rgb(1, 2, 3), count: 1 << 24) == 0x010203)
    // The first eight direct colour numbers are named colours.
    #expect(ColorTable.number(of: .rgb(0, 0, 5), count: 1 << 24) == 0)
    #expect(ColorTable.number(of: .blue, count: 1 << 24) == 4)
    #expect(ColorTable.number(of: .indexed(196), count: 1 << 24) == 0xFF0000)
  }
}
