/// Formats the report of a scene for reading: at most one screen high and 100 columns wide.
struct SceneRenderer: Sendable {
  static let columns = 100
  private static let margin = 12

  let paint: Paint

  /// The heading of a scene.
  func heading(_ title: String, number: Int, of count: Int) -> String {
    let head = "── \(number)/\(count)  \(title) "
    let rule = String(repeating: "─", count: max(0, Self.columns - TextLayout.width(head)))
    return paint(.bold, head) + paint(.dim, rule)
  }

  /// The text of a scene below its heading.
  func body(_ report: SceneReport) -> String {
    let declared =
      report.declared.isEmpty
      ? [] : report.declared.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let blocks = [
      block("declared", declared.map(code), wrapping: false),
      block("sent", report.wire.flatMap(request), wrapping: true),
      block("received", report.cameBack.map { ($0, { $0 }) }, wrapping: true),
      block("checked", report.claims.map(claim), wrapping: true),
    ]
    return blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private typealias Line = (text: String, painted: (String) -> String)

  /// Lines with a label in the left margin.
  private func block(_ word: String, _ lines: [Line], wrapping: Bool) -> [String] {
    let width = Self.columns - Self.margin
    let fitted = lines.flatMap { line in
      TextLayout.wrapped(line.text, to: width, indent: "  ").map(line.painted)
    }
    return fitted.enumerated().map { index, line in
      let head = index == 0 ? word : ""
      return paint(.cyan, head) + String(repeating: " ", count: Self.margin - head.count) + line
    }
  }

  private func code(_ line: String) -> Line { (line, { $0 }) }

  private func request(_ lines: [String]) -> [Line] {
    lines.enumerated().map { index, line in
      index == 0 ? (line, { paint(.bold, $0) }) : ("  " + line, { paint(.dim, $0) })
    }
  }

  private func claim(_ claim: SceneReport.Claim) -> Line {
    let mark = claim.holds ? "✓" : "✗"
    return ("\(mark) \(claim.sentence)", { paint(claim.holds ? .green : .red, $0) })
  }
}

/// The results of a scene.
struct SceneReport: Sendable {
  /// An expected result, and whether it was met.
  struct Claim: Sendable {
    let sentence: String
    let holds: Bool
  }

  let title: String
  let declared: String
  /// The requests that were sent, one block for each.
  var wire: [[String]] = []
  /// The results that the program received.
  var cameBack: [String] = []
  /// The checks.
  var claims: [Claim] = []

  /// Whether the scene went as declared: there are checks, and all of them passed.
  var wentAsDeclared: Bool { !claims.isEmpty && claims.allSatisfy(\.holds) }
}
