import ErrandCache

/// The parsed arguments of `errand cache`.
struct CacheOptions: Sendable, Equatable {
  /// The task to perform on a store.
  enum Task: Sendable, Equatable {
    /// Print one line for each stored response.
    case list
    /// Print the response that is stored for a request.
    case show(SendOptions)
    /// Print statistics of the store.
    case stats
    /// Remove the chosen responses from the store.
    case clear(Choice)
  }

  /// The responses to remove.
  enum Choice: Sendable, Equatable {
    case all
    case host(String)
    case tag(String)
    case olderThan(Duration)

    /// Describes the chosen responses in the form that the method `remove` of the store needs.
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

  /// The folder of the store.
  let folder: String
  let task: Task
}

extension Int64 {
  /// Creates the integer that is nearest to a number and that the type can represent.
  fileprivate init(clamping number: Double) {
    self = Int64(exactly: number.rounded()) ?? (number < 0 ? .min + 1 : .max)
  }
}
