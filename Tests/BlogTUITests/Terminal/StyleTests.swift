import Foundation
import Testing

@testable import BlogTUI

@Suite("Style")
struct StyleTests {
  private static let colors: [Color] = [
    .standard, .black, .red, .green, .yellow, .blue, .magenta, .cyan, .white, .indexed(0),
    .indexed(8), .indexed(255), .rgb(0, 0, 0), .rgb(1, 2, 3), .rgb(255, 0, 128),
    .rgb(255, 255, 255),
  ]

  @Test("has its given colours and attributes, and distinct styles differ")
  func parts() {
    var all: Set<Style> = []
    for foreground in Self.colors {
      for background in Self.colors {
        for bits in UInt8(0)..<16 {
          let attributes = Style.Attributes(rawValue: bits)
          let style = Style(
            foreground: foreground,
            background: background,
            attributes: attributes
          )
          #expect(style.foreground == foreground)
          #expect(style.background == background)
          #expect(style.attributes == attributes)
          all.insert(style)
        }
      }
    }
    #expect(all.count == Self.colors.count * Self.colors.count * 16)
  }

  @Test("allows each part to be changed separately", arguments: colors)
  func change(color: Color) {
    var style = Style(foreground: .rgb(9, 8, 7), background: .indexed(200), attributes: .bold)
    style.foreground = color
    #expect(style == Style(foreground: color, background: .indexed(200), attributes: .bold))
    style.background = color
    #expect(style == Style(foreground: color, background: color, attributes: .bold))
    style.attributes = [.dim, .reverse]
    #expect(style == Style(foreground: color, background: color, attributes: [.dim, .reverse]))
  }

  @Test("round-trips through JSON with named parts", arguments: colors)
  func coding(color: Color) throws {
    let style = Style(foreground: color, background: .cyan, attributes: .underline)
    let data = try JSONEncoder().encode(style)
    #expect(try JSONDecoder().decode(Style.self, from: data) == style)
    let object = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(Set(object.keys) == ["foreground", "background", "attributes"])
  }

  @Test("lets a cell fit in 24 bytes")
  func layout() {
    #expect(MemoryLayout<Cell>.stride == 24)
  }
}
