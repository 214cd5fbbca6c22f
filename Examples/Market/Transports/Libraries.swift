import Errand
import ErrandHTTP

#if os(Linux)
  import ErrandEngine
#endif

/// The HTTP libraries of the app, in addition to the platform's.
enum Libraries {
  /// Registers them; further calls have no effect.
  static func register() {
    TransportRegistry.shared.register("counting", replacing: false) {
      CountingTransport(over: TransportRegistry.shared.transport(named: platform) ?? PocketTransport())
    }
    TransportRegistry.shared.register("pocket", replacing: false) { PocketTransport() }
  }

  /// The number of exchanges of the counting transport.
  static var counted: Int {
    (TransportRegistry.shared.transport(named: "counting") as? CountingTransport)?.count ?? 0
  }

  #if os(Linux)
    private static let platform = EngineTransport.name
  #else
    private static let platform = "urlsession"
  #endif
}
