/// Which transport a client uses.
public enum TransportChoice: Sendable {
  /// The platform's: libcurl on Linux, URLSession on Apple platforms.
  case platform
  /// One that is registered under a name.
  case named(String)
  /// This one.
  case own(any Transport)
}

/// Transports by name. The platform's and those that come with the library are registered from the start.
///
/// ```swift
/// TransportRegistry.shared.register("mine") { MyTransport() }
/// client.configure { $0.transport = .named("mine") }
/// ```
public final class TransportRegistry: Sendable {
  /// The registry that clients look into.
  public static let shared = TransportRegistry()

  private struct Entry: Sendable {
    let make: @Sendable () -> any Transport
    var made: (any Transport)?
  }

  private let entries = Locked<[String: Entry]>([:])

  /// Makes an empty registry.
  public init() {}

  /// Registers a transport under a name. It is made at its first use, once. `replacing` says whether it takes the
  /// place of one that has the name.
  public func register(_ name: String, replacing: Bool = true, _ make: @escaping @Sendable () -> any Transport) {
    entries.withLock { entries in
      if replacing || entries[name] == nil { entries[name] = Entry(make: make) }
    }
  }

  /// The transport of a name; nil where none has it.
  public func transport(named name: String) -> (any Transport)? {
    let entry = entries.withLock { $0[name] }
    guard let entry else { return nil }
    if let made = entry.made { return made }
    let made = entry.make()
    return entries.withLock { entries in
      if let other = entries[name]?.made { return other }
      entries[name]?.made = made
      return made
    }
  }

  /// The names that are registered, sorted.
  public var names: [String] { entries.withLock { $0.keys.sorted() } }
}
