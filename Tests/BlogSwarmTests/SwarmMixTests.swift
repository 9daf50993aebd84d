import Testing

@testable import HearthLab

@Suite("SwarmMix")
struct SwarmMixTests {
  @Test("A mix round-trips through its text")
  func roundTrip() throws {
    let text = "post=5,comment=20,star=50,unstar=15,edit=5,delete=5"
    #expect(try SwarmMix(text).text == text)
    #expect(try SwarmMix(SwarmMix.usual.text) == .usual)
  }

  @Test(
    "An invalid mix is rejected",
    arguments: ["", "post", "post=x", "post=-1", "dance=5", "star=1,star=2", "star=0", "star=1,"]
  )
  func refused(text: String) {
    #expect(throws: SwarmProblem.self) { try SwarmMix(text) }
  }

  @Test("A list of faults is parsed, including all and none")
  func faults() throws {
    #expect(try FaultKind.list("all") == FaultKind.allCases)
    #expect(try FaultKind.list("none").isEmpty)
    #expect(try FaultKind.list("kill,drop,server-kill,drop") == [.drop, .kill, .serverKill])
    #expect(throws: SwarmProblem.self) { try FaultKind.list("drop,earthquake") }
  }

  @Test("An action can be excluded from a mix")
  func without() throws {
    #expect(try SwarmMix("star=3,count=2").without(.count).text == "star=3")
    #expect(SwarmMix.usual.shares[.count] != nil)
  }

  @Test("The steady mix deletes as much as it writes")
  func steady() {
    let shares = SwarmMix.steady.shares
    #expect(shares[.post] == shares[.delete])
    #expect(shares[.comment] == shares[.retract])
  }
}
