/// Formats rows of cells as columns.
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

  private func line(_ cells: [(text: String, style: Paint.Style?)], _ widths: [Int]) -> String {
    zip(cells, widths).enumerated().map { index, column in
      let (cell, width) = column
      let padding = index == cells.count - 1 ? 0 : max(0, width - TextLayout.width(cell.text))
      return (cell.style.map { paint($0, cell.text) } ?? cell.text) + String(repeating: " ", count: padding)
    }.joined(separator: "  ")
  }
}
