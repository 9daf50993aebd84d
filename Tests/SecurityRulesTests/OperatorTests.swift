import RealtimeServer
import Testing

@Suite("Operators and literals of rules")
struct OperatorTests {
  @Test(
    "Arithmetic takes only numbers, and division by zero gives NaN",
    arguments: [
      ("1 + 2 * 3 == 7", .yes), ("(1 + 2) * 3 == 9", .yes), ("7 - 2 - 1 == 4", .yes),
      ("8 / 4 / 2 == 1", .yes), ("7 % 4 == 3", .yes), ("-7 % 4 == -3", .yes),
      ("- -3 == 3", .yes), ("1.5e2 == 150", .yes), (".5 + .5 == 1", .yes),
      ("0.1 + 0.2 == 0.3", .no), ("1/0 == 1/0", .no), ("(1/0) > 2", .no), ("(1/0) <= 2", .no),
      ("1/0 + '' == 'NaN'", .yes), ("5 % 0 + '' == 'NaN'", .yes), ("0 / 0 != 0", .yes),
      ("auth.age - 1 == 29", .yes), ("auth.none - 1 == 29", .error), ("auth.uid * 2 == 2", .error),
      ("-auth.uid == 2", .error), ("-auth.age == -30", .yes), ("auth.admin / 2 == 1", .error),
      ("'a' - 1 == 1", .rejected), ("1 * true == 1", .rejected), ("null % 2 == 0", .rejected),
      ("-'a' == 1", .rejected), ("-true == 1", .rejected), ("root - 1 == 1", .rejected),
      ("now == 1700000000000", .yes), ("now + 1 > now", .yes),
    ] as [(String, ProbeResult)]
  )
  func arithmetic(_ expression: String, _ expected: ProbeResult) throws {
    #expect(try RuleProbe().result(expression) == expected)
  }

  @Test(
    "Plus adds numbers and joins strings",
    arguments: [
      ("'one' + 1 == 'one1'", .yes), ("1 + 'one' == '1one'", .yes), ("'a' + 'b' == 'ab'", .yes),
      ("1.5 + 'x' == '1.5x'", .yes), ("100 + '' == '100'", .yes), ("1e21 + '' == '1e+21'", .yes),
      ("1e20 + '' == '100000000000000000000'", .yes), ("0.000001 + '' == '0.000001'", .yes),
      ("1e-7 + '' == '1e-7'", .yes), ("-2.5e-10 + '' == '-2.5e-10'", .yes),
      ("1.25e25 + '' == '1.25e+25'", .yes), ("-0 + '' == '0'", .yes), ("0.5 + '' == '0.5'", .yes),
      ("1234.5 + '' == '1234.5'", .yes), ("(1 + auth.uid) == '1alice'", .yes),
      ("(1 + auth.uid) == 2", .no), ("(1 + auth.none) == 2", .error),
      ("('' + auth.none) == ''", .error), ("(auth.admin + 'x') == 'x'", .error),
      ("(auth.token + 'x') == 'x'", .error), ("('x' + root.child('o').val()) == 'x'", .error),
      ("'a' + null == 'a'", .rejected), ("'a' + true == 'a'", .rejected),
      ("1 + null == 1", .rejected), ("data + 'x' == 'x'", .rejected),
    ] as [(String, ProbeResult)]
  )
  func plus(_ expression: String, _ expected: ProbeResult) throws {
    #expect(try RuleProbe().result(expression) == expected)
  }

  @Test(
    "Equality never converts types",
    arguments: [
      ("1 == 1.0", .yes), ("1 === 1", .yes), ("1 !== 2", .yes), ("1 != 1", .no),
      ("'a' == \"a\"", .yes), ("'one' == 1", .no), ("'1' != 1", .yes), ("true == true", .yes),
      ("true == 1", .no), ("null == null", .yes), ("null == false", .no), ("'' == null", .no),
      ("auth.none == null", .yes), ("auth.not.found == null", .yes), ("auth == null", .no),
      ("auth != null", .yes), ("auth.uid !== 'x'", .yes), ("auth.foo == null", .yes),
      ("auth.token != null", .yes), ("auth.token == 'x'", .no),
      ("auth.token == auth.token", .error),
      ("root.child('o').val() != null", .yes), ("root.child('o').val() == 1", .no),
      ("root.child('o').val() == root.child('o').val()", .error),
      ("root.child('o').val() != newData.val()", .error),
      ("'\u{E9}' == 'e\u{301}'", .no), ("'\\u00e9' == '\u{E9}'", .yes), ("'\\x41' == 'A'", .yes),
      ("'it\\'s' == \"it's\"", .yes), ("'a\\\\b' == 'a\\x5cb'", .yes), ("'\\n' == '\\x0a'", .yes),
      ("root != null", .rejected), ("root.child('foo') != null", .rejected),
      ("data == newData", .rejected), ("1 == 2 == false", .yes),
    ] as [(String, ProbeResult)]
  )
  func equality(_ expression: String, _ expected: ProbeResult) throws {
    #expect(try RuleProbe().result(expression) == expected)
  }

