import Errand

/// The HTTP libraries that the app knows beside the platform's.
enum Libraries {
  /// Registers them; later calls change nothing.
  static func register() {
    TransportRegistry.shared.register("counting", replacing: false) {
      CountingTransport(over: TransportRegistry.shared.transport(named: platform) ?? PocketTransport())
    }
    TransportRegistry.shared.register("pocket", replacing: false) { PocketTransport() }
  }

  /// How many exchanges the counting one has carried.
  static var counted: Int {
    (TransportRegistry.shared.transport(named: "counting") as? CountingTransport)?.count ?? 0
  }

  #if os(Linux)
    private static let platform = "curl"
  #else
    private static let platform = "urlsession"
  #endif
}
