import ErrandSupport

/// The choice of a client's transport.
public enum TransportChoice: Sendable {
  /// The transport of the platform: libcurl on Linux, URLSession on Apple platforms.
  case platform
  /// A transport that is registered under a name.
  case named(String)
  /// The given transport.
  case own(any Transport)
}

/// Maps names to transports. The transports of the platform and the library are registered when the first client is
/// made. To wrap one of them, look it up by name inside the closure that you pass to ``register(_:replacing:_:)``: the
/// closure runs later, when all of them are registered.
///
/// ```swift
/// TransportRegistry.shared.register("mine") { MyTransport() }
/// client.configure { $0.transport = .named("mine") }
/// ```
public final class TransportRegistry: Sendable {
  /// The registry that clients use.
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

  /// Registers a transport under a name. The transport is made at its first use. If two threads request it first at the
  /// same time, `make` runs twice and one of the two results is kept.
  ///
  /// - Parameters:
  ///   - name: The name for ``TransportChoice/named(_:)``.
  ///   - replacing: Whether an existing transport with this name is replaced. If not, the existing one stays.
  ///   - make: Makes the transport.
  public func register(_ name: String, replacing: Bool = true, _ make: @escaping @Sendable () -> any Transport) {
    let replaced = entries.withLock { entries -> Entry? in
      guard replacing || entries[name] == nil else { return nil }
      return entries.updateValue(Entry(make), forKey: name)
    }
    _ = replaced  // released here, outside the lock
  }

  /// The transport with the name; nil if no transport has it.
  public func transport(named name: String) -> (any Transport)? {
    entries.withLock { $0[name] }?.transport
  }

  /// The registered names, sorted.
  public var names: [String] { entries.withLock { $0.keys.sorted() } }
}
