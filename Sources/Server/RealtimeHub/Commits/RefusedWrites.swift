package import RealtimeCore

/// The numbers of writes that were not applied, each with the reason.
///
/// Numbers that follow each other and have the same reason take the room of one: somebody whose writes
/// are refused usually has all of them refused.
package struct RefusedWrites: Sendable, Equatable {
  /// Consecutive numbers that were refused for one reason.
  package struct Run: Sendable, Equatable {
    /// The numbers.
    package var numbers: ClosedRange<Int64>
    /// Why they were not applied.
    package var status: StatusCode

    /// Makes a run.
    package init(_ numbers: ClosedRange<Int64>, _ status: StatusCode) {
      self.numbers = numbers
      self.status = status
    }
  }

  /// The runs, numbers ascending, as few as there can be.
  package private(set) var runs: [Run] = []

  /// Makes an empty set.
  package init() {}

  /// How many runs there are.
  package var count: Int { runs.count }

  /// Whether nothing was refused.
  package var isEmpty: Bool { runs.isEmpty }

  /// Why a write was not applied, or nil when it is not among those.
  ///
  /// - Complexity: O(log runs)
  package subscript(number: Int64) -> StatusCode? {
    let index = firstRun(endingFrom: number)
    guard index < runs.count, runs[index].numbers.contains(number) else { return nil }
    return runs[index].status
  }

  /// Adds numbers, whatever the reason was before.
  ///
  /// - Complexity: O(runs), and O(1) for numbers above all others
  package mutating func insert(_ numbers: ClosedRange<Int64>, _ status: StatusCode) {
    remove(numbers)
    var run = Run(numbers, status)
    var index = firstRun(endingFrom: numbers.lowerBound)
    if index < runs.count, runs[index].status == status,
      runs[index].numbers.lowerBound - 1 == numbers.upperBound
    {
      run.numbers = numbers.lowerBound...runs[index].numbers.upperBound
      runs.remove(at: index)
    }
    if index > 0, runs[index - 1].status == status,
      runs[index - 1].numbers.upperBound + 1 == numbers.lowerBound
    {
      index -= 1
      run.numbers = runs[index].numbers.lowerBound...run.numbers.upperBound
      runs.remove(at: index)
    }
    runs.insert(run, at: index)
  }

  /// Takes numbers out.
  ///
  /// - Complexity: O(runs), and O(1) for numbers above all others
  package mutating func remove(_ numbers: ClosedRange<Int64>) {
    let start = firstRun(endingFrom: numbers.lowerBound)
    var end = start
    var kept: [Run] = []
    while end < runs.count, runs[end].numbers.lowerBound <= numbers.upperBound {
      let run = runs[end]
      if run.numbers.lowerBound < numbers.lowerBound {
        kept.append(Run(run.numbers.lowerBound...(numbers.lowerBound - 1), run.status))
      }
      if run.numbers.upperBound > numbers.upperBound {
        kept.append(Run((numbers.upperBound + 1)...run.numbers.upperBound, run.status))
      }
      end += 1
    }
    if end > start { runs.replaceSubrange(start..<end, with: kept) }
  }

  /// Adds all of another set that is below a number.
  mutating func formUnion(_ other: RefusedWrites, below end: Int64) {
    for run in other.runs where run.numbers.lowerBound < end {
      insert(run.numbers.lowerBound...min(run.numbers.upperBound, end - 1), run.status)
    }
  }

  /// Forgets the lowest numbers beyond so many runs.
  mutating func keepLast(_ count: Int) {
    if runs.count > count { runs.removeFirst(runs.count - count) }
  }

  /// The first run that ends at a number or behind it.
  private func firstRun(endingFrom number: Int64) -> Int {
    if let last = runs.last, last.numbers.upperBound < number { return runs.count }
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].numbers.upperBound < number {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }
}

extension RefusedWrites: ExpressibleByDictionaryLiteral {
  /// Makes a set of single numbers.
  package init(dictionaryLiteral elements: (Int64, StatusCode)...) {
    for (number, status) in elements { insert(number...number, status) }
  }
}
