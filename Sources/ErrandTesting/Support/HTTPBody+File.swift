import ErrandCore

extension HTTPBody {
  /// Whether a transport sends it as the file that it is, since it cannot send what is read meanwhile.
  func isSentAsFile(by capabilities: TransportCapabilities) -> Bool {
    filePath != nil && !capabilities.contains(.bodySource)
  }
}
