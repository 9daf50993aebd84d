import Foundation
import Testing

@testable import BlogTUI

@Suite("Golden screens")
struct ScreenGoldenTests {
  private static let sizes = [
    Size(width: 20, height: 8), Size(width: 40, height: 12), Size(width: 80, height: 24),
    Size(width: 120, height: 40), Size(width: 200, height: 60),
  ]
  private static let names = ScreenCatalog.all.map(\.name)

  @Test("Every screen matches its golden at five sizes", arguments: names)
  func sizes(name: String) throws {
    let paint = try #require(ScreenCatalog.named(name))
    let sections = try Self.sizes.map { size in
      "=== \(size.width)x\(size.height)\n" + Self.trimmed(try paint(size, .unicode).text()) + "\n"
    }
    Golden.check(sections.joined(), in: "Screens/\(name).txt")
  }

  @Test("In ASCII mode every screen is pure ASCII and exactly 80 columns wide", arguments: names)
  func ascii(name: String) throws {
    let paint = try #require(ScreenCatalog.named(name))
    let screen = try paint(Size(width: 80, height: 24), .ascii)
    let rows = (0..<24).map { screen.row($0).map(\.asciiText).joined() }
    #expect(rows.allSatisfy { $0.utf8.count == 80 && $0.allSatisfy(\.isASCII) })
  }

  /// The output for four kinds of terminals is stored with the tests of NcursesTerminal.
  @Test("The styles of every screen match their golden", arguments: names)
  func styles(name: String) throws {
    let paint = try #require(ScreenCatalog.named(name))
    let screen = try paint(Size(width: 80, height: 24), .unicode)
    let rows = (0..<24).compactMap { row -> String? in
      let runs = Self.runs(screen.row(row)).joined(separator: " ")
      return runs.isEmpty ? nil : "\(row): \(runs)\n"
    }
    Golden.check(rows.joined(), in: "Styles/\(name).txt")
  }

  /// The columns of each run of a style other than plain.
  private static func runs(_ cells: ArraySlice<Cell>) -> [String] {
    var runs: [(range: ClosedRange<Int>, style: Style)] = []
    for (column, cell) in cells.enumerated() where cell.style != .plain {
      if let last = runs.last, last.range.upperBound == column - 1, last.style == cell.style {
        runs[runs.count - 1].range = last.range.lowerBound...column
      } else {
        runs.append((column...column, cell.style))
      }
    }
    return runs.map { "\($0.range.lowerBound)-\($0.range.upperBound)[\($0.style.description)]" }
  }

  private static func trimmed(_ text: String) -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines.joined(separator: "\n")
  }

  @Test("A screen that is too small says so")
  func tooSmall() throws {
    let paint = try #require(ScreenCatalog.named("recent"))
    let sizes = [
      Size(width: 19, height: 8), Size(width: 80, height: 5), Size(width: 5, height: 3),
      Size(width: 1, height: 1),
    ]
    let sections = try sizes.map {
      "=== \($0.width)x\($0.height)\n" + (try paint($0, .unicode).text()) + "\n"
    }
    Golden.check(sections.joined(), in: "Screens/too-small.txt")
  }
}
