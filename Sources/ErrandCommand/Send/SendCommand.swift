import Errand
import ErrandCache
import ErrandCore
import ErrandTransfer
import Foundation

/// Implements `errand send`, which sends one request.
@MainActor
struct SendCommand {
  private let options: SendOptions
  private let cache: SendCache?
  private let printer: ExchangePrinter?
  private let client: APIClient

  static func run(_ words: [String]) async -> ExitCode {
    do {
      let options = try SendParser.parse(words)
      return await SendCommand(options: options, cache: try SendCache(options)).run()
    } catch {
      return Terminal.reject(error, of: "send")
    }
  }

  private init(options: SendOptions, cache: SendCache?) {
    self.options = options
    self.cache = cache
    printer = ExchangePrinter.onError(isVerbose: options.isVerbose)
    var configuration = ClientConfiguration.ofCommand(printer: printer, usesProxy: options.usesProxy)
    if let cache { configuration.cache.store = .own(cache.cache) }
    client = APIClient(configuration)
  }

  /// Sends the request and returns the exit status. The output file is opened before the handler for interrupts is
  /// installed. If the file is a named pipe, opening waits for a reader, and an interrupt during this wait must end the
  /// process.
  private func run() async -> ExitCode {
    do {
      let file = try options.output.map { try OutputFile($0) }
      let interruption = await Interruption(cleanUp: { file?.forget() }) { [client, cache] in
        client.cancelAll()
        cache?.interrupt()
      }
      defer { interruption.stop() }
      let code = await send(into: file)
      await cache?.close()
      return code
    } catch {
      Terminal.reportError("\(error)")
      return .other
    }
  }

  private func send(into file: OutputFile?) async -> ExitCode {
    guard let file else { return await sendToOutput() }
    do {
      return try await send(into: file)
    } catch {
      Terminal.reportError("\(error)")
      return .other
    }
  }

  /// Whether the body must be in memory: a body that is validated or cached cannot be streamed.
  private var isHeld: Bool { options.shape != nil || cache != nil }

  private func outcome(into descriptor: Int32?) async -> Outcome<Data> {
    let sink = descriptor.map { bodySink(into: $0) }
    return await client.outcome(
      of: ShellRequest(options: options),
      options: CallOptions(tag: options.tag, bodySink: sink, cache: options.cacheMode))
  }

  private func bodySink(into descriptor: Int32) -> any BodySink {
    let sink = FileHandleSink(FileHandle(fileDescriptor: descriptor, closeOnDealloc: false))
    guard let printer else { return sink }
    return VerboseSink(inner: sink, printer: printer)
  }

  /// Sends the request and writes the body to standard output: buffered for a terminal, streamed for a pipe.
  private func sendToOutput() async -> ExitCode {
    let isWhole = isHeld || Terminal.isTerminal(.output) || options.sentMethod == .head
    let outcome = await outcome(into: isWhole ? nil : Terminal.Stream.output.rawValue)
    // The process that reads the pipe has ended, for example `head`. This is no error of the command, so no message is
    // printed.
    if (outcome.error?.cause as? FileFailure)?.code == EPIPE { return .other }
    var writeFailure: Int32?
    if options.sentMethod == .head, outcome.error == nil, let response = outcome.response {
      writeFailure = Terminal.write(ExchangePrinter.lines(of: response.head, Terminal.paint(for: .output)))
    } else if isWhole || outcome.error != nil, let response = outcome.response {
      writeFailure = show(response)
    }
    let code = end(outcome)
    return code == .success ? writeFailure.map(Terminal.reportWriteFailure) ?? code : code
  }

  private func send(into file: OutputFile) async throws -> ExitCode {
    let outcome = await outcome(into: isHeld ? nil : file.descriptor)
    if outcome.error != nil {
      file.discard()
      if let response = outcome.response { _ = show(response) }
      return end(outcome)
    }
    if isHeld, let body = outcome.response?.body, let code = Terminal.put(body, into: file.descriptor) {
      file.discard()
      throw FileFailure(.write, file.place, code: code)
    }
    try file.keep()
    return end(outcome)
  }

  // MARK: - Showing

  private func show(_ response: HTTPResponse) -> Int32? { BodyPrinter.write(response.body, of: response) }

  private func end(_ outcome: Outcome<Data>) -> ExitCode {
    if options.isVerbose { printDetails(of: outcome) }
    guard let error = outcome.error else { return .success }
    let timeout = options.timeout ?? .seconds(120)
    Terminal.reportError(FailureMessage.text(for: error, of: .send, timeout: timeout))
    return ExitCode(error)
  }

  /// Prints the details of a call that ``ExchangePrinter`` does not print: the headers of a response from the cache,
  /// the origin of the response, and the metrics.
  private func printDetails(of outcome: Outcome<Data>) {
    let paint = Terminal.paint(for: .error)
    if outcome.origin?.isFromCache == true, let response = outcome.response {
      Terminal.write(ExchangePrinter.lines(of: response.head, mark: "= ", paint), to: .error)
    }
    let lines = (outcome.metrics.cache.map(Wording.cache) ?? []) + ["* \(Wording.metrics(outcome.metrics))"]
    Terminal.write(lines.map { paint(.dim, $0) + "\n" }.joined(), to: .error)
  }
}

struct ShellRequest: APIRequest {
  let options: SendOptions

