import Errand
import Foundation

/// Implements `errand download`, which downloads files.
struct DownloadCommand {
  static func run(_ words: [String]) async -> ExitCode {
    do {
      let options = try DownloadParser.parse(words)
      let (jobs, leftOut) = try DownloadPlan(options).jobs()
      for refusal in leftOut { Terminal.reportError(refusal.description) }
      let code = await DownloadCommand(options: options, jobs: jobs).run()
      return code == .success ? leftOut.first?.code ?? .success : code
    } catch {
      return Terminal.reject(error, of: "download")
    }
  }

  private let options: DownloadOptions
  private let jobs: [DownloadJob]

  private func run() async -> ExitCode {
    let printer = ExchangePrinter.onError(isVerbose: options.isVerbose)
    let client = APIClient(.ofCommand(printer: printer, usesProxy: options.usesProxy))
    let display = ProgressDisplay(isQuiet: options.isQuiet, isVerbose: options.isVerbose)
    let runner = DownloadRunner(jobs, options, client, display)
    // The first signal stops the downloads. A second signal ends the process at once. Even then, the bytes that are
    // already saved for resuming are kept.
    let interruption = await Interruption { runner.interrupt() }
    defer { interruption.stop() }
    let ends = await runner.run()
    reportFailures(of: ends)
    if let sentence = Self.sentence(on: ends, options) { Terminal.write(sentence + "\n", to: .error) }
    return Self.code(of: ends, isInterrupted: runner.isInterrupted)
  }

  /// Prints the error message of each failed download.
  private func reportFailures(of ends: [DownloadEnd]) {
    for (job, end) in zip(jobs, ends) {
      guard case .failed(let error, _) = end else { continue }
      let words = FailureMessage.text(for: error, of: .download, timeout: options.timeout)
      Terminal.reportError(jobs.count > 1 ? "\(PlainText.visible(job.name)): \(words)" : words)
    }
  }

  /// A sentence that says how to resume the downloads; nil if no bytes were kept. Each run resumes, unless `--fresh` is
  /// given. Only with `-c` are complete files not fetched again.
  static func sentence(on ends: [DownloadEnd], _ options: DownloadOptions) -> String? {
    let kept = ends.reduce(0) { $0 &+ $1.kept }
    guard kept > 0 else { return nil }
    let beginning = "The received bytes are kept; the same command"
    if options.continues || !ends.contains(where: \.isComplete) {
      return beginning + (options.startsOver ? " without --fresh" : "") + " resumes the download."
    }
    let change = options.startsOver ? " with -c instead of --fresh" : " with -c"
    return beginning + change + " resumes the download and skips complete files."
  }

  /// The exit status of the command. If the user has interrupted unfinished downloads, the result is the status for an
  /// interrupt. Otherwise, the result is the status for the first failed download, or success if no download failed.
  static func code(of ends: [DownloadEnd], isInterrupted: Bool) -> ExitCode {
    let failures = ends.compactMap { end in
      switch end {
      case .done, .alreadyComplete: ExitCode?.none
      case .failed(let error, _): .ofTransfer(error)
      case .stopped: .interrupted
      }
    }
    return isInterrupted && !failures.isEmpty ? .interrupted : failures.first ?? .success
  }
}

enum DownloadEnd: Sendable {
  case done(DownloadedFile)
  /// The file already existed with this many bytes, and was left unchanged.
  case alreadyComplete(Int64)
  /// The download failed; `kept` is the number of bytes that the next run need not fetch.
  case failed(APIError, kept: Int64)
  case stopped(kept: Int64)

  /// Whether the complete file is at its target.
  var isComplete: Bool {
    switch self {
    case .done, .alreadyComplete: true
    case .failed, .stopped: false
    }
  }

  /// The number of bytes that are kept for the next run.
  var kept: Int64 {
    switch self {
    case .done, .alreadyComplete: 0
    case .failed(_, let kept), .stopped(let kept): kept
    }
  }

  /// The phase that is displayed for the ended download.
  ///
  /// - Parameter hasBegun: Whether any byte was received.
  func phase(hasBegun: Bool) -> ProgressState.Phase {
    let rest = kept > 0 ? ", \(Wording.bytes(kept)) kept" : hasBegun ? ", nothing kept" : ""
    return switch self {
    case .done, .alreadyComplete: .done
    // The response had a rejected status, so it contained no bytes of the file. The displayed text does not say
    // “nothing kept”, because there was nothing to keep.
    case .failed(let error, 0) where error.stage == .validate: .failed("failed")
    case .failed: .failed("failed\(rest)")
    case .stopped: .stopped("stopped\(rest)")
    }
  }
}
