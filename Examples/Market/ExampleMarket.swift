import Foundation

/// A flea market app: one manager for each API, screens as delegates, reformers for their content.
///
/// `ExampleMarket [TRANSPORT]`: the name of the transport for all calls; the default is the platform's.
@main
enum ExampleMarket {
  @MainActor
  static func main() async {
    do {
      let server = try MarketServer()
      let transport = CommandLine.arguments.dropFirst().first
      try await Market(server, console: Console(), transport: transport).play()
    } catch {
      FileHandle.standardError.write(Data("ExampleMarket: \(error)\n".utf8))
      exit(1)
    }
  }
}
