import ErrandSupport

/// The choice of a client's transport.
public enum TransportChoice: Sendable {
  /// The client uses the transport of the platform: the HTTP engine of this library on Linux (`engine`), and URLSession
  /// on Apple platforms.
  case platform
  /// The client uses the transport that is registered in ``TransportRegistry/shared`` under this name.
  case named(String)
  /// The client uses a transport object that the app provides.
  case own(any Transport)
}

/// Maps names to transports. The transports of the platform and the library are registered when the first client is
/// made. To wrap such a transport, look it up by name inside the closure that you pass to ``register(_:replacing:_:)``:
/// the closure runs later, when all transports are registered.
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

  private let entries = Locked<[ByteText: Entry]>([:])

  /// Makes an empty registry.
  public init() {}

  /// Registers a transport under a name. The transport is made at its first use. If two threads make this first use at
  /// the same time, `make` runs twice and one of the two results is kept.
  ///
  /// - Parameters:
  ///   - name: The name for ``TransportChoice/named(_:)``.
  ///   - replacing: Whether an existing transport with this name is replaced. If false, the existing transport stays.
  ///   - make: Makes the transport.
  public func register(_ name: String, replacing: Bool = true, _ make: @escaping @Sendable () -> any Transport) {
    let replaced = entries.withLock { entries -> Entry? in
      guard replacing || entries[ByteText(name)] == nil else { return nil }
      return entries.updateValue(Entry(make), forKey: ByteText(name))
    }
    _ = replaced  // The replaced entry is released outside the lock.
  }

  /// The transport with the name; nil if no transport is registered under this name.
  public func transport(named name: String) -> (any Transport)? {
    entries.withLock { $0[ByteText(name)] }?.transport
  }

  /// The registered names in alphabetical order.
  public var names: [String] { entries.withLock { $0.keys.map(\.text).sorted() } }
}
