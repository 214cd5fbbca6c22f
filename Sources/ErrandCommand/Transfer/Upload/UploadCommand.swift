import Errand
import ErrandSupport
import Foundation

/// Implements `errand upload`, which sends files.
struct UploadCommand {
  static func run(_ words: [String]) async -> ExitCode {
    do {
      let options = try UploadParser.parse(words)
      try check(options.fileURLs)
      return await UploadCommand(options: options).run()
    } catch {
      return Terminal.reject(error, of: "upload")
    }
  }

  private let options: UploadOptions

  private static func check(_ files: [URL]) throws(Refusal) {
    for file in files {
      let (path, name) = (file.path(percentEncoded: false), "“\(file.relativePath)”")
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw Refusal(description: "No such file: \(name).", code: .notStored)
      }
      if isFolder.boolValue {
        throw Refusal(description: "\(name) is a folder; only files can be sent.", code: .notStored)
      }
      if !FileManager.default.isReadableFile(atPath: path) {
        throw Refusal(description: "\(name) cannot be read; check its permissions.", code: .notStored)
      }
    }
  }

  private func run() async -> ExitCode {
    let printer = ExchangePrinter.onError(isVerbose: options.isVerbose)
    let client = APIClient(.ofCommand(printer: printer, usesProxy: options.usesProxy))
    let interruption = await Interruption { client.cancelAll() }
    defer { interruption.stop() }
    let watch = UploadWatch(
      options.name, on: ProgressDisplay(isQuiet: options.isQuiet, isVerbose: options.isVerbose))
    let start = ContinuousClock.now
    let outcome = await client.outcome(
      of: ShellUpload(options: options), options: CallOptions(accessories: [watch]))
    watch.end(ending(outcome, watch.bytes, after: .now - start))
    return end(outcome)
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
    Terminal.reportError(FailureMessage.text(for: error, of: .upload, timeout: options.timeout))
    return .ofTransfer(error)
  }
}

struct ShellUpload: APIRequest {
  let options: UploadOptions

  typealias Response = Data
  var path: Path { Path(options.url) }
  var method: HTTPMethod { options.method.map { HTTPMethod($0) } ?? (options.isForm ? .post : .put) }
  var credential: RequestCredential { options.credential }
  var timeouts: Timeouts { Timeouts(total: options.timeout.map { .after($0) } ?? .never) }
  var headers: RequestHeaders { RequestHeaders(merging: options.fields) }

  var body: RequestBody? {
    guard let file = options.fileURLs.first else { return nil }
    var body: RequestBody = options.isForm ? .multipart(form) : .file(file, type: options.type)
    if options.isCompressed { body = body.compressed() }
    if options.asksFirst { body = body.expectingContinue() }
    return body
  }

  private var form: Multipart {
    let fields = options.items.map { item -> Multipart.Part in
      if let text = item.value.stringValue { return .text(item.name, text) }
      return .json(item.name, item.value)
    }
    let name = options.partName ?? "file"
    return Multipart(fields + options.fileURLs.map { .file(name, $0, type: options.type) })
  }
}

final class UploadWatch: Accessory {
  private let display: ProgressDisplay?
  private let number: Int
  private let name: String
  private let sent = Locked<Int64>(0)

  /// Adds an upload to a display. If the display is nil, nothing is displayed.
  init(_ name: String, on display: ProgressDisplay?) {
    self.name = name
    self.display = display
    number = display?.add(ProgressState(name: name, phase: .waiting)) ?? 0
  }

  var bytes: Int64 { sent.withLock { $0 } }

  func end(_ state: ProgressState) { display?.report(state, of: number) }

  func progressed(_ call: CallInfo, _ progress: TransferProgress) {
    guard progress.direction == .upload else { return }
    sent.withLock { $0 = progress.bytes }
    let state = ProgressState(
      name: name, bytes: progress.bytes, total: progress.total, rate: progress.rate, timeLeft: progress.timeLeft)
    display?.report(state, of: number)
  }
}
