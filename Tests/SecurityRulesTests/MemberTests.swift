import RealtimeCore
import RealtimeServer
import Testing

@Suite("Members and methods of rules")
struct MemberTests {
  @Test(
    "Members of auth keep their type and are null where missing",
    arguments: [
      ("auth.uid == 'alice'", .yes), ("auth['uid'] == 'alice'", .yes),
      ("auth['u' + 'id'] == 'alice'", .yes), ("auth[$key] == null", .yes),
      ("auth.token.email == 'a@b.c'", .yes), ("auth.token['email'] == 'a@b.c'", .yes),
      ("auth.token.groups.staff == true", .yes), ("auth.token.groups[$key] == null", .yes),
      ("auth.nothing[$key] == null", .yes), ("auth[1] == null", .rejected),
      ("auth[true] == null", .rejected), ("auth[auth.age] == null", .error),
      ("auth.age.foo == null", .error), ("auth.admin.foo == null", .error),
      ("auth.uid.foo == null", .error), ("auth.uid.length == 5", .yes),
      ("auth.contains('75')", .error), ("auth.foo.contains('75')", .error),
      ("auth.uid.contains('lic')", .yes), ("auth.val() == null", .rejected),
      ("auth.child('x') == null", .rejected), ("auth.uid.exists()", .rejected),
      ("auth.uid()", .rejected), ("auth.length() == 1", .rejected),
    ] as [(String, ProbeResult)]
  )
  func auth(_ expression: String, _ expected: ProbeResult) throws {
    #expect(try RuleProbe().result(expression) == expected)
  }

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

  @Test(
    "Snapshots reflect the data",
    arguments: [
      ("root.exists()", .yes), ("root.child('none').exists()", .no), ("data.exists()", .yes),
      ("root.child('n').val() == 5", .yes), ("root.child('o/b/c').val() == 2", .yes),
      ("root.child('/o//b/').child('c').val() == 2", .yes),
      ("root.child('none').val() == null", .yes),
      ("root.child('t').val().length < 100", .yes), ("root.child('s').val().length == 5", .yes),
      ("root.child('n').val().length == 5", .error), ("root.child('none').val().length == 5", .no),
      ("root.child('none').val().length < 5", .error),
      ("root.child('o').val().length == 1", .error),
      ("root.child('o').hasChild('a')", .yes), ("root.child('o').hasChild('b/c')", .yes),
      ("root.child('o').hasChild('x')", .no), ("root.child('o').hasChildren()", .yes),
      ("root.child('n').hasChildren()", .no), ("root.child('o').hasChildren(['a', 'b'])", .yes),
      ("root.child('o').hasChildren(['a', 'x'])", .no), ("root.hasChildren(['s', $key])", .no),
      ("root.child('things').hasChildren([$key])", .yes), ("root.hasChildren([auth.age])", .error),
      ("root.child('n').isNumber()", .yes), ("root.child('s').isNumber()", .no),
      ("root.child('s').isString()", .yes), ("root.child('o').isString()", .no),
      ("root.child('b').isBoolean()", .yes), ("root.child('none').isBoolean()", .no),
      ("root.child('p').getPriority() == 'x'", .yes),
      ("root.child('n').getPriority() == null", .yes),
      ("root.child('p').val() == 1", .yes), ("root.child('p/.priority').exists()", .no),
      ("root.child('p/.priority/x').parent().exists()", .no),
      ("root.child('o/b').parent().hasChild('a')", .yes), ("root.parent().exists()", .error),
      ("data.parent().parent().parent().exists()", .error),
      ("data.parent().parent().child('n').val() == 5", .yes),
      ("newData.parent().parent().child('n').val() == 5", .yes),
      ("newData.child('name').val() == 'new' && data.child('name').val() == 'old'", .yes),
      ("newData.child('n').val() == data.child('n').val() + 1", .yes),
      ("root.child('things').child($key).child('name').val() == 'old'", .yes),
      ("root.child('none/at/all').parent().parent().exists()", .no),
      ("root.child('banned/bob@example.com').exists()", .no),
      ("root.child('banned/bob@example.com').val() == null", .yes),
      ("root.child('a#b').exists() || root.hasChild('a[b]')", .no),
      ("root.child(auth.age).exists()", .error), ("root.child(auth.none).exists()", .error),
      ("root.hasChild(auth.none)", .error), ("root['exists']()", .yes),
      ("root['child']('n')['val']() == 5", .yes), ("root.child('list/1').val() == 'b'", .yes),
      ("root.child('').exists()", .yes),
      ("root.child('/o//' + 'b/').child('c').val() == 2", .yes),
      ("root.child('half').isNumber()", .yes), ("root.child('s').val().length > 0", .yes),
      ("root.child('s').val()['length'] > 0", .yes), ("root.child('n').val().length > 0", .error),
      ("(root.exists() ? root.child('s').val() : 'x').length > 0", .yes),
      ("(root.exists() ? auth : root.val()).uid == auth.uid", .yes),
      ("root.child('n').val() < 6 && 6 > root.child('n').val()", .yes),
      ("root.child('n').val() - 1 == -(-4) && root.child('n').val() + 1 == 6", .yes),
      ("'x' + root.child('n').val() == 'x5'", .yes),
    ] as [(String, ProbeResult)]
  )
  func snapshots(_ expression: String, _ expected: ProbeResult) throws {
    #expect(try RuleProbe().result(expression) == expected)
  }

