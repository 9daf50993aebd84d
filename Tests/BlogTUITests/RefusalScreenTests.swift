import BlogModel
import Testing

@testable import BlogTUI

@Suite("Refusal screens")
struct RefusalScreenTests {
  @Test("Defect 12: a star that loses every conflict is reported, not hidden")
  func conflict() {
    var model = Fixture.loaded()
    let reason = BlogError.conflict("p12").description
    model.send(.blog(.failed(.star("p12", true), reason: reason)))
    #expect(model.message?.text.string.contains("changed by others too often") == true)
  }
}
