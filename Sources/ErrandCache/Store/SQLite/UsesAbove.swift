/// When entries were used that a store above has answered, until the index is told.
struct UsesAbove: Sendable {
  /// What is known of an entry without asking the index.
  struct Place: Sendable, Hashable {
    let entry: Int64
    let variant: Int64
  }

  private static let most = 8_192
  private(set) var times: [Place: WallTime] = [:]

  /// Notes a use. A later one stays; of too many entries nothing is noted.
  mutating func note(_ place: Place, at time: WallTime) {
    if let known = times[place] {
      times[place] = max(known, time)
    } else if times.count < Self.most {
      times[place] = time
    }
  }

  /// Takes everything out.
  mutating func take() -> [Place: WallTime] {
    defer { times = [:] }
    return times
  }
}
