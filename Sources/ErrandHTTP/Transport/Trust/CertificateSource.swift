public import Foundation

/// Where certificates or a key are read from.
public enum CertificateSource: Sendable, Hashable {
  /// A file. It is read when the transport is made, updated or told to reload.
  case file(path: String)
  /// The bytes themselves.
  case data(Data)
}

extension CertificateSource: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The path, or the number of bytes; never what they are.
  public var description: String {
    switch self {
    case .file(let path): "file \(path)"
    case .data(let data): "\(data.count) bytes"
    }
  }
  /// The path, or the number of bytes.
  public var debugDescription: String { description }
  /// What a dump shows: never the bytes.
  public var customMirror: Mirror { Mirror(self, children: ["source": description], displayStyle: .enum) }
}
