import Errand

/// The exit status of the process. A failure has the number that curl uses for it. If curl has no number for the
/// failure, the number is usually from sysexits.h. After an interrupt the number is 130, as in shells.
enum ExitCode: Int32, Sendable, CaseIterable {
  case success = 0
  case other = 1
  case nameLookup = 6
  case refused = 7
  case status = 22
  case disk = 23
  case timeout = 28
  case changed = 33
  case broken = 56
  case tls = 60
  case usage = 64
  case data = 65
  case notStored = 66
  case noStore = 72
  case exists = 73
  case busy = 75
  case forbidden = 77
  case interrupted = 130

  /// The exit status for a failed call.
  init(_ error: APIError) {
    self =
      switch error.stage {
      case .build: error.code == .unsupported ? .other : .usage
      case .validate: error.code == .status ? .status : .data
      case .decode: .data
      case .cache: error.code == .cacheMiss ? .notStored : .other
      case .deadline: .timeout
      case .cancelled: .interrupted
      case .transport: Self.transport(error)
      default: .other
      }
  }

  private static func transport(_ error: APIError) -> ExitCode {
    switch error.transportKind {
    case .nameLookup: .nameLookup
    case .refused, .offline: .refused
    case .connectTimeout, .idleTimeout: .timeout
    case let kind? where kind.concernsTLS: .tls
    default: .other
    }
  }
}

extension ExitCode {
  /// The exit status for a failed download or upload. It distinguishes failures of the network, the disk and the
  /// checksum, and files that have changed.
  static func ofTransfer(_ error: APIError) -> ExitCode {
    switch error.stage {
    case .transfer: ofFile(error.code)
    case .transport where error.transportKind == .bodyChanged: .changed
    case .transport where ExitCode(error) == .other: .broken
    default: ExitCode(error)
    }
  }

  private static func ofFile(_ code: APIError.Code) -> ExitCode {
    switch code {
    case .diskFull, .file: .disk
    case .checksumMismatch: .data
    case .resumeMismatch: .changed
    case .busy: .busy
    case .fileExists: .exists
    default: .other
    }
  }
}

/// An error in the arguments of the command.
struct UsageError: Error, Equatable, CustomStringConvertible {
  /// A text that names the mistake in the arguments and how to correct it.
  let description: String

  init(_ description: String) { self.description = description }
}
