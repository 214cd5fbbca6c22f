import Errand
import ErrandTransfer
import Foundation

/// Implements `errand send`, which sends one request.
@MainActor
struct SendCommand {
  private let options: SendOptions
  private let cache: SendCache?
  private let client: APIClient

  /// Parses the arguments, sends the request, prints the response and returns the exit status.
  static func run(_ words: [String]) async -> ExitCode {
    do {
      let options = try SendParser.parse(words)
      return await SendCommand(options: options, cache: try SendCache(options)).run()
    } catch let refusal as CacheFolder.Refusal {
      Terminal.reportError(refusal.description)
      return refusal.code
    } catch {
      Terminal.reportError("\(error)")
      Terminal.write("See “errand send --help”.\n", to: .error)
      return .usage
    }
  }

  private init(options: SendOptions, cache: SendCache?) {
    self.options = options
    self.cache = cache
    client = Self.client(for: options, cache)
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
    let handle = descriptor.map { FileHandle(fileDescriptor: $0, closeOnDealloc: false) }
    return await client.outcome(
      of: ShellRequest(options: options),
      options: CallOptions(tag: options.tag, bodySink: handle.map(FileHandleSink.init), cache: options.cacheMode))
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
      let head = ExchangePrinter(paint: Terminal.paint(for: .output)) { _ in }.head(response)
      writeFailure = Terminal.write(head)
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
    do {
      if isHeld, let body = outcome.response?.body, let code = Terminal.put(body, into: file.descriptor) {
        throw FileFailure(.write, file.place, code: code)
      }
      try file.keep()
      return end(outcome)
    } catch {
      file.discard()
      throw error
    }
  }

  // MARK: - Showing

  private func show(_ response: HTTPResponse) -> Int32? { BodyPrinter.write(response.body, of: response) }

  private func end(_ outcome: Outcome<Data>) -> ExitCode {
    if options.isVerbose { printDetails(of: outcome) }
    guard let error = outcome.error else { return .success }
    Terminal.reportError(sentence(for: error))
    return ExitCode(error)
  }

  /// Prints the details of a call that ``ExchangePrinter`` does not print: the headers of a response from the cache,
  /// the origin of the response, and the metrics.
  private func printDetails(of outcome: Outcome<Data>) {
    let paint = Terminal.paint(for: .error)
    if outcome.origin?.isFromCache == true, let response = outcome.response {
      Terminal.write(ExchangePrinter(paint: paint) { _ in }.head(response, mark: "= "), to: .error)
    }
    let lines = (outcome.metrics.cache.map(Wording.cache) ?? []) + ["* \(Wording.metrics(outcome.metrics))"]
    Terminal.write(lines.map { paint(.dim, $0) + "\n" }.joined(), to: .error)
  }

  /// The message for an error. If the time limit was reached, the message names the option `--timeout`.
  private func sentence(for error: APIError) -> String {
    guard error.code == .deadline else { return error.message }
    let limit = Wording.duration(options.timeout ?? .seconds(120))
    return "The call did not end within \(limit); use --timeout to change this limit."
  }

  // MARK: - The client

  private static func client(for options: SendOptions, _ cache: SendCache?) -> APIClient {
    var configuration = ClientConfiguration.ofCommand(isVerbose: options.isVerbose, usesProxy: options.usesProxy)
    configuration.cache = cache.map { .own($0.cache) } ?? .off
    return APIClient(configuration)
  }
}
