import Dispatch
import Errand
import Foundation

/// Sends one request from the shell.
@MainActor
struct SendCommand {
  private let options: SendOptions
  private let client: APIClient

  /// Reads the words, sends, shows what came, and says how it went.
  static func run(_ words: [String]) async -> ExitCode {
    do {
      return await SendCommand(options: try SendParser.parse(words)).run()
    } catch {
      complain("\(error)")
      Terminal.write("“errand send --help” teaches.\n", to: .error)
      return .usage
    }
  }

  private init(options: SendOptions) {
    self.options = options
    client = Self.client(for: options)
  }

  private func run() async -> ExitCode {
    let interruption = await Self.cancelWhenInterrupted(client)
    defer { interruption.cancel() }
    do {
      guard let path = options.output else { return try await sendToOutput() }
      return try await send(into: OutputFile(path))
    } catch let failure as StreamSink.WriteFailure where failure.isBrokenPipe {
      return .other
    } catch {
      Self.complain("\(error)")
      return .other
    }
  }

  /// To people whole, to programs piece by piece.
  private func sendToOutput() async throws -> ExitCode {
    let isWhole = Terminal.isTerminal(.output) || options.shape != nil || options.sentMethod == .head
    let sink = isWhole ? nil : StreamSink(Terminal.Stream.output.rawValue)
    let outcome = await client.outcome(of: ShellRequest(options: options), options: CallOptions(bodySink: sink))
    try await sink?.drained()
    if options.sentMethod == .head, outcome.error == nil, let response = outcome.response {
      Terminal.write(Talk(paint: Terminal.paint(for: .output)) { _ in }.head(response))
    } else if sink == nil || outcome.error != nil, let response = outcome.response {
      show(response)
    }
    return end(outcome)
  }

  private func send(into file: OutputFile) async throws -> ExitCode {
    let sink = options.shape == nil ? StreamSink(file.descriptor) : nil
    let outcome = await client.outcome(of: ShellRequest(options: options), options: CallOptions(bodySink: sink))
    if outcome.error != nil {
      // Nothing may be written any more once the descriptor is closed.
      try? await sink?.drained()
      file.discard()
      if let failure = outcome.error?.cause as? StreamSink.WriteFailure { throw failure }
      if let response = outcome.response { show(response) }
      return end(outcome)
    }
    do {
      try await sink?.drained()
      if sink == nil, let body = outcome.response?.body, let code = Terminal.put(body, into: file.descriptor) {
        throw StreamSink.WriteFailure(code: code)
      }
      try file.keep()
      return end(outcome)
    } catch {
      file.discard()
      throw error
    }
  }

  // MARK: - Showing

  private func show(_ response: HTTPResponse) {
    let showing = BodyPrinter.showing(
      response.body, of: response, isTerminal: Terminal.isTerminal(.output), paint: Terminal.paint(for: .output))
    switch showing {
    case .raw(let data): Terminal.write(data)
    case .text(let text): Terminal.write(text)
    case .note(let note): Self.complain(note)
    }
  }

  private func end(_ outcome: Outcome<Data>) -> ExitCode {
    if options.isVerbose {
      Terminal.write(Terminal.paint(for: .error)(.dim, "* \(Wording.metrics(outcome.metrics))") + "\n", to: .error)
    }
    guard let error = outcome.error else { return .success }
    Self.complain(sentence(for: error))
    return ExitCode(error)
  }

  /// The error's own sentence, but where the cure has another name here.
  private func sentence(for error: APIError) -> String {
    guard error.code == .deadline else { return error.message }
    let limit = Wording.duration(options.timeout ?? .seconds(120))
    return "The call did not end within \(limit); --timeout gives it another limit."
  }

  private static func complain(_ sentence: String) {
    let word = Terminal.paint(for: .error)(.red, "errand:")
    Terminal.write("\(word) \(PlainText.visible(sentence))\n", to: .error)
  }

  // MARK: - The client

  /// Lets an interrupt from the keyboard cancel the call, so that it ends in order. Returns once it is listened for:
  /// one that came earlier would be lost.
  private nonisolated static func cancelWhenInterrupted(_ client: APIClient) async -> any DispatchSourceSignal {
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler { @Sendable in client.cancelAll() }
    await withCheckedContinuation { continuation in
      source.setRegistrationHandler { @Sendable in continuation.resume() }
      source.resume()
    }
    return source
  }

  private static func client(for options: SendOptions) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.userAgent = "errand/\(HelpText.version)"
    if options.isVerbose {
      let talk = Talk(paint: Terminal.paint(for: .error)) { Terminal.write($0, to: .error) }
      configuration.exchangeInterceptors = [talk]
    }
    #if os(Linux)
      var transport = CurlConfiguration()
      transport.proxy = options.usesProxy ? .environment : .none
      if let curl = try? CurlTransport(transport) { configuration.transport = .own(curl) }
    #endif
    return APIClient(configuration)
  }
}
