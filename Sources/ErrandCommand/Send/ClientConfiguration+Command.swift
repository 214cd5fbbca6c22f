import Errand

extension ClientConfiguration {
  /// The common configuration of the command's clients: no base URL and no cache. If `isVerbose` is true,
  /// the exchanges are printed on standard error.
  static func ofCommand(isVerbose: Bool, usesProxy: Bool) -> ClientConfiguration {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.cache = .off
    configuration.userAgent = "errand/\(HelpText.version)"
    if isVerbose {
      let talk = ExchangePrinter(paint: Terminal.paint(for: .error)) { Terminal.write($0, to: .error) }
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
