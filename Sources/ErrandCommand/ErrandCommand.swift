import Foundation

/// The entry point of the command `errand`.
@main
enum ErrandCommand {
  @MainActor
  static func main() async {
    Terminal.prepare()
    let code = await run(Array(CommandLine.arguments.dropFirst()))
    Interruption.raiseReceivedSignal()
    exit(code.rawValue)
  }

  @MainActor
  private static func run(_ arguments: [String]) async -> ExitCode {
    switch CommandChoice(arguments) {
    case .demo(let numbers):
      return await Demo(paint: Terminal.paint(for: .output)).play(numbers)
    case .send(let arguments): return await SendCommand.run(arguments)
    case .download(let arguments): return await DownloadCommand.run(arguments)
    case .upload(let arguments): return await UploadCommand.run(arguments)
    case .cache(let arguments): return await CacheCommand.run(arguments)
    case .show(let text):
      return Terminal.show(text)
    case .reject(let reason, let help):
      Terminal.write("errand: \(reason)\n\n\(help)", to: .error)
      return .usage
    }
  }
}
