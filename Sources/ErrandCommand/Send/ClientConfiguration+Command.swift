import Errand

extension ClientConfiguration {
  /// What clients of the command have in common: no base, no cache, and where asked for the talk on standard error.
  static func ofCommand(isVerbose: Bool, usesProxy: Bool) -> ClientConfiguration {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.cache = .off
    configuration.userAgent = "errand/\(HelpText.version)"
    if isVerbose {
      let talk = Talk(paint: Terminal.paint(for: .error)) { Terminal.write($0, to: .error) }
      configuration.exchangeInterceptors = [talk]
    }
    #if os(Linux)
      var transport = CurlConfiguration()
      transport.proxy = usesProxy ? .environment : .none
      if let curl = try? CurlTransport(transport) { configuration.transport = .own(curl) }
    #endif
    return configuration
  }
}
