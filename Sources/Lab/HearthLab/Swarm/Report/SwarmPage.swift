private import Foundation

/// A run as a page: one self-contained file with the picture, the figures and the promises.
package struct SwarmPage: Sendable {
  private let report: SwarmReport

  package init(_ report: SwarmReport) {
    self.report = report
  }

  package var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8"/>
    <meta name="viewport" content="width=device-width, initial-scale=1"/>
    <meta name="color-scheme" content="light dark"/>
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
    style-src 'unsafe-inline'; img-src data:"/>
    <title>\(Plot.escaped("\(SwarmWords.verdict(report)) · hearth swarm"))</title>
    <link rel="icon" href="data:,"/>
    <style>
    \(SwarmPicture.style)\(Self.style)</style>
    </head>
    <body>
    <header>
    <p class="kicker">hearth swarm</p>
    <h1 class="\(report.isClean ? "held" : "broken")">\(Plot.escaped(SwarmWords.verdict(report)))</h1>
    <p class="lead">\(Plot.escaped(SwarmWords.run(report)))</p>
    </header>
    <main>
    \(mishaps)\(figures)<section class="picture">
    \(SwarmPicture(report).inlineSVG)</section>
    \(promises)\(faults)\(settings)</main>
    </body>
    </html>

    """
  }

  // MARK: Parts

  private var mishaps: String {
    var lines = report.mishaps
    if case .tooLittle(let shortages) = report.check.verdict { lines += shortages }
    guard !lines.isEmpty else { return "" }
    let items = lines.map { "<li>\(Plot.escaped($0))</li>\n" }.joined()
    return "<ul class=\"mishaps\">\n\(items)</ul>\n"
  }

  private var figures: String {
    let tally = report.tally
    func time(_ milliseconds: Double) -> String {
      milliseconds >= 1_000
        ? "\(Plot.number(milliseconds / 1_000)) s" : "\(Plot.number(milliseconds)) ms"
    }
    let acknowledged = tally.acknowledged
    let rows = [
      ("\(report.check.activity.acknowledged)", "writes acknowledged"),
      (time(acknowledged.milliseconds(atPercentile: 50)), "half took at most this"),
      (time(acknowledged.milliseconds(atPercentile: 99)), "99 of 100 took at most this"),
      (time(tally.seen.milliseconds(atPercentile: 50)), "until others saw half of them"),
      (
        "\(tally.transactions)",
        "transactions, and \(Words.count(report.retries, "try", plural: "tries")) more than one"
          + " each"
      ),
      (
        report.convergence.map { "\(Plot.number($0 / .seconds(1))) s" } ?? "never",
        "until all showed the same"
      ),
    ]
    let cells = rows.map { "<div><b>\(Plot.escaped($0.0))</b> \(Plot.escaped($0.1))</div>\n" }
    return "<section class=\"figures\">\n\(cells.joined())</section>\n"
  }

  private var promises: String {
    let rows = report.check.lines.map { line in
      let state = line.violationCount > 0 ? "broken" : line.checked > 0 ? "held" : "idle"
      let mark = line.violationCount > 0 ? "✗" : line.checked > 0 ? "✓" : "–"
      let found = line.violations.prefix(3).map { violation in
        "<p class=\"violation\">\(Plot.escaped(violation.description))</p>"
      }
      return """
        <tr class="\(state)"><td class="mark">\(mark)</td><td>\(Plot.escaped(line.statement))\
        \(found.joined())</td><td class="code">\(Plot.escaped(line.name))</td>\
        <td class="number">\(line.checked)</td><td class="number">\(line.violationCount)</td></tr>

        """
    }
    return """
      <section>
      <h2>The promises</h2>
      <table>
      <thead><tr><th></th><th>What was promised</th><th></th><th class="number">checked</th>\
      <th class="number">broken</th></tr></thead>
      <tbody>
      \(rows.joined())</tbody>
      </table>
      </section>

      """
  }

  private var faults: String {
    let rows = FaultKind.allCases.compactMap { kind in
      report.faults[kind].map { count in
        "<tr><td class=\"number\">\(count)</td><td class=\"code\">\(kind.rawValue)</td>"
          + "<td>\(Plot.escaped(kind.meaning))</td></tr>\n"
      }
    }
    guard !rows.isEmpty else { return "" }
    return """
      <section>
      <h2>The faults</h2>
      <table>
      <tbody>
      \(rows.joined())</tbody>
      </table>
      </section>

      """
  }

  private var settings: String {
    let settings = report.settings
    let faults = settings.faults.map(\.rawValue).joined(separator: ",")
    let command =
      "hearth swarm --users \(settings.users) --seconds \(Plot.number(settings.seconds)) "
      + "--seed \(settings.seed) --rate \(Plot.number(settings.rate)) --posts \(settings.hotPosts) "
      + "--stars \(settings.stars.rawValue) --mix \(settings.mix.text) "
      + "--faults \(faults.isEmpty ? "none" : faults) "
      + "--users-per-process \(settings.usersPerProcess)"
      + (settings.servers > 1 ? " --servers \(settings.servers)" : "")
    return """
      <section>
      <h2>The same again</h2>
      <pre>\(Plot.escaped(command))</pre>
      </section>

      """
  }

  private static let style = """
    *{box-sizing:border-box}
    body{margin:0 auto;max-width:62rem;padding:0 1rem 3rem;background:var(--paper);color:var(--ink);\
    font:15px/1.55 system-ui,-apple-system,"Segoe UI",Inter,Roboto,"Noto Sans",sans-serif}
    header{padding:2.5rem 0 1rem}
    .kicker{margin:0;color:var(--soft);font-size:.85rem}
    h1{margin:.1rem 0 .4rem;font-size:2rem;line-height:1.2;font-weight:650}
    h1.held{color:var(--good)}h1.broken{color:var(--bad)}
    .lead{margin:0;color:var(--soft)}
    h2{font-size:1.05rem;margin:2.2rem 0 .6rem}
    .mishaps{color:var(--bad)}
    .figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:1px;\
    background:var(--line);border:1px solid var(--line);border-radius:8px;overflow:hidden;margin:1rem 0}
    .figures div{background:var(--paper);padding:.7rem .9rem;color:var(--soft);font-size:.82rem;\
    line-height:1.35}
    .figures b{display:block;color:var(--ink);font-size:1.35rem;font-weight:600;\
    font-variant-numeric:tabular-nums}
    .picture{overflow-x:auto;margin-top:1.5rem}
    .picture svg{display:block;width:100%;min-width:44rem;height:auto}
    table{border-collapse:collapse;width:100%}
    th{text-align:left;font-weight:500;color:var(--soft);font-size:.82rem}
    td,th{padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}
    .number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
    .code{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,monospace;font-size:.8rem;\
    color:var(--soft);white-space:nowrap}
    .mark{width:1.4rem;font-weight:700}
    .held .mark{color:var(--good)}.broken .mark{color:var(--bad)}.idle{color:var(--soft)}
    .violation{margin:.2rem 0 0;color:var(--bad);font-size:.85rem;overflow-wrap:anywhere}
    pre{background:var(--wash);padding:.8rem 1rem;border-radius:6px;white-space:pre-wrap;\
    overflow-wrap:anywhere;font-size:.82rem}

    """
}
