import Errand
import Foundation

/// Downloads files from the shell.
struct DownloadCommand {
  /// Parses the arguments, downloads the files and returns the exit status.
  static func run(_ words: [String]) async -> ExitCode {
    do {
      let options = try DownloadParser.parse(words)
      let (jobs, leftOut) = try DownloadPlan(options).jobs()
      for refusal in leftOut { Terminal.complain(refusal.description) }
      let code = await DownloadCommand(options: options, jobs: jobs).run()
      return code == .success ? leftOut.first?.code ?? .success : code
    } catch let refusal as DownloadPlan.Refusal {
      Terminal.complain(refusal.description)
      return refusal.code
    } catch {
      Terminal.complain("\(error)")
      Terminal.write("See “errand download --help”.\n", to: .error)
      return .usage
    }
  }

  private let options: DownloadOptions
  private let jobs: [DownloadJob]

  private func run() async -> ExitCode {
    let client = APIClient(.ofCommand(isVerbose: options.isVerbose, usesProxy: options.usesProxy))
    let runner = DownloadRunner(jobs, options, client, display)
    // A second signal ends the process at once. The committed bytes are kept even then.
    let interruption = await Interruption { runner.interrupt() }
    defer { interruption.stop() }
    let ends = await runner.run()
    complain(ends)
    if let sentence = Self.sentence(on: ends, options) { Terminal.write(sentence + "\n", to: .error) }
    return Self.code(of: ends, isInterrupted: runner.isInterrupted)
  }

  /// The display of the progress; nil if the command is quiet. With `-v` it consists of lines, because bars cannot be
  /// combined with the output of `-v`.
  private var display: ProgressDisplay? {
    if options.isQuiet { return nil }
    return options.isVerbose ? ProgressDisplay(.lines) { Terminal.write($0, to: .error) } : ProgressDisplay(on: .error)
  }

  /// Prints each failure.
  private func complain(_ ends: [DownloadEnd]) {
    for (job, end) in zip(jobs, ends) {
      guard case .failed(let error, _) = end else { continue }
      let words = sentence(for: error)
      Terminal.complain(jobs.count > 1 ? "\(ProgressLine.harmless(job.name)): \(words)" : words)
    }
  }

  /// The message for an error. The message for a reached deadline names the option `--timeout`.
  private func sentence(for error: APIError) -> String {
    guard error.code == .deadline, let limit = options.timeout else { return error.message }
    return "The download did not end within \(Wording.duration(limit)); use --timeout to change this limit."
  }

  /// A sentence about how to resume; nil if no bytes were kept.
  static func sentence(on ends: [DownloadEnd], _ options: DownloadOptions) -> String? {
    let kept = ends.reduce(0) { $0 &+ $1.kept }
    guard kept > 0 else { return nil }
    let change = options.continues ? "" : options.startsOver ? " with -c instead of --fresh" : " with -c"
    return "The received bytes are kept; the same command\(change) resumes the download."
  }

  /// The exit status of the first failure; an interrupt takes precedence.
  static func code(of ends: [DownloadEnd], isInterrupted: Bool) -> ExitCode {
    let failures = ends.compactMap { end in
      switch end {
      case .done, .there: ExitCode?.none
      case .failed(let error, _): .ofTransfer(error)
      case .stopped: .interrupted
      }
    }
    return isInterrupted && !failures.isEmpty ? .interrupted : failures.first ?? .success
  }
}
