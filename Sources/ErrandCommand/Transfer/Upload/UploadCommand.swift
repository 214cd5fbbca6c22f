import Errand
import Foundation

/// Implements `errand upload`, which sends files.
struct UploadCommand {
  /// Parses the arguments, uploads the files, prints the response and returns the exit status.
  static func run(_ words: [String]) async -> ExitCode {
    do {
      let options = try UploadParser.parse(words)
      if let problem = unreadable(options.fileURLs) {
        Terminal.reportError(problem)
        return .notStored
      }
      return await UploadCommand(options: options).run()
    } catch {
      Terminal.reportError("\(error)")
      Terminal.write("See “errand upload --help”.\n", to: .error)
      return .usage
    }
  }

  private let options: UploadOptions

  /// The reason why one of the files cannot be sent; nil if all files can be sent.
  private static func unreadable(_ files: [URL]) -> String? {
    for file in files {
      let path = file.path(percentEncoded: false)
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        return "No such file: “\(file.relativePath)”."
      }
      if isFolder.boolValue { return "“\(file.relativePath)” is a folder; only files can be sent." }
      if !FileManager.default.isReadableFile(atPath: path) {
        return "“\(file.relativePath)” cannot be read; check its permissions."
      }
    }
    return nil
  }

  private func run() async -> ExitCode {
    let client = APIClient(.ofCommand(isVerbose: options.isVerbose, usesProxy: options.usesProxy))
    let interruption = await Interruption { client.cancelAll() }
    defer { interruption.stop() }
    let watch = UploadWatch(options.name, on: display)
    let start = ContinuousClock.now
    let outcome = await client.outcome(
      of: ShellUpload(options: options), options: CallOptions(accessories: [watch]))
    watch.end(ending(outcome, watch.bytes, after: .now - start))
    return end(outcome)
  }

  /// The display of the progress; nil if the command is quiet. With `-v`, the display consists of lines, because the
  /// other output of `-v` would interrupt bars.
  private var display: ProgressDisplay? {
    if options.isQuiet { return nil }
    return options.isVerbose ? ProgressDisplay(.lines) { Terminal.write($0, to: .error) } : ProgressDisplay(on: .error)
  }

  private func ending(_ outcome: Outcome<Data>, _ bytes: Int64, after elapsed: Duration) -> ProgressState {
    var state = ProgressState(name: options.name, phase: .done, bytes: bytes)
    if let error = outcome.error {
      state.phase = error.isCancelled ? .stopped("stopped") : .failed("failed")
      return state
    }
    let seconds = elapsed / .seconds(1)
    state.elapsed = elapsed
    state.rate = seconds > 0 ? Double(state.bytes) / seconds : nil
    return state
  }

  /// Prints the response, even if its status is an error, and then the message of the error. Returns the exit status.
  private func end(_ outcome: Outcome<Data>) -> ExitCode {
    let writeFailure = outcome.response.flatMap { BodyPrinter.write($0.body, of: $0) }
    guard let error = outcome.error else { return writeFailure.map(Terminal.reportWriteFailure) ?? .success }
    Terminal.reportError(sentence(for: error))
    return .ofTransfer(error)
  }

  /// The message for an error. If the time limit was reached, the message names the option `--timeout`.
  private func sentence(for error: APIError) -> String {
    guard error.code == .deadline, let limit = options.timeout else { return error.message }
    return "The upload did not end within \(Wording.duration(limit)); use --timeout to change this limit."
  }
}
