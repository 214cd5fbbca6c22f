import ErrandSupport

/// Which transport a client uses.
public enum TransportChoice: Sendable {
  /// The platform's: libcurl on Linux, URLSession on Apple platforms.
  case platform
  /// One that is registered under a name.
  case named(String)
  /// This one.
  case own(any Transport)
}

/// Transports by name. The platform's and those that come with the library are registered when the first client is
/// made: look one up by its name inside the closure of ``register(_:replacing:_:)``, which runs later.
///
/// ```swift
/// TransportRegistry.shared.register("mine") { MyTransport() }
/// client.configure { $0.transport = .named("mine") }
/// ```
public final class TransportRegistry: Sendable {
  /// The registry that clients look into.
  public static let shared = TransportRegistry()

  private final class Entry: Sendable {
    private let make: @Sendable () -> any Transport
    private let made = Locked<(any Transport)?>(nil)

    init(_ make: @escaping @Sendable () -> any Transport) { self.make = make }

    var transport: any Transport {
      if let made = made.withLock({ $0 }) { return made }
      let new = make()
      return made.withLock { made in
        if let made { return made }
        made = new
        return new
      }
    }
  }

  private let entries = Locked<[String: Entry]>([:])

  /// Makes an empty registry.
  public init() {}

  /// Registers a transport under a name. It is made at its first use; where two threads ask for it first at the same
  /// moment, `make` runs twice and one of the two is kept. `replacing` says whether it takes the place of one that has
  /// the name.
  public func register(_ name: String, replacing: Bool = true, _ make: @escaping @Sendable () -> any Transport) {
    let replaced = entries.withLock { entries -> Entry? in
      guard replacing || entries[name] == nil else { return nil }
      return entries.updateValue(Entry(make), forKey: name)
    }
    _ = replaced  // released here, outside the lock
  }

  /// The transport of a name; nil where none has it.
  public func transport(named name: String) -> (any Transport)? {
    entries.withLock { $0[name] }?.transport
  }

  /// The names that are registered, sorted.
  public var names: [String] { entries.withLock { $0.keys.sorted() } }
}
