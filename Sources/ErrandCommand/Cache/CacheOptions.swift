import ErrandCache

/// What the words behind `errand cache` ask for.
struct CacheOptions: Sendable, Equatable {
  /// What to do with a store.
  enum Task: Sendable, Equatable {
    /// Show what is in it, a line for each answer.
    case list
    /// Show what is stored for a request.
    case show(SendOptions)
    /// Show how much is in it.
    case stats
    /// Remove what is meant.
    case clear(Choice)
  }

  /// Which answers to remove.
  enum Choice: Sendable, Equatable {
    case all
    case host(String)
    case tag(String)
    case olderThan(Duration)

    /// The same for a store.
    func selection(now: WallTime) -> CacheSelection {
      switch self {
      case .all: .all
      case .host(let host): .host(host.lowercased())
      case .tag(let tag): .tag(tag)
      case .olderThan(let age):
        .olderThan(now.advanced(byMilliseconds: -Int64(clamping: age / .milliseconds(1))))
      }
    }
  }

  /// The store's folder.
  let folder: String
  let task: Task
}

extension Int64 {
  /// The nearest whole number there is.
  fileprivate init(clamping number: Double) {
    self = Int64(exactly: number.rounded()) ?? (number < 0 ? .min + 1 : .max)
  }
}
