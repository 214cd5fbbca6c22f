package import ErrandCore
import Foundation

/// Writes the answer of a request with a ``Download`` into its file, and goes on with what an earlier call has left.
///
/// It stands above Redirecting: it asks the first URL each time, and holds part and lock over all hops.
package struct Resuming: SelectiveStation {
  private let files: any TransferFiles
  private let retrying: RetryControl
  private let now: @Sendable () -> Int64

  /// - Parameters:
  ///   - files: The file system.
  ///   - retrying: The budgets, out of which a body that breaks off is taken up again.
  ///   - now: The present in milliseconds since 1970, for validators and the record.
  package init(
    files: any TransferFiles = SystemFiles(), _ retrying: RetryControl,
    now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
  ) {
    self.files = files
    self.retrying = retrying
    self.now = now
  }

  /// Where a request has a file for its answer.
  package func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool { context.plan.hasDownload }

  package func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    guard let download = context.plan.download else { return try await next(request) }
    if context.plan.isStamping {
      var request = request
      RangeAsk.whole.apply(to: &request.fields)
      return try await next(request)
    }
    do {
      let run = try await DownloadRun.open(download, request, context, files, retrying, now)
      return try await run.carryOut(next)
    } catch {
      throw APIError.transfer(error)
    }
  }
}

extension APIError {
  /// What an error of a download means to the caller; others pass.
  static func transfer(_ error: any Error) -> any Error {
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
