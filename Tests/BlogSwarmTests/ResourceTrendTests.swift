import Testing

@testable import HearthLab

@Suite("ResourceTrend")
struct ResourceTrendTests {
  private func samples(_ count: Int = 60, _ value: (Int) -> Double) -> [ResourceTrend.Sample] {
    (0..<count).map { ResourceTrend.Sample(seconds: Double($0), value: value($0)) }
  }

  @Test("A value that settles after warm-up is flat")
  func warmUp() throws {
    let trend = try #require(
      ResourceTrend("memory", samples: samples { $0 < 15 ? Double($0) * 10 : 150 }, tolerance: 1)
    )
    #expect(trend.isFlat)
    #expect(abs(trend.perHour) < 1)
    #expect(abs(trend.first - 150) < 1 && abs(trend.last - 150) < 1)
  }

  @Test("A value that oscillates around its mean is flat")
  func saw() throws {
    let trend = try #require(
      ResourceTrend("memory", samples: samples { 100 + Double($0 % 7) * 3 }, tolerance: 1)
    )
    #expect(trend.isFlat)
  }

  @Test("Growth by more than a tenth and by more than the tolerance is not flat, even if noisy")
  func leak() throws {
    let values = samples { 50 + Double($0) * 0.5 + Double($0 % 5) }
    let trend = try #require(ResourceTrend("memory", samples: values, tolerance: 10))
    #expect(!trend.isFlat)
    #expect(abs(trend.perHour - 1_800) < 100)
    #expect(try #require(ResourceTrend("memory", samples: values, tolerance: 25)).isFlat)
  }

  @Test("A shrinking value counts as flat")
  func shrinking() throws {
    let trend = try #require(
      ResourceTrend("memory", samples: samples { 500 - Double($0) * 5 }, tolerance: 1)
    )
    #expect(trend.isFlat)
  }

  @Test("Too few samples give no trend")
  func few() {
    #expect(ResourceTrend("memory", samples: [], tolerance: 1) == nil)
    #expect(ResourceTrend("memory", samples: samples(6) { Double($0) }, tolerance: 1) == nil)
    let atOnce = Array(repeating: ResourceTrend.Sample(seconds: 0, value: 1), count: 20)
    #expect(ResourceTrend("memory", samples: atOnce, tolerance: 1) == nil)
  }
}
