/// A minimal terminal for progress displays: characters overwrite, and lines are erased to their end.
struct Screen {
  private var rows: [[Character]] = []
  private var row = 0
  private var column = 0
  /// Whether the cursor moved above the first line.
  private(set) var hasEscaped = false

  /// The lines without their trailing spaces.
  var lines: [String] {
    rows.map { row in String(row.prefix(row.lastIndex { $0 != " " }.map { $0 + 1 } ?? 0)) }
  }

  /// The first word of each line.
  var names: [String] { lines.map { String($0.prefix { $0 != " " }) } }

  mutating func write(_ text: String) {
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "\u{1B}": escape(&rest)
      case "\n", "\r\n": (row, column) = (row + 1, 0)
      case "\r": column = 0
      default: set(character)
      }
    }
  }

  private mutating func set(_ character: Character) {
    while rows.count <= row { rows.append([]) }
    while rows[row].count <= column { rows[row].append(" ") }
    rows[row][column] = character
    column += 1
  }

  private mutating func escape(_ rest: inout Substring) {
    guard rest.popFirst() == "[" else { return }
    let arguments = rest.prefix { !$0.isLetter }
    rest = rest.dropFirst(arguments.count)
    switch rest.popFirst() {
    case "A":
      row -= Int(arguments) ?? 0
      if row < 0 { hasEscaped = true }
      row = max(0, row)
    case "J":
      eraseToEnd()
      rows = Array(rows.prefix(column > 0 ? row + 1 : row))
    case "K": eraseToEnd()
    default: break
    }
  }

  private mutating func eraseToEnd() {
    if rows.indices.contains(row) { rows[row] = Array(rows[row].prefix(column)) }
  }
}
