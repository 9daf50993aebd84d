import TestSupport
import Testing

@testable import RealtimeCore

@Suite("SortedMap")
struct SortedMapTests {
  typealias Map = SortedMap<Int, Int>

  /// A version of a map with its permanent content.
  struct Version {
    var map: Map
    var model: [Int: Int]
  }

  static func isEqual(_ map: Map, _ model: [Int: Int]) -> Bool {
    let keys = model.keys.sorted()
    return map.count == model.count
      && map.isEmpty == model.isEmpty
      && map.map(\.key) == keys
      && map.map(\.value) == keys.map { model[$0] }
      && Array(map.descending { _ in true }.map(\.key)) == Array(keys.reversed())
      && map.first?.key == keys.first && map.last?.key == keys.last
  }

  @Test(
    "matches a dictionary through random changes to shared copies",
    arguments: 1...8 as ClosedRange<UInt64>
  )
  func model(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var versions = [Version(map: Map(), model: [:])]
    let range = [40, 400, 4_000][Int(seed % 3)]
    for step in 0..<6_000 {
      let index = Int.random(in: 0..<versions.count, using: &random)
      if versions.count < 12, step % 97 == 0 { versions.append(versions[index]) }
      let grows = (step / 1_000) % 2 == 0
      let key = Int.random(in: 0..<range, using: &random)
      if Int.random(in: 0..<10, using: &random) < (grows ? 8 : 2) {
        let old = versions[index].map.updateValue(step, forKey: key)
        #expect(old == versions[index].model.updateValue(step, forKey: key))
      } else {
        let old = versions[index].map.removeValue(forKey: key)
        #expect(old == versions[index].model.removeValue(forKey: key))
      }
      if step % 500 == 0 {
        for version in versions { #expect(Self.isEqual(version.map, version.model)) }
      }
    }
    for version in versions { #expect(Self.isEqual(version.map, version.model)) }
  }

  @Test("matches a sorted array on bounds and neighbors", arguments: [0, 1, 31, 32, 33, 700])
  func searches(size: Int) {
    var random = SplitMix64(seed: UInt64(size))
    var map = Map()
    for key in (0..<size).shuffled(using: &random) { map[key * 2] = key }
    let keys = (0..<size).map { $0 * 2 }
    for bound in -1...(size * 2) {
      #expect(map.entry(before: bound)?.key == keys.last { $0 < bound })
      let from = map.ascending { $0 < bound }.prefix(5).map(\.key)
      #expect(from == Array(keys.filter { $0 >= bound }.prefix(5)))
      let to = map.descending { $0 <= bound }.prefix(5).map(\.key)
      #expect(to == Array(keys.reversed().filter { $0 <= bound }.prefix(5)))
      #expect(map[bound] == (keys.contains(bound) ? bound / 2 : nil))
      #expect(map.keys { $0 % 3 == 0 && $0 < bound } == keys.filter { $0 % 3 == 0 && $0 < bound })
    }
  }

  @Test("is built in bulk at any size and stays valid through later changes")
  func bulk() {
    for size in Thoroughness.third(of: 0...3_000) {
      let entries = (0..<size).map { (key: $0, value: -$0) }
      var map = Map(sorted: entries)
      let isWhole = map.count == size && map.elementsEqual(entries) { $0 == $1 }
      #expect(isWhole, "\(size)")
      guard size > 0, size % 37 == 0 else { continue }
      var random = SplitMix64(seed: UInt64(size))
      var left = Array(0..<size).shuffled(using: &random)
      while let key = left.popLast() {
        let removed = map.removeValue(forKey: key)
        #expect(removed == -key)
        if left.count % 101 == 0 { #expect(map.map(\.key) == left.sorted()) }
      }
      #expect(map.isEmpty)
    }
  }

  @Test("matches a set if its values are Void", arguments: 1...4 as ClosedRange<UInt64>)
  func keysAlone(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var map = SortedMap<Int, Void>()
    var model: Set<Int> = []
    for step in 0..<20_000 {
      let key = Int.random(in: 0..<5_000, using: &random)
      if Int.random(in: 0..<10, using: &random) < (step < 10_000 ? 8 : 1) {
        map.updateValue((), forKey: key)
        model.insert(key)
      } else {
        let removed: Void? = map.removeValue(forKey: key)
        #expect((removed == nil) == (model.remove(key) == nil))
      }
      if step % 1_000 == 999 {
        let sorted = model.sorted()
        let middle = sorted.count / 2
        #expect(map.map(\.key) == sorted)
        #expect(map.entry(before: sorted[middle])?.key == sorted[middle - 1])
      }
    }
  }

  @Test("keeps an old version unchanged while a copy is emptied and refilled")
  func persistence() {
    let entries = (0..<5_000).map { (key: $0, value: $0) }
    let original = Map(sorted: entries)
    var copy = original
    for key in 0..<5_000 { copy.removeValue(forKey: key) }
    for key in 0..<5_000 { copy[key + 10_000] = key }
    #expect(original.elementsEqual(entries) { $0 == $1 })
    #expect(copy.count == 5_000)
  }

  @Test("keeps an old version unchanged when a copy is modified in place")
  func modification() {
    let original = Map(sorted: (0..<1_000).map { (key: $0, value: $0) })
    var copy = original
    for key in 0..<1_000 {
      let before = copy.modify(key) { value in
        defer { value += 1 }
        return value
      }
      #expect(before == key)
    }
    #expect(copy.modify(5_000) { $0 } == nil)
    #expect(original.allSatisfy { $0.key == $0.value })
    #expect(copy.allSatisfy { $0.key + 1 == $0.value })
  }

  @Test("fills its nodes when keys arrive in ascending order")
  func ascending() {
    var map = Map()
    for key in 0..<10_000 { map[key] = key }
    #expect(Shape(of: map).nodes < 10_000 / 12)
    #expect(map.map(\.key) == Array(0..<10_000))
  }

  @Test(
    "is a valid tree while keys arrive at the end and leave anywhere",
    arguments: 1...8 as ClosedRange<UInt64>
  )
  func ascendingAndRemoved(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var map = Map()
    var model: [Int: Int] = [:]
    var next = 0
    for step in 0..<8_000 {
      if Int.random(in: 0..<10, using: &random) < ((step / 1_000) % 2 == 0 ? 8 : 2) {
        next += 1
        map[next] = step
        model[next] = step
      } else {
        // Mostly at the end, where nodes have fewest entries.
        let isNearEnd = Bool.random(using: &random)
        let low = isNearEnd ? max(0, next - 40) : 0
        let key = Int.random(in: low...next, using: &random)
        #expect(map.removeValue(forKey: key) == model.removeValue(forKey: key))
      }
      if step % 100 == 0 { #expect(Shape(of: map).isValid) }
    }
    #expect(Self.isEqual(map, model))
  }

  /// What the nodes of a map look like.
  private struct Shape {
    private(set) var nodes = 0
    /// Whether all leaves are equally deep, and every node has as many entries and children as it
    /// may have.
    private(set) var isValid = true
    private var depths: Set<Int> = []

    init(of map: Map) {
      if let root = map.root { visit(root, at: 0) }
      if depths.count > 1 { isValid = false }
    }

    private mutating func visit(_ node: SortedMapNode<Int, Int>, at depth: Int) {
      nodes += 1
      let below = node.children.reduce(0) { $0 + $1.count }
      if node.keys.isEmpty || node.keys.count > 15 || node.values.count != node.keys.count
        || node.count != node.keys.count + below
      {
        isValid = false
      }
      if node.isLeaf {
        depths.insert(depth)
      } else if node.children.count != node.keys.count + 1 {
        isValid = false
      }
      for child in node.children { visit(child, at: depth + 1) }
    }
  }

  @Test("removes entries through the subscript")
  func subscriptRemoval() {
    var map = Map()
    map[1] = 1
    map[1] = nil
    map[2] = nil
    #expect(map.isEmpty)
    #expect(map.first == nil)
    #expect(map.last == nil)
  }

  @Test("equals a map of another shape with the same entries")
  func equality() {
    let built = Map(sorted: (0..<300).map { (key: $0, value: $0) })
    var grown = Map()
    for key in (0..<300).reversed() { grown[key] = key }
    #expect(built == grown)
    grown[5] = 6
    #expect(built != grown)
    grown[5] = nil
    #expect(built != grown)
  }
}
