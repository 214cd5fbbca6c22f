/// Lays the report of a scene out for people: at most a screen, at most 100 columns.
struct SceneRenderer: Sendable {
  static let columns = 100
  private static let margin = 12

  let paint: Paint

  /// The line above a scene.
  func heading(_ title: String, number: Int, of count: Int) -> String {
    let head = "── \(number)/\(count)  \(title) "
    let rule = String(repeating: "─", count: max(0, Self.columns - TextLayout.width(head)))
    return paint(.bold, head) + paint(.dim, rule)
  }

  /// The scene itself.
  func body(_ report: SceneReport) -> String {
    let declared = report.declared.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let blocks = [
      block("declared", declared.map(code), wrapping: false),
      block("sent", report.wire.flatMap(request), wrapping: true),
      block("came back", report.cameBack.map { ($0, { $0 }) }, wrapping: true),
      block("checked", report.claims.map(claim), wrapping: true),
    ]
    return blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private typealias Line = (text: String, painted: (String) -> String)

  /// Lines behind a word in the margin.
  private func block(_ word: String, _ lines: [Line], wrapping: Bool) -> [String] {
    let room = Self.columns - Self.margin
    let fitted = lines.flatMap { line in
      TextLayout.wrapped(line.text, to: room, indent: "  ").map(line.painted)
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

/// What a scene has to show for itself.
struct SceneReport: Sendable {
  /// Something that was to be so, and whether it is.
  struct Claim: Sendable {
    let sentence: String
    let holds: Bool
  }

  let title: String
  let declared: String
  /// What went over the wire, one block for each request.
  var wire: [[String]] = []
  /// What the program got.
  var cameBack: [String] = []
  /// What was checked.
  var claims: [Claim] = []

  /// Whether the scene went as declared: something was checked, and all of it holds.
  var wentAsDeclared: Bool { !claims.isEmpty && claims.allSatisfy(\.holds) }
}
