import ErrandCore

extension HTTPBody {
  /// Whether a transport must send the body as a file. This is true if the body is a file and the transport cannot send
  /// a body that is read during the transfer.
  func isSentAsFile(by capabilities: TransportCapabilities) -> Bool {
    filePath != nil && !capabilities.contains(.bodySource)
  }
}