  @Test(
    "Misuse of snapshots is rejected",
    arguments: [
      "root.foo == 1", "root.val == 1", "root.exists", "root.child()", "root.child(1).exists()",
      "root.child(true).exists()", "root.child(null).exists()", "root.child(root).exists()",
      "root.child('a', 'b').exists()", "root.parent('a').exists()", "root.exists(1)",
      "root.hasChild()", "root.hasChild(1)", "root.hasChildren([])", "root.hasChildren('a')",
      "root.hasChildren([1])", "root.hasChildren(['a', 1])", "root.hasChildren(['a', null])",
      "root.hasChildren([['a']])", "root.hasChildren(['a'], ['b'])", "root[$key]()",
      "root['foo']()", "root['exists']", "root[0]", "root.length == 1", "root.contains('x')",
      "root.isNumber(1)", "root.val(1) == 1", "root.getPriority('x') == 1", "root()",
      "root.val()() == 1", "root.hasOwnProperty('x')", "root.toString() == ''", "data.forEach(1)",
      "root.val().exists()", "root.exists().exists()", "root.val().notFound == false",
      "root.child('n').val().a == 1", "root.val()['a'] == 1", "root.val()[$key] == 1",
      "root.val().length() == 1", "root.getPriority().x == null", "(root.val() + 1).x == 1",
      "(root.exists() ? root.val() : null).x == 1", "root.val() && true", "-root.val().x == 1",
    ]
  )
  func misusedSnapshots(_ expression: String) throws {
    #expect(try RuleProbe().result(expression) == .rejected)
  }

  @Test(
    "Strings are treated as UTF-16 code units",
    arguments: [
      ("'abc'.length == 3", .yes), ("'\u{1F435}'.length == 2", .yes), ("''.length == 0", .yes),
      ("$key.length == 1", .yes), ("'abc'['length'] == 3", .yes), ("'abc'.contains('bc')", .yes),
      ("'abc'.contains('')", .yes), ("'abc'.contains('abcd')", .no),
      ("'aaab'.contains('aab')", .yes),
      ("'abababc'.contains('ababc')", .yes), ("'abc'.beginsWith('ab')", .yes),
      ("'abc'.beginsWith('b')", .no), ("'abc'.endsWith('bc')", .yes), ("'abc'.endsWith('b')", .no),
      ("'abc'.endsWith('')", .yes), ("'e\u{301}'.beginsWith('e')", .yes),
      ("'a.b.c'.replace('.', '') == 'abc'", .yes), ("'aaa'.replace('aa', 'b') == 'ba'", .yes),
      ("'abc'.replace('', 'x') == 'abc'", .yes), ("'abc'.replace('x', 'y') == 'abc'", .yes),
      ("'a$b'.replace('$', '$&') == 'a$&b'", .yes), ("'AbC'.toLowerCase() == 'abc'", .yes),
      ("'äb'.toUpperCase() == 'ÄB'", .yes), ("'ÄB'.toLowerCase() == 'äb'", .yes),
      ("'abc'.toUpperCase().contains('BC')", .yes),
      ("('a' + 'b').length == 2", .yes), ("auth.uid.toUpperCase() == 'ALICE'", .yes),
      ("auth.age.toUpperCase() == 'X'", .error), ("auth.none.toUpperCase() == 'X'", .error),
      ("auth.token.toUpperCase() == 'X'", .error), ("'abc'.contains(auth.age)", .error),
      ("'abc'.contains(auth.none)", .error), ("'abc'.replace('a', auth.none) == 'x'", .error),
      ("root.child('o').val().contains('a')", .error),
      ("root.child('s').val().contains('ell')", .yes),
      ("'abc'.matches(/b/)", .yes), ("auth.uid.matches(/^al/)", .yes),
      ("auth.age.matches(/3/)", .error),
      ("'abc'['contains']('b')", .yes), ("'it\\'s'.contains('\\'')", .yes),
    ] as [(String, ProbeResult)]
  )
  func strings(_ expression: String, _ expected: ProbeResult) throws {
    #expect(try RuleProbe().result(expression) == expected)
  }

  @Test(
    "Misuse of strings is rejected",
    arguments: [
      "'abc'.foo == 1", "'abc'.contains", "'abc'.length()", "'abc'.contains()", "'abc'.contains(1)",
      "'abc'.contains('a', 'b')", "'abc'.beginsWith(true)", "'abc'.replace('a') == 'b'",
      "'abc'.replace(1, 'b') == 'b'", "'abc'.replace(/a/, 'b') == 'b'",
      "'abc'.toLowerCase('x') == ''",
      "'abc'.matches('b')", "'abc'.matches()", "'abc'.matches(/a/, /b/)", "'abc'.matches(auth.uid)",
      "'abc'.matches(/a/g)", "'abc'.matches(/a/ii)", "'abc'.matches(/a)", "'abc'.contains(/a/)",
      "'abc'.substring(1) == 'bc'", "'abc'.val() == 'x'", "'abc'[0] == 'a'", "'abc'[$key] == 'a'",
      "(5).length == 1", "true.contains('x')", "null.length == 1", "'abc'.trim() == 'x'",
    ]
  )
  func misusedStrings(_ expression: String) throws {
    #expect(try RuleProbe().result(expression) == .rejected)
  }

  @Test("newData and query exist only in rules where they make sense")
  func names() throws {
    #expect(try RuleProbe(kind: .read).result("newData.exists()") == .rejected)
    #expect(try RuleProbe(kind: .write).result("query.orderByKey") == .rejected)
    #expect(try RuleProbe(kind: .validate).result("query.orderByKey") == .rejected)
    #expect(try RuleProbe(kind: .read).result("data.exists()") == .yes)
  }
}
