import Testing

/// A request to a server with known data, and the expected response.
struct RESTCase: Sendable, CustomTestStringConvertible {
  /// The data at the start.
  static let data = #"""
    {"users":{"ann":{"age":30,"name":"Ann"},"bob":{"age":7,"name":"Bob"},"cy":{"age":30,"name":"Cy"}},
    "list":["a","b","c"],"holes":{"2":"x","3":"y"},"n":5,"t":"text",
    "prio":{"x":{".value":1,".priority":3},"y":{".value":2,".priority":1},".priority":"p"},
    "values":{"a":3,"b":1,"c":2},"deep":{"p":{"v":{"w":2}},"q":{"v":{"w":1}}}}
    """#

  let method: String
  let target: String
  let sent: String?
  let lines: [String]
  let status: Int
  let body: String
  /// A line that the header must contain.
  let expected: (name: String, value: String)?

  init(
    _ method: String,
    _ target: String,
    _ sent: String?,
    lines: [String] = [],
    _ status: Int,
    _ body: String,
    line: (String, String)? = nil
  ) {
    self.method = method
    self.target = target.replacing("\"", with: "%22")
    self.sent = sent
    self.lines = lines
    self.status = status
    self.body = body
    expected = line
  }

  init(
    _ method: String,
    _ target: String,
    lines: [String] = [],
    _ status: Int,
    _ body: String,
    line: (String, String)? = nil
  ) {
    self.init(method, target, nil, lines: lines, status, body, line: line)
  }

  var testDescription: String { "\(method) \(target) \(sent ?? "") \(lines)" }

  static func error(_ text: String) -> String { #"{"error":"\#(text)"}"# }

  static let needsOrder = error("orderBy must be defined when other query parameters are defined")
  static let badOrder = error("orderBy must be a valid JSON encoded path")
  static let badBody = error("Invalid data; couldn't parse JSON object, array, or value.")
  static let noBody = error("Missing data; Perhaps you forgot to send the data.")
  static func badKey(_ place: String) -> String {
    error(
      "Invalid data; couldn't parse key beginning at \(place). Key value can't be empty or contain"
        + " $ # [ ] / or ."
    )
  }
  static let ann = #""ann":{"age":30,"name":"Ann"}"#
  static let bob = #""bob":{"age":7,"name":"Bob"}"#
  static let cy = #""cy":{"age":30,"name":"Cy"}"#

  static let reads: [RESTCase] = [
    RESTCase("GET", "/n.json", 200, "5", line: ("content-type", "application/json; charset=utf-8")),
    RESTCase("GET", "/n.json", 200, "5", line: ("cache-control", "no-cache")),
    RESTCase("GET", "/n.json", 200, "5", line: ("x-content-type-options", "nosniff")),
    RESTCase("GET", "/absent/x.json", 200, "null"),
    RESTCase("GET", "/users/ann/.json", 200, #"{"age":30,"name":"Ann"}"#),
    RESTCase("GET", "//users//ann.json", 200, #"{"age":30,"name":"Ann"}"#),
    RESTCase("GET", "/%75sers/ann/n%61me.json", 200, #""Ann""#),
    RESTCase("GET", "/n.json?ns=hearth", 200, "5"),
    RESTCase("GET", "http://elsewhere:1/n.json?ns=hearth", 200, "5"),
    RESTCase("GET", "HTTPS://elsewhere/users/ann/age.json", 200, "30"),
    RESTCase(
      "OPTIONS",
      "*",
      200,
      "",
      line: ("allow", "GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS")
    ),
    RESTCase("GET", "/prio/x/.priority.json", 200, "3"),
    RESTCase("GET", "/prio/.priority.json", 200, #""p""#),
    RESTCase("GET", "/n/.priority.json", 200, "null"),
    RESTCase("GET", "/n.json?unknown=1&disableTriggers=true&ac=x", 200, "5"),
    RESTCase("GET", "/n.json", lines: ["X-Firebase-AppCheck: x"], 200, "5"),
    RESTCase("GET", #"/n.json?auth_variable_override={"uid":"ann"}"#, 200, "5"),
    RESTCase("GET", "/n.json", lines: ["X-HTTP-Method-Override: DELETE"], 200, "5"),
    RESTCase("GET", "/n.json?x-http-method-override=DELETE", 200, "5"),
    RESTCase("HEAD", "/t.json", 200, "", line: ("content-length", "6")),
    RESTCase("GET", "/list.json", 200, #"["a","b","c"]"#),
    RESTCase("GET", "/holes.json", 200, #"[null,null,"x","y"]"#),
    RESTCase("GET", "/list.json?format=export", 200, #"{"0":"a","1":"b","2":"c"}"#),
    RESTCase("GET", "/prio.json", 200, #"{"x":1,"y":2}"#),
    RESTCase(
      "GET",
      "/prio.json?format=export",
      200,
      #"{"x":{".value":1,".priority":3},"y":{".value":2,".priority":1},".priority":"p"}"#
    ),
    RESTCase("GET", "/users.json?shallow=true", 200, #"{"ann":true,"bob":true,"cy":true}"#),
    RESTCase("GET", "/n.json?shallow=true", 200, "5"),
    RESTCase("GET", "/absent.json?shallow=true", 200, "null"),
    RESTCase("GET", "/users.json?shallow=true&limitToFirst=2", 200, #"{"ann":true,"bob":true}"#),
    RESTCase(
      "GET",
      "/users.json?shallow=true&limitToFirst=2&startAfter=ann",
      200,
      #"{"bob":true,"cy":true}"#
    ),
    RESTCase(
      "GET",
      "/users/bob.json?print=pretty",
      200,
      "{\n  \"age\": 7,\n  \"name\": \"Bob\"\n}\n"
    ),
    RESTCase("GET", "/n.json?print=silent", 204, ""),
    RESTCase(
      "GET",
      "/n.json?callback=a.b%24",
      200,
      "a.b$(5)",
      line: ("content-type", "application/javascript; charset=utf-8")
    ),
    RESTCase(
      "GET",
      "/n.json?download=a%22b%0D%0A.json",
      200,
      "5",
      line: ("content-disposition", #"attachment; filename="a_b__.json""#)
    ),
    RESTCase("GET", "/n.json?timeout=3s", 200, "5"),
    RESTCase("GET", "/n.json?timeout=15min", 200, "5"),
    RESTCase("GET", "/n.json?timeout=10ms&writeSizeLimit=tiny", 200, "5"),
    RESTCase(
      "OPTIONS",
      "/n.json",
      200,
      "",
      line: ("allow", "GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS")
    ),
  ]

  static let queries: [RESTCase] = [
    RESTCase("GET", "/users.json?orderBy=%22%24key%22&startAt=%22bob%22", 200, "{\(bob),\(cy)}"),
    RESTCase("GET", #"/users.json?orderBy="$key"&endAt="bob""#, 200, "{\(ann),\(bob)}"),
    RESTCase("GET", #"/users.json?orderBy="$key"&equalTo="bob""#, 200, "{\(bob)}"),
    RESTCase("GET", #"/users.json?orderBy="$key"&startAfter="bob""#, 200, "{\(cy)}"),
    RESTCase("GET", #"/users.json?orderBy="$key"&endBefore="bob""#, 200, "{\(ann)}"),
    RESTCase("GET", #"/users.json?orderBy="age"&equalTo=30"#, 200, "{\(ann),\(cy)}"),
    RESTCase("GET", #"/users.json?orderBy="age"&equalTo=30,"cy""#, 200, "{\(cy)}"),
    RESTCase("GET", #"/users.json?orderBy="age"&startAt=30,"b""#, 200, "{\(cy)}"),
    RESTCase("GET", #"/users.json?orderBy="age"&startAfter=7"#, 200, "{\(ann),\(cy)}"),
    RESTCase("GET", #"/users.json?orderBy="age"&endBefore=30"#, 200, "{\(bob)}"),
    RESTCase("GET", #"/users.json?orderBy="age"&limitToLast=1"#, 200, "{\(cy)}"),
    RESTCase("GET", #"/users.json?orderBy="age"&limitToFirst=1"#, 200, "{\(bob)}"),
    RESTCase("GET", #"/users.json?orderBy="age"&equalTo=null"#, 200, "null"),
    RESTCase("GET", #"/users.json?orderBy="name"&startAt="B"&endAt="C""#, 200, "{\(bob)}"),
    RESTCase("GET", #"/values.json?orderBy="$value"&startAt=2"#, 200, #"{"a":3,"c":2}"#),
    RESTCase("GET", #"/prio.json?orderBy="$priority"&limitToFirst=1"#, 200, #"{"y":2}"#),
    RESTCase("GET", #"/deep.json?orderBy="v/w"&endAt=1"#, 200, #"{"q":{"v":{"w":1}}}"#),
    RESTCase("GET", #"/list.json?orderBy="$key"&limitToLast=1"#, 200, #"{"2":"c"}"#),
    RESTCase("GET", #"/n.json?orderBy="$key"&limitToLast=1"#, 200, "null"),
  ]

  static let refusals: [RESTCase] = [
    RESTCase("GET", "/users.json?limitToFirst=1", 400, needsOrder),
    RESTCase("GET", "/users.json?startAt=1", 400, needsOrder),
    RESTCase("GET", "/users.json?orderBy=age", 400, badOrder),
    RESTCase("GET", "/users.json?orderBy=%22a.b%22", 400, badOrder),
    RESTCase("GET", "/users.json?orderBy=%22%22", 400, badOrder),
    RESTCase("GET", "/users.json?orderBy=%ZZ", 400, badOrder),
    RESTCase(
      "GET",
      #"/users.json?orderBy="$key"&startAt=5"#,
      400,
      error(#"startAt must be a JSON string when orderBy is \"$key\""#)
    ),
    RESTCase(
      "GET",
      #"/users.json?orderBy="age"&startAt={}"#,
      400,
      error("startAt must be a JSON primitive, with or without a key after a comma")
    ),
    RESTCase(
      "GET",
      #"/users.json?orderBy="age"&startAt=1&startAfter=1"#,
      400,
      error("startAt and startAfter cannot be combined")
    ),
    RESTCase(
      "GET",
      #"/users.json?orderBy="age"&startAt=1&equalTo=1"#,
      400,
      error("equalTo cannot be combined with other bounds")
    ),
    RESTCase(
      "GET",
      #"/users.json?orderBy="age"&limitToFirst=1&limitToLast=1"#,
      400,
      error("limitToFirst and limitToLast cannot be combined")
    ),
    RESTCase(
      "GET",
      #"/users.json?orderBy="age"&limitToLast=0"#,
      400,
      error("limitToLast must be a positive whole number")
    ),
    RESTCase(
      "GET",
      #"/users.json?orderBy="age"&limitToFirst=2147483648"#,
      400,
      error("limitToFirst must be a positive whole number")
    ),
    RESTCase(
      "GET",
      #"/users.json?orderBy="age"&startAt=30,"a.b""#,
      400,
      error("the key of startAt must be a JSON string that is a valid key")
    ),
    RESTCase("GET", "/n.json?print=loud", 400, error("print must be pretty or silent")),
    RESTCase("GET", "/n.json?format=xml", 400, error("format must be export")),
    RESTCase(
      "GET",
      "/n.json?callback=alert(1)",
      400,
      error("callback must be the name of a function")
    ),
    RESTCase("GET", "/n.json?callback=1a", 400, error("callback must be the name of a function")),
    RESTCase("GET", "/n.json?callback=a..b", 400, error("callback must be the name of a function")),
    RESTCase("PUT", "/n.json?callback=a", "1", 400, error("callback is for GET only")),
    RESTCase(
      "GET",
      "/n.json?timeout=16min",
      400,
      error("timeout must be a time up to 15min, such as 100ms, 3s or 2min")
    ),
    RESTCase("GET", "/n.json?ns=other", 404, error("there is no database with this name here")),
    RESTCase(
      "GET",
      "/.other/rules.json",
      404,
      error("this server has nothing at /.other")
    ),
    RESTCase("GET", "/n", 404, "append .json to your request URI to use the REST API.\n"),
    RESTCase("GET", "/", 404, "append .json to your request URI to use the REST API.\n"),
    RESTCase(
      "TRACE",
      "/n.json",
      405,
      error("the method must be one of GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS"),
      line: ("allow", "GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS")
    ),
    RESTCase("PUT", "/n.json", 400, noBody),
    RESTCase("PUT", "/n.json", " \n", 400, noBody),
    RESTCase("POST", "/n.json", 400, noBody),
    RESTCase("PATCH", "/n.json", 400, noBody),
    RESTCase("PUT", "/n.json", "{a:1}", 400, badBody),
    RESTCase("PUT", "/n.json", "1e400", 400, badBody),
    RESTCase("PATCH", "/n.json", "[1]", 400, badBody),
    RESTCase("PATCH", "/n.json", "5", 400, badBody),
    RESTCase(
      "PUT",
      "/n.json",
      #"{"a$b":1}"#,
      400,
      badKey("1:2")
    ),
    RESTCase("PUT", "/.json", #"{".foo":1}"#, 400, badKey("1:2")),
    RESTCase("PUT", "/.json", #"{"":1}"#, 400, badKey("1:2")),
    RESTCase("PUT", "/.json", #"{"":null}"#, 400, badKey("1:2")),
    RESTCase("PUT", "/.json", "{\"a\":1,\n \"b\":{\".key\":1}}", 400, badKey("2:7")),
    RESTCase("POST", "/users.json", #"{"a":[{"b/c":1}]}"#, 400, badKey("1:8")),
    RESTCase("PATCH", "/.json", #"{"":1}"#, 400, badKey("1:2")),
    RESTCase("PATCH", "/.json", #"{"/":1}"#, 400, badKey("1:2")),
    RESTCase("PATCH", "/.json", #"{"//":null}"#, 400, badKey("1:2")),
    RESTCase("PATCH", "/.json", #"{".value":1,"b":2}"#, 400, badKey("1:2")),
    RESTCase("PATCH", "/.json", #"{"a/.value":1}"#, 400, badKey("1:2")),
    RESTCase("PATCH", "/.json", #"{"users/ann":{"x/y":1}}"#, 400, badKey("1:15")),
    RESTCase("PATCH", "/.json", #"{"a/.priority/b":1}"#, 400, badKey("1:2")),
    RESTCase(
      "PUT",
      "/.json",
      #"{"a":{".value":1,"b":2}}"#,
      400,
      error("Invalid data; .value cannot be combined with b")
    ),
    RESTCase(
      "PUT",
      "/n.json",
      #"{".sv":"timestamp","b":2}"#,
      400,
      error("Invalid data; .sv cannot be combined with b")
    ),
    RESTCase("PUT", "/n.json", #""\ud83d""#, 400, badBody),
    RESTCase("GET", "/.inspect/databases.json", 401, error("Permission denied")),
    RESTCase(
      "PUT",
      "/a%2Fb.json",
      "1",
      400,
      error("a key cannot contain '/' (nor any of . # $ [ ] /)")
    ),
    RESTCase(
      "PUT",
      "/a%00.json",
      "1",
      400,
      error("a key cannot contain control characters; this one has byte 0")
    ),
    RESTCase("GET", "/a%zz.json", 400, error("Invalid path: Invalid token in path")),
    RESTCase("GET", "/a%C3%28.json", 400, error("Invalid path: Invalid token in path")),
    RESTCase(
      "PATCH",
      "/n.json",
      #"{"a":1,"a/b":2}"#,
      400,
      error("Invalid data; the paths /a and /a/b of one update overlap")
    ),
    RESTCase(
      "POST",
      "/n.json",
      "1",
      lines: ["X-HTTP-Method-Override: FLY"],
      405,
      error("the method must be one of GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS")
    ),
    RESTCase(
      "PUT",
      "/n.json?print=silent",
      "1",
      lines: ["if-match: x"],
      400,
      error("if-match cannot be combined with print=silent")
    ),
    RESTCase(
      "PATCH",
      "/n.json",
      "{}",
      lines: ["if-match: x"],
      400,
      error("if-match is for PUT and DELETE only")
    ),
    RESTCase(
      "GET",
      "/n.json",
      lines: ["Origin: http://localhost"],
      403,
      error("requests from web pages are not allowed") + "\n"
    ),
    RESTCase(
      "GET",
      "/n.json?callback=f",
      lines: ["Sec-Fetch-Site: cross-site"],
      403,
      error("requests from web pages are not allowed") + "\n"
    ),
  ]

  /// Each write is followed by a read of the data.
  static let writes: [(RESTCase, String, String)] = [
    (
      RESTCase("PUT", "/n.json", #"{"b":[1,2],"a":null}"#, 200, #"{"b":[1,2]}"#), "/n.json",
      #"{"b":[1,2]}"#
    ),
    (RESTCase("PUT", "/n.json?print=silent", "6", 204, ""), "/n.json", "6"),
    (
      RESTCase("PUT", "/n.json?print=pretty", #"{"a":1}"#, 200, "{\n  \"a\": 1\n}\n"), "/n/a.json",
      "1"
    ),
    (
      RESTCase("PUT", "/n.json", #"{".sv":"timestamp"}"#, 200, "1700000000000"), "/n.json",
      "1700000000000"
    ),
    (RESTCase("PUT", "/n.json", #"{".sv":{"increment":2}}"#, 200, "7"), "/n.json", "7"),
    (
      RESTCase(
        "PUT",
        "/n.json?format=export",
        #"{".value":1,".priority":2}"#,
        200,
        #"{".value":1,".priority":2}"#
      ), "/n.json?format=export", #"{".value":1,".priority":2}"#
    ),
    (
      RESTCase("PUT", "/n/.priority.json", "9", 200, "9"), "/n.json?format=export",
      #"{".value":5,".priority":9}"#
    ),
    (RESTCase("PUT", "/.json", "{}", 200, "null"), "/.json", "null"),
    (
      RESTCase("PUT", "/%C3%A9/a%20b.json", "1", 200, "1"), "/.json?shallow=true&limitToLast=1",
      #"{"é":true}"#
    ),
    (
      RESTCase(
        "PATCH",
        "/users.json",
        #"{"ann/age":31,"bob":null}"#,
        200,
        #"{"ann/age":31,"bob":null}"#
      ),
      "/users.json", #"{"ann":{"age":31,"name":"Ann"},\#(cy)}"#
    ),
    (
      RESTCase(
        "PATCH",
        "/users.json",
        #"{"ann/age":{".sv":{"increment":1}}}"#,
        200,
        #"{"ann/age":31}"#
      ),
      "/users/ann/age.json", "31"
    ),
    (RESTCase("PATCH", "/n.json", "{}", 200, "{}"), "/n.json", "5"),
    (RESTCase("DELETE", "/users/ann.json", 200, "null"), "/users.json", "{\(bob),\(cy)}"),
    (RESTCase("DELETE", "/absent.json", 200, "null"), "/n.json", "5"),
    (RESTCase("PATCH", "/n.json", "null", 200, "null"), "/n.json", "null"),
    (RESTCase("PATCH", "/users.json", " null ", 200, "null"), "/users.json", "null"),
    (
      RESTCase("POST", "/n.json", "6", lines: ["X-HTTP-Method-Override: PUT"], 200, "6"), "/n.json",
      "6"
    ),
    (RESTCase("POST", "/n.json?x-http-method-override=DELETE", 200, "null"), "/n.json", "null"),
    (
      RESTCase(
        "POST",
        "/users/ann.json",
        #"{"age":1}"#,
        lines: ["X-HTTP-Method-Override: patch"],
        200,
        #"{"age":1}"#
      ), "/users/ann.json", #"{"age":1,"name":"Ann"}"#
    ),
  ]
}
