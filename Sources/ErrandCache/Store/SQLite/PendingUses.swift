/// The times at which entries were last used from memory, until they are written to the index on disk.
struct PendingUses: Sendable {
  /// Identifies an entry without reading the index.
  struct Place: Sendable, Hashable {
    let entry: Int64
    let variant: Int64
  }

  private static let most = 8_192
  private(set) var times: [Place: WallTime] = [:]

  /// Records a use. If the entry has a later use, the later one is kept. If too many entries are recorded, a new one is
  /// ignored.
  mutating func note(_ place: Place, at time: WallTime) {
    if let known = times[place] {
      times[place] = max(known, time)
    } else if times.count < Self.most {
      times[place] = time
    }
  }

  /// Returns all uses and removes them.
  mutating func take() -> [Place: WallTime] {
    defer { times = [:] }
    return times
  }
}
