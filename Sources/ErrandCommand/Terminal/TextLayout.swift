import Errand
import ErrandHTTP
import ErrandSupport

/// Fits text into terminal columns.
enum TextLayout {
  /// The number of columns of a text. East Asian characters and emoji take two columns.
  static func width(_ text: some StringProtocol) -> Int {
    text.reduce(0) { $0 + width($1) }
  }

  private static func width(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first?.value else { return 0 }
    let isWide =
      (0x1100...0x115F).contains(scalar) || (0x2E80...0xA4CF).contains(scalar) || (0xAC00...0xD7A3).contains(scalar)
      || (0xF900...0xFAFF).contains(scalar) || (0xFE30...0xFE6F).contains(scalar)
      || (0xFF00...0xFF60).contains(scalar) || (0x1F300...0x1FAFF).contains(scalar)
      || (0x20000...0x3FFFD).contains(scalar)
    return isWide ? 2 : 1
  }

  /// The text in lines of at most `columns`, broken at spaces if possible; continuation lines start with `indent`.
  static func wrapped(_ text: String, to columns: Int, indent: String = "") -> [String] {
    guard width(text) > columns else { return [text] }
    let words = text.split(separator: " ", omittingEmptySubsequences: false)  // ASCII: only such spaces break a line
    var lines: [String] = []
    var line = String(words[0])
    while width(line) > columns { lines.append(cut(&line, columns, indent)) }
    for word in words.dropFirst() {
      if width(line) + 1 + width(word) > columns, line.contains(where: { $0 != " " }) {
        lines.append(line)
        line = indent + word
      } else {
        line += " \(word)"
      }
      while width(line) > columns { lines.append(cut(&line, columns, indent)) }
    }
    return lines + [line]
  }

  /// Removes as many characters from the start of a line as fit into `columns`, but at least one, and returns them. The
  /// rest of the line then starts with `indent`.
  private static func cut(_ line: inout String, _ columns: Int, _ indent: String) -> String {
    var head = ""
    var taken = 0
    for character in line {
      taken += width(character)
      if taken > columns, !head.isEmpty { break }
      head.append(character)
    }
    line = indent + line.dropFirst(head.count)
    return head
  }
}

extension TextLayout {
  /// The text in at most this many columns, with “…” in place of omitted characters. If `keepsEnd` is true, characters
  /// in the middle are omitted, so that the extension of a file name stays visible. Otherwise, characters at the end
  /// are omitted.
  static func shortened(_ text: String, to columns: Int, keepsEnd: Bool = true) -> String {
    guard width(text) > columns else { return text }
    guard columns > 1 else { return columns == 1 ? "…" : "" }
    let limit = columns - 1
    let tail = keepsEnd ? taken(text.reversed(), upTo: limit / 3) : []
    let head = taken(text, upTo: limit - tail.reduce(0) { $0 + width(String($1)) })
    return String(head) + "…" + String(tail.reversed())
  }

  private static func taken(_ characters: some Sequence<Character>, upTo columns: Int) -> [Character] {
    var left = columns
    return Array(
      characters.prefix { character in
        left -= width(String(character))
        return left >= 0
      })
  }
}

/// Makes external text safe to print: the printed text cannot move the cursor, change colours, end the line or change
/// the direction of the text.
enum PlainText {
  /// The text with control characters replaced by visible symbols, and with other hidden scalars escaped, for example
  /// as `\u{202e}`. Tabs and line feeds stay if `keepsLines` is true.
  static func visible(_ text: String, keepsLines: Bool = false) -> String {
    var out = String.UnicodeScalarView()
    let text = keepsLines ? text.replacingBytes(of: "\r\n", with: "\n") : text
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x09 where keepsLines, 0x0A where keepsLines: out.append(scalar)
      case 0x00...0x1F: out.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
      case 0x7F: out.append("\u{2421}")
      case 0x80...0x9F: out.append("\u{FFFD}")
      case _ where Redaction.isHidden(scalar): out.append(contentsOf: Redaction.escaped(scalar).unicodeScalars)
      default: out.append(scalar)
      }
    }
    return String(out)
  }

  /// JSON with hidden scalars escaped as JSON escapes them, for example as `\u202e`, so that its value is unchanged.
  /// Tabs and line breaks stay if `keepsLines` is true, because they can be between the tokens.
  static func visibleJSON(_ text: String, keepsLines: Bool = false) -> String {
    guard text.unicodeScalars.contains(where: Redaction.isHidden) else { return text }
    var out = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isBetween = keepsLines && (scalar == "\n" || scalar == "\r" || scalar == "\t")
      guard Redaction.isHidden(scalar), !isBetween else {
        out.append(scalar)
        continue
      }
      for unit in String(scalar).utf16 {
        let digits = String(unit, radix: 16)
        out.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
      }
    }
    return String(out)
  }
}

struct TextTable {
  let paint: Paint

  /// One line for each row. All cells except the last of a row are padded to the width of their column.
  func text(_ rows: [[(text: String, style: Paint.Style?)]]) -> String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      rows.map { column < $0.count ? TextLayout.width($0[column].text) : 0 }.max() ?? 0
    }
    return rows.map { line($0, widths) + "\n" }.joined()
  }

  /// One line for each fact. The names are padded to nine columns.
  func facts(_ facts: [(name: String, value: String)]) -> String {
    facts.map { name, value in
      paint(.dim, name) + String(repeating: " ", count: max(1, 9 - name.count)) + value + "\n"
    }.joined()
  }

  private func line(_ cells: [(text: String, style: Paint.Style?)], _ widths: [Int]) -> String {
    zip(cells, widths).enumerated().map { index, column in
      let (cell, width) = column
      let padding = index == cells.count - 1 ? 0 : max(0, width - TextLayout.width(cell.text))
      return (cell.style.map { paint($0, cell.text) } ?? cell.text) + String(repeating: " ", count: padding)
    }.joined(separator: "  ")
  }
}
