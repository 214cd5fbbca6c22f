import Errand
import ErrandCache

/// Formats the responses of a store as a table.
struct EntryTable {
  let paint: Paint
  let now: WallTime

  /// A heading and one line for each response.
  func text(_ listings: [CacheListing]) -> String {
    let hasTags = listings.contains { $0.head.label.tag != nil }
    let rows = [["age", "state", "size", "status", "method", "url"] + (hasTags ? ["tag"] : [])] + listings.map(row)
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      rows.map { column < $0.count ? TextLayout.width($0[column]) : 0 }.max() ?? 0
    }
    return rows.enumerated().map { index, row in
      let styles = index == 0 ? row.map { _ in Paint.Style.dim } : styles(listings[index - 1])
      return line(row, widths, styles) + "\n"
    }.joined()
  }

  private func row(_ listing: CacheListing) -> [String] {
    let head = listing.head
    let cells = [
      Wording.age(of: listing, at: now), Wording.state(listing.state(at: now)),
      Wording.bytes(Int64(listing.bodyLength)), String(head.answer.status), PlainText.visible(head.label.method),
      PlainText.visible(head.label.url),
    ]
    return cells + (head.label.tag.map { [PlainText.visible($0)] } ?? [])
  }

  private func styles(_ listing: CacheListing) -> [Paint.Style?] {
    [.none, listing.state(at: now).isFresh ? .green : .yellow, .none, .none, .none, .bold, .none]
  }

  /// One row. All cells except the last are padded to the width of their column.
  private func line(_ cells: [String], _ widths: [Int], _ styles: [Paint.Style?]) -> String {
    let filled = zip(cells, zip(widths, styles)).enumerated().map { index, column in
      let (cell, (width, style)) = column
      let room = String(repeating: " ", count: index == cells.count - 1 ? 0 : max(0, width - TextLayout.width(cell)))
      return (style.map { paint($0, cell) } ?? cell) + room
    }
    return filled.joined(separator: "  ")
  }
}
