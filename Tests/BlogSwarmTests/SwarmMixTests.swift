import BlogSwarm
import Testing

@Suite("SwarmMix")
struct SwarmMixTests {
  @Test("A mix is read and written in the same words")
  func roundTrip() throws {
    let text = "post=5,comment=20,star=50,unstar=15,edit=5,delete=5"
    #expect(try SwarmMix(text).text == text)
    #expect(try SwarmMix(SwarmMix.usual.text) == .usual)
  }

  @Test(
    "What is wrong with a mix is named",
    arguments: ["", "post", "post=x", "post=-1", "dance=5", "star=1,star=2", "star=0", "star=1,"]
  )
  func refused(text: String) {
    #expect(throws: SwarmMix.Problem.self) { try SwarmMix(text) }
  }

  @Test("Faults are read from a list, all and none among them")
  func faults() throws {
    #expect(try FaultKind.list("all") == FaultKind.allCases)
    #expect(try FaultKind.list("none").isEmpty)
    #expect(try FaultKind.list("kill,drop,server-kill,drop") == [.drop, .kill, .serverKill])
    #expect(throws: FaultKind.Problem.self) { try FaultKind.list("drop,earthquake") }
  }

  @Test("An action can be left out of a mix")
  func without() throws {
    #expect(try SwarmMix("star=3,count=2").without(.count).text == "star=3")
    #expect(SwarmMix.usual.shares[.count] != nil)
  }

  @Test("In the mix of a long run as much is deleted as is written")
  func steady() {
    let shares = SwarmMix.steady.shares
    #expect(shares[.post] == shares[.delete])
    #expect(shares[.comment] == shares[.retract])
  }
}
