import RealtimeCore
import RealtimeServer
import Testing

@Suite("Members of auth, and names in rules")
struct MemberTests {
  @Test(
    "Of two auth members with the same name, the later one counts",
    arguments: ["uid", "level"]
  )
  func repeatedMember(_ name: String) throws {
    let probe = RuleProbe(auth: "{\"\(name)\":\"first\",\"x\":1,\"\(name)\":\"later\"}")
    #expect(try probe.result("auth.\(name) == 'later' && auth['\(name)'] == 'later'") == .yes)
  }

  @Test(
    "A user ID is a path like any other string",
    arguments: [
      ("n", "root.child(auth.uid).val() == 5", .yes), ("n", "root.hasChild(auth.uid)", .yes),
      ("m", "root.hasChild(auth.uid)", .no), ("o/b", "root.hasChild(auth.uid + '/c')", .yes),
      ("o/b", "root.child(auth.uid).hasChild('c')", .yes),
      ("o/b/", "root.hasChild(auth.uid)", .yes),
      ("/o", "root.child(auth.uid).child('b/c').val() == 2", .yes),
      ("", "root.child(auth.uid).child('n').val() == 5", .yes),
      ("", "root.hasChild(auth.uid)", .yes),
      ("k", "data.parent().hasChildren([auth.uid])", .yes),
      ("k", "data.parent().child(auth.uid).parent().hasChild(auth.uid)", .yes),
    ] as [(String, String, ProbeResult)]
  )
  func uidAsPath(_ uid: String, _ expression: String, _ expected: ProbeResult) throws {
    #expect(try RuleProbe(auth: "{\"uid\":\"\(uid)\"}").result(expression) == expected)
  }

  @Test(
    "A user ID that is not a string cannot be used as a path",
    arguments: ["5", "true", "{\"a\":1}"]
  )
  func uidOfOtherKind(_ uid: String) throws {
    #expect(try RuleProbe(auth: "{\"uid\":\(uid)}").result("root.hasChild(auth.uid)") == .error)
  }

  @Test(
    "auth is null without sign-in",
    arguments: [
      ("auth == null", .yes), ("auth.uid !== 'x'", .yes), ("auth.foo.bar == null", .yes),
      ("auth['x'] == null", .yes), ("auth.contains('75')", .error), ("auth.uid == $key", .no),
      ("auth.dreams.length > 1 ? false : true", .error),
      ("auth != null && auth.x.length > 1", .no), ("auth.uid.matches(/x/)", .error),
    ] as [(String, ProbeResult)]
  )
  func noAuth(_ expression: String, _ expected: ProbeResult) throws {
    #expect(try RuleProbe(auth: "null").result(expression) == expected)
  }

  @Test("newData and query exist only in rules where they make sense")
  func names() throws {
    #expect(try RuleProbe(kind: .read).result("newData.exists()") == .rejected)
    #expect(try RuleProbe(kind: .write).result("query.orderByKey") == .rejected)
    #expect(try RuleProbe(kind: .validate).result("query.orderByKey") == .rejected)
    #expect(try RuleProbe(kind: .read).result("data.exists()") == .yes)
  }
}
