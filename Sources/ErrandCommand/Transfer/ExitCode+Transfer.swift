import Errand

extension ExitCode {
  /// The code for a download or an upload that failed. Network, disk, checksum and change are told apart.
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