  var path: Path { Path(options.url) }
  var method: HTTPMethod { options.sentMethod }
  var arguments: Arguments { Arguments(options.items.map { ($0.name, Self.argument($0.value)) }) }
  var formats: Formats { Formats(arguments: options.format ?? .byMethod) }
  var credential: RequestCredential { options.credential }
  var timeouts: Timeouts { options.timeout.map { Timeouts(total: .after($0)) } ?? .inherited }
  var redirects: RedirectPolicy { options.followsRedirects ? .follow() : .manual }
  var validation: ResponseValidation {
    ResponseValidation(
      status: options.followsRedirects ? .success : .success.or(.range(300...399)), shape: options.shape)
  }
  var cache: CachePolicy {
    guard options.cacheFolder != nil else { return .none }
    return options.lifetime.map { .lifetime($0) } ?? .http
  }
  typealias Response = Data

  var headers: RequestHeaders {
    var headers = RequestHeaders()
    if options.shape != nil || options.format == .json { headers.set(.accept, "application/json, */*;q=0.5") }
    headers.merge(options.fields)
    return headers
  }

  private static func argument(_ value: JSONValue) -> ArgumentValue {
    switch value.content {
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .unsigned(let value): .unsigned(value)
    case .number(let value): .number(value)
    case .string(let value): .string(value)
    case .array(let elements): .array(elements.map(argument))
    case .object(let members):
      .object(Arguments(members.sorted { $0.key < $1.key }.map { ($0.key, argument($0.value)) }))
    }
  }
}

/// An output file that appears under its name only when it is complete. Until then, an existing file with this name
/// stays unchanged.
///
/// An existing path that is not a regular file, such as a device or a named pipe, is written to directly.
struct OutputFile: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ path: String) { description = "“\(path)” cannot be written: \(String(cString: strerror(errno)))." }
  }

  let descriptor: Int32
  /// The final path of the file. Symbolic links to ordinary files are resolved.
  let place: String
  /// The temporary path of the incomplete file; nil if the command writes directly to the final path.
  private let unfinished: String?

  /// Creates a new file next to the path, with the permissions of an existing file at the path. If the path exists and
  /// is not a regular file, such as a device, opens the path instead.
  init(_ path: String) throws(Failure) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    guard isThere || errno == ENOENT else { throw Failure(path) }
    let isOrdinary = !isThere || status.st_mode & S_IFMT == S_IFREG
    // A link to an open pipe, such as /dev/fd/63 of a shell's `>(…)`, leads to no path that could be opened.
    place = isOrdinary ? LinkedFile.place(path) : path
    unfinished = isOrdinary ? "\(place).\(UUID().uuidString.prefix(8)).part" : nil
    let mode = isThere ? status.st_mode & 0o777 : 0o666
    descriptor = open(unfinished ?? place, O_WRONLY | O_CLOEXEC | (isOrdinary ? O_CREAT | O_EXCL : 0), mode)
    guard descriptor >= 0 else { throw Failure(path) }
    if isThere, isOrdinary { fchmod(descriptor, mode) }
  }

  /// Closes the complete file and renames it from its temporary path to its final path.
  func keep() throws(Failure) {
    guard close(descriptor) == 0, unfinished.map({ rename($0, place) == 0 }) ?? true else {
      let failure = Failure(place)
      forget()
      throw failure
    }
  }

  /// Closes and removes the incomplete file.
  func discard() {
    close(descriptor)
    forget()
  }

  /// Removes the incomplete file without closing it.
  func forget() {
    if let unfinished { unlink(unfinished) }
  }
}

struct SendCache: Sendable {
  /// The maximum size of the store in bytes.
  static let limit = 100 << 20
  /// The time that a call waits for the store if the store does not respond at once.
  ///
  /// In other programs a call uses the network if the store does not respond within 50 ms. The command waits longer,
  /// because it has just opened the store, and because a user who names a folder expects its contents.
  private static let patience = Duration.seconds(5)

  /// The values of `--mode`, in the order of the help text.
  static let modes: [(word: String, mode: CacheReadMode)] = [
    ("declared", .asDeclared), ("revalidate", .revalidating), ("ignore", .ignoringCache), ("without", .withoutCache),
    ("cached", .cachedElseLoad), ("offline", .networkElseCached), ("only", .cacheOnly), ("stored", .cacheOnlyAtAnyAge),
  ]

  static func mode(_ word: String) throws(UsageError) -> CacheReadMode {
    if let found = modes.first(where: { $0.word == word }) { return found.mode }
    throw UsageError("--mode needs one of \(modes.map(\.word).joined(separator: ", ")), not “\(word)”")
  }

  let cache: ResponseCache

  /// Opens the cache in the folder that the options name. Returns nil if the options name no folder. If the disk of the
  /// folder is full, read-only or broken, reports that and returns nil, unless the call may use only the cache.
  init?(_ options: SendOptions) throws(Refusal) {
    guard let path = options.cacheFolder else { return nil }
    switch try CacheFolder.made(path) {
    case .success(let folder):
      cache = ResponseCache(store: SQLiteStore(folder: folder.url, limit: Self.limit, leastPatience: Self.patience))
    case .failure(let refusal):
      if options.cacheMode.usesOnlyCache { throw refusal }
      Terminal.reportError("The request is sent without the cache: \(refusal)")
      return nil
    }
  }

  func interrupt() { cache.cancelRefreshes() }

  /// Waits for background work, such as a refresh, and closes the store.
  func close() async {
    await cache.refreshesEnded()
    await cache.close()
  }
}
