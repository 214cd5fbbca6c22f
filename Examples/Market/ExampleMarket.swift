import Foundation

/// A flea market in the hand: one manager for each API, screens as delegates, reformers for what they show.
///
/// `ExampleMarket [TRANSPORT]`: the name of the transport that everything goes over; the platform's where none is given.
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