  @Test(
    "Ordering compares two numbers or two strings",
    arguments: [
      ("1 < 2", .yes), ("2 <= 2", .yes), ("2 > 2", .no), ("2 >= 3", .no), ("'a' < 'b'", .yes),
      ("'Z' < 'a'", .yes), ("'a' >= 'a'", .yes), ("'\u{1F435}' < '\u{E000}'", .yes),
      ("'foo' > auth.foo", .error), ("auth.uid < 5", .error), ("auth.age < 31", .yes),
      ("auth.age >= 31", .no), ("auth.admin > 0", .error), ("auth.token < 'x'", .error),
      ("root.child('o').val() < 5", .error), ("'one' > 1", .rejected), ("1 <= 'x'", .rejected),
      ("root.val() > true", .rejected), ("true < false", .rejected), ("auth.age > null", .rejected),
      ("data > 1", .rejected), ("1 < 2 == true", .yes), ("$key < 'l'", .yes),
    ] as [(String, ProbeResult)]
  )
  func order(_ expression: String, _ expected: ProbeResult) throws {
    #expect(try RuleProbe().result(expression) == expected)
  }

  @Test(
    "Logical operators take booleans and short-circuit",
    arguments: [
      ("true && true", .yes), ("true && false", .no), ("false || true", .yes), ("!false", .yes),
      ("!!true", .yes), ("true || false && false", .yes), ("(true || false) && false", .no),
      ("false && auth.x.length > 1", .no), ("true || auth.x.length > 1", .yes),
      ("auth.x.length > 1 || true", .error), ("auth.x.length > 1 && false", .error),
      ("!(auth.x.length > 1)", .error), ("auth.x.length > 1 ? false : true", .error),
      ("true ? true : auth.x.length > 1", .yes), ("auth != null && auth.uid.length > 1", .yes),
      ("true ? false : true", .no), ("false ? false : true ? true : false", .yes),
      ("(auth.age > 18 ? 'adult' : 'minor') == 'adult'", .yes),
      ("(true ? null : auth.uid) == null", .yes), ("(true ? root : data).exists()", .yes),
      ("auth.admin", .rejected), ("auth.admin == true", .yes), ("auth.admin && true", .rejected),
      ("true && auth.admin", .rejected), ("auth.admin || true", .rejected),
      ("!auth.admin", .rejected), ("auth.admin ? true : false", .rejected),
      ("true ? auth.admin : false", .rejected), ("true ? 7 : true", .rejected),
      ("(true ? 'x' : 1) == 1", .rejected), ("(true ? root : null) == null", .rejected),
      ("1", .rejected), ("'true'", .rejected), ("null", .rejected), ("root", .rejected),
      ("root.val()", .rejected), ("now", .rejected), ("$key", .rejected), ("!1", .rejected),
      ("true && 'x'", .rejected), ("1 || true", .rejected), ("null ? true : false", .rejected),
    ] as [(String, ProbeResult)]
  )
  func logic(_ expression: String, _ expected: ProbeResult) throws {
    #expect(try RuleProbe().result(expression) == expected)
  }

  @Test(
    "Anything outside the language is rejected",
    arguments: [
      "", " ", "x = 1", "data = true", "true;", "var x", "2 ** 3 == 8", "typeof auth == 'object'",
      "alert('x')", "auth()", "foo == null", "Math.max(1, 2) == 2", "true & true", "true | true",
      "{} == null", "[1] == 1", "[] == null", "/a/ == null", "(true", "true)", "true true", "1 +",
      "&& true", "'abc == null", "auth.", "auth..uid == 1", "auth[ == 1", "? true : false",
      "true ? true", "1.2.3 == 1", "0x10 == 16", "12abc == 1", "auth.uid == 'a\nb'", "`x` == 'x'",
      "this == null", "undefined == null", "auth.uid == @", "new Date() == 1", "~1 == 1",
      "1 << 2 == 4", "'a' in auth", "auth?.uid == 'x'", "true ?? false", "'\\u12' == 'x'",
      "'\\ud800' == 'x'", "now() == 1", "true.x == 1", "(1).x == 1", "null.x == 1", "5()",
      "$ == ''",
      "$other == 'x'", "function() { true }", "#",
    ]
  )
  func notTheLanguage(_ expression: String) throws {
    #expect(try RuleProbe().result(expression) == .rejected)
  }
}
