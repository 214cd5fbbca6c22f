import Errand
import ErrandTransfer
import Foundation

/// Sends one request from the shell.
@MainActor
struct SendCommand {
  private let options: SendOptions
  private let cache: SendCache?
  private let client: APIClient

  /// Reads the words, sends, shows what came, and says how it went.
  static func run(_ words: [String]) async -> ExitCode {
    do {
      let options = try SendParser.parse(words)
      return await SendCommand(options: options, cache: try SendCache(options)).run()
    } catch let refusal as CacheFolder.Refusal {
      Terminal.complain(refusal.description)
      return refusal.code
    } catch {
      Terminal.complain("\(error)")
      Terminal.write("“errand send --help” teaches.\n", to: .error)
      return .usage
    }
  }

  private init(options: SendOptions, cache: SendCache?) {
    self.options = options
    self.cache = cache
    client = Self.client(for: options, cache)
  }

  /// The file is opened before an interrupt is listened for: a named pipe waits for its reader then, and can be left.
  private func run() async -> ExitCode {
    do {
      let file = try options.output.map { try OutputFile($0) }
      let interruption = await Interruption(leaving: { file?.forget() }) { [client, cache] in
        client.cancelAll()
        cache?.interrupt()
      }
      defer { interruption.stop() }
      let code = await send(into: file)
      await cache?.close()
      return code
    } catch {
      Terminal.complain("\(error)")
      return .other
    }
  }

  private func send(into file: OutputFile?) async -> ExitCode {
    guard let file else { return await sendToOutput() }
    do {
      return try await send(into: file)
    } catch {
      Terminal.complain("\(error)")
      return .other
    }
  }

  /// Whether the body has to be in memory: what is judged or kept cannot flow through.
  private var isHeld: Bool { options.shape != nil || cache != nil }

  private func outcome(into descriptor: Int32?) async -> Outcome<Data> {
    let handle = descriptor.map { FileHandle(fileDescriptor: $0, closeOnDealloc: false) }
    return await client.outcome(
      of: ShellRequest(options: options),
      options: CallOptions(tag: options.tag, bodySink: handle.map(FileHandleSink.init), cache: options.cacheMode))
  }

  /// To people whole, to programs piece by piece.
  private func sendToOutput() async -> ExitCode {
    let isWhole = isHeld || Terminal.isTerminal(.output) || options.sentMethod == .head
    let outcome = await outcome(into: isWhole ? nil : Terminal.Stream.output.rawValue)
    // Nobody reads any more: that is no news.
    if (outcome.error?.cause as? FileFailure)?.code == EPIPE { return .other }
    var lost: Int32?
    if options.sentMethod == .head, outcome.error == nil, let response = outcome.response {
      let head = Talk(paint: Terminal.paint(for: .output)) { _ in }.head(response)
      lost = Terminal.write(head)
    } else if isWhole || outcome.error != nil, let response = outcome.response {
      lost = show(response)
    }
    let code = end(outcome)
    return code == .success ? lost.map(Terminal.lost) ?? code : code
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
    if options.isVerbose { tell(outcome) }
    guard let error = outcome.error else { return .success }
    Terminal.complain(sentence(for: error))
    return ExitCode(error)
  }

  /// What nobody saw on the wire: the head of a stored answer, where the answer came from, and what was measured.
  private func tell(_ outcome: Outcome<Data>) {
    let paint = Terminal.paint(for: .error)
    if outcome.origin?.isFromCache == true, let response = outcome.response {
      Terminal.write(Talk(paint: paint) { _ in }.head(response, mark: "= "), to: .error)
    }
    let lines = (outcome.metrics.cache.map(Wording.cache) ?? []) + ["* \(Wording.metrics(outcome.metrics))"]
    Terminal.write(lines.map { paint(.dim, $0) + "\n" }.joined(), to: .error)
  }

  /// The error's own sentence, but where the cure has another name here.
  private func sentence(for error: APIError) -> String {
    guard error.code == .deadline else { return error.message }
    let limit = Wording.duration(options.timeout ?? .seconds(120))
    return "The call did not end within \(limit); --timeout gives it another limit."
  }

  // MARK: - The client

  private static func client(for options: SendOptions, _ cache: SendCache?) -> APIClient {
    var configuration = ClientConfiguration.ofCommand(isVerbose: options.isVerbose, usesProxy: options.usesProxy)
    configuration.cache = cache.map { .own($0.cache) } ?? .off
    return APIClient(configuration)
  }
}
