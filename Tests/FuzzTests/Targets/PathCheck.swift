import RealtimeCore

@testable import RealtimeServer
@testable import RealtimeTransport

/// Paths and escapes parse to what was encoded, and keys have one order.
enum PathCheck {
  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    let text = String(decoding: input, as: UTF8.self)
    try checkPath(Path(wire: text))
    try checkOrder(Path(wire: text).keys.prefix(12) + [".priority", "0", "-1", "a"])
    let escaped = PercentEncoding.encode(text)
    try demand(same(PercentEncoding.decode(escaped), text), "\(escaped) reads as something else")
    if let plain = PercentEncoding.decode(text) {
      let again = PercentEncoding.decode(PercentEncoding.encode(plain))
      try demand(same(again, plain), "\(plain) does not survive escaping")
    }
    guard let location = try? RESTPath.location(in: text + ".json") else { return }
    let target = location.keys.map { "/" + PercentEncoding.encode($0.text) }.joined() + ".json"
    guard location.keys.allSatisfy({ !$0.text.isEmpty }) else { return }
    try demand((try? RESTPath.location(in: target)) == location, "\(target) is another location")
  }

  private static func checkPath(_ path: Path) throws(BrokenProperty) {
    try demand(Path(wire: path.wireText) == path, "\(path.wireText) is another path")
    try demand(Path(wire: path.description) == path, "\(path) is another path")
    try demand(path.contains(path) && Path.root.contains(path), "\(path) does not contain itself")
    if let parent = path.parent, let last = path.last {
      try demand(parent.appending(last) == path, "\(path) is not below its parent")
      try demand(parent < path && !(path < parent), "\(path) comes before its parent")
      try demand(path.relative(to: parent) == Path([last]), "\(path) has another last key")
    }
    if Validation.problem(withPath: path) == nil {
      try demand(path.count <= Limits.depth, "\(path) is too deep")
    }
  }

  /// Keys are strictly ordered, and equal exactly when their code units are.
  private static func checkOrder(_ keys: some Collection<ChildKey>) throws(BrokenProperty) {
    for left in keys {
      for right in keys {
        let orders = [left < right, left == right, right < left].count { $0 }
        try demand(orders == 1, "\(left) and \(right) have \(orders) orders")
        try demand((left == right) == same(left.text, right.text), "\(left) is not \(right)")
        if left == right {
          try demand(left.hashValue == right.hashValue, "equal keys have two hash values")
        }
      }
    }
    let sorted = keys.sorted()
    for (position, key) in sorted.enumerated() {
      for later in sorted[position...] {
        try demand(!(later < key), "the order of \(key) and \(later) is inconsistent")
      }
    }
  }

  private static func same(_ left: String?, _ right: String) -> Bool {
    left.map { Array($0.utf16) == Array(right.utf16) } ?? false
  }
}
