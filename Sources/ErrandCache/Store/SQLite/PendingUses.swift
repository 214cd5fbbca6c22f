/// The times at which the memory store in front of a disk store last served entries. The times are kept here until they
/// are written to the index on disk.
struct PendingUses: Sendable {
  /// Identifies an entry by parts of its digests, so that the index need not be read.
  struct Place: Sendable, Hashable {
    let entry: Int64
    let variant: Int64
  }

  private static let most = 8_192
  private(set) var times: [Place: WallTime] = [:]

  /// Records that an entry was used. If a later use of the entry is already recorded, the later use is kept. If too
  /// many entries are recorded, the use of a further entry is ignored.
  mutating func record(_ place: Place, at time: WallTime) {
    if let known = times[place] {
      times[place] = max(known, time)
    } else if times.count < Self.most {
      times[place] = time
    }
  }

  /// Returns the recorded time of the last use of each entry, and deletes the records.
  mutating func take() -> [Place: WallTime] {
    defer { times = [:] }
    return times
  }
}
