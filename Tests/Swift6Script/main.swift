// A script as programs on Linux have it: every call stands at the top level, and is awaited.
// `ExampleTests` runs it in both modes of Swift, and looks at what the server has afterwards.
import Foundation
import RealtimeDatabase

let database = try Database(url: CommandLine.arguments[1])
let root = database.reference(withPath: "script")
try await root.child("set").setValue(["title": "Hello", "at": ServerValue.timestamp()])
try await root.child("priority").setValue(1, andPriority: 2)
try await root.child("set-priority").setValue(1)
try await root.child("set-priority").setPriority("p")
try await root.updateChildValues(["update/a": 1, "update/b": 2])
try await root.child("removed").setValue(1)
try await root.child("removed").removeValue()
try await root.child("coded").setValue(from: ["a": 1])
_ = try await root.child("counted").runTransactionBlock { data in
  data.value = (data.value as? Int ?? 0) + 1
  return .success(withValue: data)
}
try await root.child("later/set").onDisconnectSetValue(1)
try await root.child("later/priority").onDisconnectSetValue(1, andPriority: 2)
try await root.child("later").onDisconnectUpdateChildValues(["update": 1])
try await root.child("later/removed").setValue(1)
try await root.child("later/removed").onDisconnectRemoveValue()
try await root.child("later/cancelled").onDisconnectSetValue(1)
try await root.child("later/cancelled").cancelDisconnectOperations()

// Each way to look at an error, where Swift believes that nothing else can be thrown.
let elsewhere = try Database(url: "http://127.0.0.1:1?ns=n")
elsewhere.goOffline()
do {
  _ = try await elsewhere.reference().getData()
} catch let error as NSError {
  print("at the top level: \(error.domain) \(error.code)")
}
for failure in Failure.allCases {
  let seen = await failure.seen()
  guard Set(seen) == [failure.expected] else { fatalError("\(failure): \(seen)") }
}
signOut()
print("\(Failure.allCases.count) errors, as expected")
