package import ErrandCore
import Foundation

/// The interceptor that writes the response body of a request with a ``Download`` into a file, and resumes the partial
/// file of an earlier call.
///
/// The interceptor `Redirecting` runs inside this interceptor. So each request of this interceptor starts at the first
/// URL, and the partial file stays open and locked during all redirects.
package struct Resuming: SelectiveInterceptor {
  private let files: any TransferFiles
  private let retrying: RetryControl
  private let now: @Sendable () -> Int64

  /// Makes the interceptor.
  /// - Parameters:
  ///   - files: The file system.
  ///   - retrying: The retry budgets of the hosts. Each resumption after an interrupted body is charged to them.
  ///   - now: The current time in milliseconds since 1970. It is stored in the metadata record, and needed to read
  ///     dates with a two-digit year.
  package init(
    files: any TransferFiles = SystemFiles(), _ retrying: RetryControl,
    now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
  ) {
    self.files = files
    self.retrying = retrying
    self.now = now
  }

  /// Whether the request writes its response into a file.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { context.plan.hasDownload }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let download = context.plan.download else { return try await next(request) }
    if context.plan.isPreparing {
      var request = request
      RequestedRange.whole.apply(to: &request.fields)
      return try await next(request)
    }
    if let note = context.plan.sending.noteDownload, let sent = SentDownload(request, context) { note(sent) }
    do {
      switch try await DownloadRun.open(download, request, context, files, retrying, now) {
      case .run(let run): return try await run.carryOut(next)
      case .existing(let file):
        context.note(.download(.existing(bytes: file.bytes)))
        return HTTPResponse(head: ResponseHead(status: 200), url: request.url, from: .local).written(to: file)
      }
    } catch {
      throw APIError.transfer(error)
    }
  }
}

extension APIError {
  /// Converts a ``FileFailure`` or a ``ResumeMismatch`` to an `APIError`. Other errors are returned unchanged.
  package static func transfer(_ error: any Error) -> any Error {
    switch error {
    case let failure as FileFailure:
      APIError(.transfer, code(of: failure), "\(failure)", cause: failure)
    case let mismatch as ResumeMismatch:
      APIError(.transfer, .resumeMismatch, "\(mismatch)", cause: mismatch)
    default: error
    }
  }

  private static func code(of failure: FileFailure) -> Code {
    switch failure.kind {
    case .full: .diskFull
    case .busy: .busy
    case .exists: .fileExists
    case .io, .denied, .notFound, .planted, .length, .closed, .other: .file
    }
  }
}
