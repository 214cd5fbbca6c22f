import Foundation

/// The source file of a scene of the demo. The demo shows the lines between `// shown: begin` and `// shown: end`: the
/// code that runs.
struct SceneSource: Sendable {
  private let file: String

  /// - Parameter file: The path that the source file of the demo's scene had when the program was built.
  init(file: String = #filePath) { self.file = file }

  /// The lines of the source file that the demo shows, without their common indentation. The text is empty if the file
  /// is not on this machine, for example because the program was built on another machine.
  var shown: String {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return "" }
    return Self.marked(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
      .joined(separator: "\n")
  }

  /// The lines of a file that are between a begin mark and an end mark.
  static func marked(_ lines: [String]) -> [String] {
    var shown: [String] = []
    var part: [String]?
    for line in lines {
      switch line.trimmingCharacters(in: .whitespaces) {
      case "// shown: begin": part = []
      case "// shown: end":
        shown += unindented(part ?? [])
        part = nil
      default: part?.append(line)
      }
    }
    return shown
  }

  private static func unindented(_ lines: [String]) -> [String] {
    let common = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return lines.map { String($0.dropFirst(common)) }
  }
}
