/// Formats the report of a scene of the demo as text of at most 100 columns.
struct SceneRenderer: Sendable {
  static let columns = 100
  private static let margin = 12

  let paint: Paint

  /// The heading that is printed above a scene of the demo.
  func heading(_ title: String, number: Int, of count: Int) -> String {
    let head = "── \(number)/\(count)  \(title) "
    let rule = String(repeating: "─", count: max(0, Self.columns - TextLayout.width(head)))
    return paint(.bold, head) + paint(.dim, rule)
  }

  /// The text that is printed below the heading of a scene of the demo.
  func body(_ report: SceneReport) -> String {
    let declared =
      report.declared.isEmpty
      ? [] : report.declared.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let blocks = [
      block("declared", declared.map(code)),
      block("sent", report.sent.flatMap(request)),
      block("received", report.received.map { ($0, { $0 }) }),
      block("checked", report.checks.map(check)),
    ]
    return blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private typealias Line = (text: String, painted: (String) -> String)

  /// Wraps lines and indents them by a margin. The margin of the first line contains the label `word`.
  private func block(_ word: String, _ lines: [Line]) -> [String] {
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

  private func check(_ check: SceneReport.Check) -> Line {
    let mark = check.passed ? "✓" : "✗"
    return ("\(mark) \(check.sentence)", { paint(check.passed ? .green : .red, $0) })
  }
}

/// The results of a scene of the demo: the sent requests, the received results and the checks.
struct SceneReport: Sendable {
  /// A check of a scene: an expected result, and whether the scene of the demo has produced it.
  struct Check: Sendable {
    let sentence: String
    let passed: Bool
  }

  let title: String
  let declared: String
  /// The requests that the scene of the demo has sent. Each element contains the lines of one request.
  var sent: [[String]] = []
  /// The results that the scene of the demo has received, one line each.
  var received: [String] = []
  /// The checks that the scene of the demo has made.
  var checks: [Check] = []

  /// Whether the scene of the demo passed all its checks. A scene without checks does not pass.
  var wentAsDeclared: Bool { !checks.isEmpty && checks.allSatisfy(\.passed) }
}
