private import Foundation

/// A run as a picture that needs no legend.
///
/// It shows latencies, throughput and memory over time, with the faults as bands, and the attempts
/// of transactions; each line has its name beside it.
package struct SwarmPicture: Sendable {
  private static let width = 960.0
  private static let left = 72.0
  private static let plotWidth = 740.0
  private static let laneHeight = 17.0

  private let report: SwarmReport
  private let timeline: SwarmTimeline

  package init(_ report: SwarmReport) {
    self.report = report
    timeline = report.timeline
  }

  /// The picture as a stand-alone file, with a description and the verdict of the run at the top.
  package var svg: String {
    let head = 64.0
    let drawing = drawing(from: head + 20)
    let style = Self.style + Self.ownStyle
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Plot.number(Self.width)) \
      \(Plot.number(drawing.end))" role="img" aria-label="\(Plot.escaped(headline))">
      <style>\(style)</style>
      <rect class="paper" width="100%" height="100%"/>

      """
    text += "<text class=\"headline\" x=\"24\" y=\"36\">\(Plot.escaped(headline))</text>\n"
    text +=
      "<text class=\"remark\" x=\"24\" y=\"58\">\(Plot.escaped(SwarmWords.run(report)))</text>\n"
    return text + drawing.svg + "</svg>\n"
  }

  /// The picture as a part of a page.
  var inlineSVG: String {
    let drawing = drawing(from: 8)
    return
      "<svg viewBox=\"0 0 \(Plot.number(Self.width)) \(Plot.number(drawing.end))\" role=\"img\" "
      + "aria-label=\"Latencies, throughput, memory and transactions of the run\">\n"
      + drawing.svg + "</svg>\n"
  }

  private var headline: String { SwarmWords.verdict(report) }

  // MARK: Charts

  private func drawing(from top: Double) -> (svg: String, end: Double) {
    var svg = ""
    var y = top
    let lanes = lanes(at: y + 26)
    svg += lanes.svg
    y = lanes.end + 56
    svg += latencies(at: y, height: 240)
    y += 240 + 88
    svg += throughput(at: y, height: 120)
    y += 120 + 88
    svg += memory(at: y, height: 120)
    y += 120 + 78
    let tries = tries(at: y)
    svg += tries.svg
    return (svg, tries.end + 16)
  }

  private func plot(at top: Double, height: Double, _ scale: Plot.Scale) -> Plot {
    Plot(
      in: (left: Self.left, top: top, width: Self.plotWidth, height: height),
      upTo: timeline.length,
      scale: scale
    )
  }

  /// A row for each kind of fault, with its times as bars.
  private func lanes(at top: Double) -> (svg: String, end: Double) {
    var names: [String] = []
    for band in timeline.bands where !names.contains(band.name) { names.append(band.name) }
    let height = Double(max(names.count, 1)) * Self.laneHeight
    var plot = plot(at: top, height: height, .linear(top: 1))
    plot.title("What was done to it", remark: "each bar is a fault, from its beginning to its end")
    for (row, name) in names.enumerated() {
      let y = top + (Double(row) + 0.5) * Self.laneHeight
      // The name follows the last bar, or precedes the first if there is no room after the last.
      let own = timeline.bands.filter { $0.name == name }
      let end = plot.x(own.map(\.end).max() ?? 0)
      let hasRoom = end < Self.left + Self.plotWidth
      plot.label(
        name.replacing("-", with: " "),
        at: (hasRoom ? end + 7 : plot.x(own.map(\.start).min() ?? 0) - 7, y + 4),
        anchor: hasRoom ? "start" : "end",
        class: "fault"
      )
      for band in own {
        let start = plot.x(band.start)
        plot.put(
          "<rect class=\"bar\" x=\"\(Plot.number(start))\" y=\"\(Plot.number(y - 5))\" rx=\"2\" "
            + "width=\"\(Plot.number(max(plot.x(band.end) - start, 3)))\" height=\"10\"><title>"
            + Plot.escaped("\(name), \(Plot.number(band.start)) s to \(Plot.number(band.end)) s")
            + "</title></rect>"
        )
      }
    }
    if names.isEmpty {
      plot.label("nothing", at: (Self.left, top + 12), anchor: "start", class: "axis")
    }
    return (plot.svg, top + height)
  }

  /// Draws the faults and the ends of the server behind the lines of a chart over time.
  private func backdrop(_ plot: inout Plot) {
    for band in timeline.bands { plot.band(band.name, from: band.start, to: band.end) }
    for end in timeline.serverEnds { plot.moment(end) }
  }

  private func latencies(at top: Double, height: Double) -> String {
    let all = timeline.dots.map(\.milliseconds)
    let most = max(all.max() ?? 10, 10)
    let highest = pow(10, ceil(log10(most)))
    let lowest = pow(10, floor(log10(min(max(all.min() ?? 1, 0.1), highest / 10))))
    var plot = plot(at: top, height: height, .logarithmic(bottom: lowest, top: highest))
    plot.title(
      "How long a write took until it was acknowledged",
      remark: "each dot is a write; the bands are the faults, dashed lines the ends of the server"
    )
    backdrop(&plot)
    plot.levels { $0 >= 1_000 ? "\(Plot.number($0 / 1_000)) s" : "\(Plot.number($0)) ms" }
    plot.dots(timeline.dots.map { ($0.at, $0.milliseconds) }, class: "dots")
    let middle = timeline.slices.map { ($0.start + $0.length / 2, $0.median) }
    plot.curve(middle, class: "median")
    if let last = timeline.slices.last(where: { $0.median != nil }), let value = last.median {
      plot.name("half are faster", at: (last.start, value), class: "median-name")
    }
    plot.times()
    return plot.svg
  }

  private func throughput(at top: Double, height: Double) -> String {
    let rates = timeline.slices.map { slice in
      (
        start: slice.start, end: slice.start + slice.length,
        good: Double(slice.acknowledged) / slice.length,
        refused: Double(slice.refused + slice.unknown) / slice.length
      )
    }
    let most = Plot.roundedUp(rates.map { max($0.good, $0.refused) }.max() ?? 1)
    var plot = plot(at: top, height: height, .linear(top: most))
    plot.title("Writes in a second", remark: "acknowledged, and those that were refused or lost")
    backdrop(&plot)
    plot.levels { Plot.number($0) }
    plot.area(rates.map { ($0.start, $0.end, $0.good) }, class: "good")
    plot.area(rates.map { ($0.start, $0.end, $0.refused) }, class: "bad")
    let busy = rates.filter { $0.good > 0 }.map(\.good).sorted()
    if !busy.isEmpty {
      plot.name("acknowledged", at: (0, busy[busy.count / 2]), class: "good-name")
    }
    if rates.contains(where: { $0.refused > 0 }) {
      plot.name("refused", at: (0, most * 0.02), class: "bad-name")
    }
    plot.times()
    return plot.svg
  }

  private func memory(at top: Double, height: Double) -> String {
    let server = timeline.serverMemory.map { (time: $0.seconds, value: $0.value) }
    let clients = timeline.clientMemory.map { (time: $0.seconds, value: $0.value) }
    let most = Plot.roundedUp((server + clients).map(\.value).max() ?? 1)
    var plot = plot(at: top, height: height, .linear(top: most))
    plot.title("Memory", remark: "of the server, and of a process of clients on average")
    backdrop(&plot)
    plot.levels { "\(Plot.number($0)) MB" }
    plot.curve(server.map { ($0.time, Optional($0.value)) }, class: "server")
    plot.curve(clients.map { ($0.time, Optional($0.value)) }, class: "clients")
    // Names that would overlap are moved apart.
    let gap = most * 16 / height
    let serverEnd = server.last?.value
    var clientsEnd = clients.last?.value
    if let other = serverEnd, let value = clientsEnd, abs(other - value) < gap {
      clientsEnd = value <= other ? other - gap : other + gap
    }
    if let serverEnd { plot.name("the server", at: (0, serverEnd), class: "server-name") }
    if let clientsEnd { plot.name("clients", at: (0, clientsEnd), class: "clients-name") }
    plot.times()
    return plot.svg
  }

  /// Draws how many transactions took one attempt, two, and so on.
  private func tries(at top: Double) -> (svg: String, end: Double) {
    let counts = report.tally.tries
    let last = counts.lastIndex { $0 > 0 } ?? -1
    var plot = plot(at: top, height: 0, .linear(top: 1))
    plot.title(
      "Tries of transactions",
      remark: "another try follows when somebody else was faster; of the watched clients"
    )
    guard last >= 0 else {
      plot.label(
        "there were no transactions",
        at: (Self.left, top + 12),
        anchor: "start",
        class: "axis"
      )
      return (plot.svg, top + 20)
    }
    let most = Double(counts.max() ?? 1)
    var y = top
    for index in 0...last {
      let name = index + 1 == counts.count ? "\(index + 1) or more" : "\(index + 1)"
      let length = Self.plotWidth * 0.8 * Double(counts[index]) / most
      plot.label(name, at: (Self.left - 8, y + 11), anchor: "end", class: "axis")
      plot.put(
        "<rect class=\"tries\" x=\"\(Plot.number(Self.left))\" y=\"\(Plot.number(y))\" rx=\"2\" "
          + "width=\"\(Plot.number(max(length, counts[index] > 0 ? 2 : 0)))\" height=\"14\"/>"
      )
      plot.label(
        "\(counts[index])",
        at: (Self.left + length + 6, y + 11),
        anchor: "start",
        class: "axis"
      )
      y += 20
    }
    return (plot.svg, y)
  }

  // MARK: Style

  /// Colours by name, for light and dark surroundings.
  static let colours = """
    :root{--paper:#fbf8f2;--ink:#2a2420;--soft:#6f655c;--line:#e2dacd;--ember:#ad4313;--band:#c4501b;\
    --good:#3f7d6b;--bad:#b3372f;--blue:#33668f;--wash:#f3ecdf}
    @media (prefers-color-scheme:dark){:root{--paper:#171412;--ink:#e9e1d6;--soft:#a3978a;\
    --line:#37302a;--ember:#f09a5b;--band:#f09a5b;--good:#7cc2ab;--bad:#ef857a;--blue:#84b4de;\
    --wash:#221d1a}}

    """

  /// The style of the parts of the charts.
  static let style =
    colours + """
      svg text{font-family:system-ui,-apple-system,"Segoe UI",Inter,Roboto,"Noto Sans",sans-serif;\
      font-size:12px;fill:var(--ink)}
      svg .title{font-size:14px;font-weight:600}
      svg .remark{font-size:12px;font-weight:400;fill:var(--soft)}
      svg .axis,svg .fault{fill:var(--soft)}
      svg .fault{font-size:11.5px}
      .grid,.axisline,.moment{fill:none;stroke:var(--line);stroke-width:1}
      .moment{stroke:var(--bad);stroke-dasharray:3 3;opacity:.7}
      .band{fill:var(--band);opacity:.09}
      .bar{fill:var(--band);opacity:.75}
      .dots{fill:none;stroke:var(--blue);stroke-width:3.4;stroke-linecap:round;opacity:.45}
      .median{fill:none;stroke:var(--ink);stroke-width:1.6;stroke-linejoin:round}
      .good{fill:var(--good);opacity:.75}.bad{fill:var(--bad);opacity:.85}
      svg .good-name{fill:var(--good)}svg .bad-name{fill:var(--bad)}
      .server,.clients{fill:none;stroke-width:1.8;stroke-linejoin:round}
      .server{stroke:var(--ember)}.clients{stroke:var(--blue)}
      svg .server-name{fill:var(--ember)}svg .clients-name{fill:var(--blue)}
      .tries{fill:var(--blue);opacity:.75}

      """

  private static let ownStyle = """
    .paper{fill:var(--paper)}
    svg .headline{font-size:20px;font-weight:650}

    """
}

/// Describes a run in words, for pages and pictures.
enum SwarmWords {
  static func verdict(_ report: SwarmReport) -> String {
    switch report.check.verdict {
    case .held: report.mishaps.isEmpty ? "Every promise held" : "Failed"
    case .violated:
      report.check.violationCount == 1
        ? "A promise was broken once" : "Promises were broken \(report.check.violationCount) times"
    case .tooLittle: "Too little was done to mean anything"
    }
  }

  /// What the run consisted of.
  static func run(_ report: SwarmReport) -> String {
    let settings = report.settings
    let faults = report.faults.values.reduce(0, +)
    return
      "\(Words.count(settings.users, "user")) in "
      + "\(Words.count(settings.processes, "process", plural: "processes")), "
      + "\(Plot.number(settings.seconds)) s, seed \(settings.seed); "
      + "\(Words.count(faults, "fault")), the server ended \(Words.count(report.serverEnds, "time")); "
      + "\(report.check.activity.acknowledged) of \(report.check.activity.operations) "
      + "operations acknowledged"
  }
}
