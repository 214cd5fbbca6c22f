import Errand
import ErrandCore
import ErrandHTTP

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

/// The reason why a command with correct arguments does not perform its task, and the exit status.
struct Refusal: Error, Equatable, CustomStringConvertible {
  let description: String
  let code: ExitCode
}

/// The message of a failed call for the user of a command. The library's messages name properties of requests in their
/// cures. These are replaced by options of the command.
enum FailureMessage {
  enum Command: Sendable {
    case send, download, upload
  }

  /// The message for an error. `timeout` is the limit of the whole call; nil if there is none.
  static func text(for error: APIError, of command: Command, timeout: Duration?) -> String {
    let message = error.message
    switch error.code {
    case .deadline:
      guard let timeout else { return message }
      let noun = command == .send ? "call" : "\(command)"
      return "The \(noun) did not end within \(Wording.duration(timeout)); use --timeout to change this limit."
    case .status where error.status == 415: return unsupportedType(error, command)
    case .redirectRefused: return replacing("; to allow ", in: message, by: "; give the new URL, which -v shows.")
    case .tooManyRedirects: return replacing("; to allow ", in: message, by: "; -v shows the redirects.")
    case .invalidURL where error.stage == .transfer:
      guard let cause = error.cause else { return message }
      return "The first line that --refresh gave is not the URL of the file: \(cause)."
    case .tooLarge where command == .send && message.contains("its body has more than"):
      return replacing("; raise `", in: message, by: ".")
        + " Use -o FILE or a pipe for such a body, without --shape and --cache."
    case .connectTimeout, .idleTimeout, .tooLarge: return replacing("; raise `", in: message, by: ".")
    case .busy where command == .download: return message + " Use --wait to wait for the other download."
    case .file, .fileExists:
      return message.replacing("`Download.to`", with: "-o FILE").replacing("`Download.into`", with: "-d DIR")
    default: return message
    }
  }

  private static func unsupportedType(_ error: APIError, _ command: Command) -> String {
    let cure = Validating.formCure
    let isForm = error.message.utf8.reversed().starts(with: cure.utf8.reversed())
    let message = isForm ? String(decoding: error.message.utf8.dropLast(cure.utf8.count), as: UTF8.self) : error.message
    guard command == .send else { return message }
    if isForm { return message + " The arguments were sent as a form; if the server reads JSON, use --json." }
    let isJSON = error.request?.fields.mediaType?.isJSON == true
    return isJSON ? message + " The arguments were sent as JSON; if the server reads forms, use --form." : message
  }

  /// The message with other words in place of its end, which begins with `mark`; unchanged if it has no such end.
  private static func replacing(_ mark: String, in message: String, by end: String) -> String {
    guard let range = message.firstRange(of: mark) else { return message }
    return message[..<range.lowerBound] + end
  }
}
