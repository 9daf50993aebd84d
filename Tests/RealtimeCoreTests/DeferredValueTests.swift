import RealtimeCore
import Testing

@Suite("Server values")
struct DeferredValueTests {
  @Test(
    "are resolved against the existing data",
    arguments: [
      (#"{".sv":"timestamp"}"#, "null", "1000"),
      (#"{".sv":{"increment":1}}"#, "100", "101"),
      (#"{".sv":{"increment":1}}"#, "null", "1"),
      (#"{".sv":{"increment":5}}"#, #""x""#, "5"),
      (#"{".sv":{"increment":5}}"#, "true", "5"),
      (#"{".sv":{"increment":7}}"#, #"{"a":1}"#, "7"),
      (#"{".sv":{"increment":0.5}}"#, "null", "0.5"),
      (#"{".sv":{"increment":0.5}}"#, "1.5", "2"),
      (#"{".sv":{"increment":-1}}"#, "0", "-1"),
      (#"{".sv":{"increment":1}}"#, #"{".value":4,".priority":9}"#, "5"),
      (#"{".sv":{"increment":1}}"#, "9223372036854775807", "9223372036854775808"),
      (
        #"{"n":{".sv":{"increment":2}},"t":{".sv":"timestamp"},"u":{".sv":"timestamp"}}"#,
        #"{"n":1,"t":5}"#, #"{"n":3,"t":1000,"u":1000}"#
      ),
      (
        #"{".value":{".sv":"timestamp"},".priority":{".sv":"timestamp"}}"#, "null",
        #"{".value":1000,".priority":1000}"#
      ),
      (
        #"{"a":1,".priority":{".sv":{"increment":2}}}"#, #"{"b":1,".priority":3}"#,
        #"{"a":1,".priority":5}"#
      ),
    ]
  )
  func resolution(write: String, existing: String, expected: String) throws {
    let node = try Node(text: write)
    #expect(node.hasDeferredValues)
    let resolved = node.resolvingDeferred(existing: try Node(text: existing), timestamp: 1_000)
    #expect(resolved == (try Node(text: expected)))
    #expect(!resolved.hasDeferredValues)
  }

  @Test("leave the existing value unchanged if the sum is not finite")
  func infinity() {
    let node = Node.leaf(.deferred(.incrementDouble(1e308)))
    let existing = Node.leaf(.double(1.7e308))
    #expect(node.resolvingDeferred(existing: existing, timestamp: 0) == existing)
    #expect(node.overflows(addedTo: existing))
    #expect(!node.overflows(addedTo: .leaf(.double(-1.7e308))))
    #expect(!node.overflows(addedTo: .empty))
  }

  @Test(
    "are encoded unresolved",
    arguments: [
      #"{".sv":"timestamp"}"#, #"{".sv":{"increment":1}}"#, #"{".sv":{"increment":0.5}}"#,
      #"{".sv":{"increment":-9223372036854775808}}"#,
    ]
  )
  func wire(text: String) throws {
    #expect(try Node(text: text).exportText == text)
    #expect(try !Node(text: text).hasUnknownDeferredValues)
  }

  @Test(
    "are detected when unknown, so that a server can reject them",
    arguments: [
      #"{".sv":"now"}"#, #"{".sv":5}"#, #"{".sv":null}"#, #"{".sv":{"increment":"1"}}"#,
      #"{".sv":{"increment":1,"x":2}}"#, #"{".sv":{}}"#, #"{"a":{"b":{".sv":[1]}}}"#,
      #"{"a":1,".priority":{".sv":"now"}}"#,
    ]
  )
  func unknown(text: String) throws {
    let node = try Node(text: text)
    #expect(node.hasUnknownDeferredValues)
    #expect(node.exportText == text)
  }

  @Test("are found at any depth, and only where they exist")
  func detection() throws {
    #expect(try Node(text: #"{"a":{"b":{".sv":"timestamp"}}}"#).hasDeferredValues)
    #expect(
      try Node(text: #"{"a":{".value":1,".priority":{".sv":"timestamp"}}}"#).hasDeferredValues
    )
    #expect(try !Node(text: #"{"a":{"b":1}}"#).hasDeferredValues)
    #expect(!Node.empty.hasDeferredValues)
  }
}
