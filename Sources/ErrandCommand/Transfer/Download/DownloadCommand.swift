import Errand
import Foundation

/// Downloads files from the shell.
struct DownloadCommand {
  /// Reads the words, downloads, and says how it went.
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
      Terminal.write("“errand download --help” teaches.\n", to: .error)
      return .usage
    }
  }

  private let options: DownloadOptions
  private let jobs: [DownloadJob]

  private func run() async -> ExitCode {
    let client = APIClient(.ofCommand(isVerbose: options.isVerbose, usesProxy: options.usesProxy))
    let runner = DownloadRunner(jobs, options, client, display)
    // Also where it is left at once, what was committed is kept.
    let interruption = await Interruption { runner.interrupt() }
    defer { interruption.stop() }
    let ends = await runner.run()
    complain(ends)
    if let sentence = Self.sentence(on: ends, options) { Terminal.write(sentence + "\n", to: .error) }
    return Self.code(of: ends, isInterrupted: runner.isInterrupted)
  }

  /// Bars do not go together with the talk of `-v`.
  private var display: ProgressDisplay? {
    if options.isQuiet { return nil }
    return options.isVerbose ? ProgressDisplay(.lines) { Terminal.write($0, to: .error) } : ProgressDisplay(on: .error)
  }

  /// Says of each failure what it was.
  private func complain(_ ends: [DownloadEnd]) {
    for (job, end) in zip(jobs, ends) {
      guard case .failed(let error, _) = end else { continue }
      let words = sentence(for: error)
      Terminal.complain(jobs.count > 1 ? "\(ProgressLine.harmless(job.name)): \(words)" : words)
    }
  }

  /// The error's own sentence, but where the cure has another name here.
  private func sentence(for error: APIError) -> String {
    guard error.code == .deadline, let limit = options.timeout else { return error.message }
    return "The download did not end within \(Wording.duration(limit)); --timeout gives it another limit."
  }

  /// How to go on, where something was kept.
  static func sentence(on ends: [DownloadEnd], _ options: DownloadOptions) -> String? {
    let kept = ends.reduce(0) { $0 &+ $1.kept }
    guard kept > 0 else { return nil }
    let change = options.continues ? "" : options.startsOver ? " with -c in place of --fresh" : " with -c"
    return "What came is kept; the same command\(change) goes on with it."
  }

  /// The first failure counts, an interrupt before all.
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
