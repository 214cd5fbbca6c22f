import ErrandCache

/// How much is in a store.
struct StoreSummary {
  let listings: [CacheListing]
  let bytesOnDisk: Int64
  let now: WallTime

  /// A line for each figure.
  func text(_ paint: Paint) -> String {
    lines.map { name, value in
      paint(.dim, name) + String(repeating: " ", count: max(1, 9 - name.count)) + value + "\n"
    }.joined()
  }

  private var lines: [(name: String, value: String)] {
    let fresh = listings.count { $0.state(at: now).isFresh }
    let bodies = listings.reduce(Int64(0)) { $0.addingReportingOverflow(Int64($1.bodyLength)).partialValue }
    let limit = Wording.bytes(Int64(SendCache.limit))
    return [
      ("entries", "\(listings.count): \(fresh) fresh, \(listings.count - fresh) not"),
      ("bodies", Wording.bytes(bodies)),
      ("on disk", "\(Wording.bytes(bytesOnDisk)), with the index"),
      ("limit", "\(limit) where “errand send” fills it; a program sets its own"),
    ] + hosts.enumerated().map { ($0 == 0 ? "hosts" : "", "\($1.name): \(Wording.entries($1.count))") }
  }

  /// The hosts, those with most answers first.
  private var hosts: [(name: String, count: Int)] {
    let counts = Dictionary(grouping: listings) { $0.head.label.host }.mapValues(\.count)
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { (PlainText.visible($0.key), $0.value) }
  }
}
