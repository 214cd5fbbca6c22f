import ErrandTesting

/// Prints the app's output and records it for tests.
final class Console: Sendable {
  private let prints: Bool
  private let written = Recorded<String>()

  init(prints: Bool = true) { self.prints = prints }

  var lines: [String] { written.all }

  func heading(_ text: String) { write((lines.isEmpty ? "" : "\n") + text) }

  func say(_ text: String) { write("  " + text) }

  private func write(_ line: String) {
    written.append(line)
    if prints { print(line) }
  }
}
