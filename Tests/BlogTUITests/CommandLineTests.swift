import BlogModel
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Command line")
struct CommandLineTests {
  @Test("Action names are unique")
  func unique() {
    let names = KeyTable.standard.actions.map(\.name)
    #expect(Set(names).count == names.count)
    for name in names { #expect(KeyTable.standard.action(named: name)?.name == name) }
  }

  @Test("dump-screen writes the screen to a file")
  func dump() throws {
    var model = Fixture.loaded()
    let effects = model.type(":dump-screen a b.txt", .enter)
    guard case .environment(.write(let text, let file))? = effects.last
    else { throw Unexpected("nothing is written: \(effects)") }
    #expect(file == "a b.txt")
    #expect(text.contains("The hearth is lit"))
    #expect(!text.contains("dump-screen"))
  }

  @Test("The keys of the palette stand in one column")
  func paletteKeys() {
    var model = Fixture.loaded(Size(width: 120, height: 40))
    model.type(.control("p"))
    let columns = ["half-page-up", "show-recent", "show-mine"].compactMap { name -> Int? in
      guard let row = model.rows.first(where: { $0.contains(" \(name) ") }),
        let range = row.firstRange(of: " \(name) ")
      else { return nil }
      return row[..<range.upperBound].count + row[range.upperBound...].prefix { $0 == " " }.count
    }
    #expect(columns.count == 3 && Set(columns).count == 1, "\(columns)")
  }
}
