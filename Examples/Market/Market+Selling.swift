import Errand
import Foundation

extension Market {
  /// A picture, a picture that is too large, a file that is not a picture, and a missing file.
  func sellLamp() async throws {
    console.heading("Uploading a picture")
    let folder = try PictureFolder()
    for (name, bytes) in [("lamp.jpg", 300 << 10), ("wall.png", 2 << 20), ("lamp.txt", 100)] {
      console.say("\(name):")
      sell.add(try folder.picture(name, bytes: bytes), caption: "\"Lamp\" & more")
      await sell.bell.rung()
    }
    let before = asked
    let gone = await client.outcome(of: AddPicture(offerID: 7, caption: "none", file: folder.missing))
    console.say("missing.jpg: \(Self.reason(gone)), and \(asked - before) requests")
  }

  /// Selects other HTTP libraries by name.
  func exchangeLibrary() async throws {
    console.heading("Another HTTP library, by name")
    let (before, counted) = (asked, Libraries.counted)
    client.configure { $0.transport = .named("counting") }
    sheet.rates.start()
    await sheet.bell.rung()
    let carried = Libraries.counted - counted
    console.say("\"counting\" carried \(carried) exchange; the server had \(asked - before) request")

    client.configure { $0.transport = .named("pocket") }
    sheet.rates.start()
    await sheet.bell.rung()
    let folder = try PictureFolder()
    let picture = AddPicture(offerID: 7, caption: "none", file: try folder.picture("lamp.jpg", bytes: 300 << 10))
    let refusal = await client.outcome(of: picture).error?.message ?? "It was sent, which is unexpected"
    console.say("a picture over \"pocket\": \(refusal.prefix { $0 != ";" })")
    console.say("the server had \(asked - before - 1) requests of \"pocket\"")

    client.configure { $0.transport = .named("pigeon") }
    console.say("over \"pigeon\": \(Self.reason(await client.outcome(of: GetRates())))")
  }

  private static func reason(_ outcome: Outcome<some Sendable>) -> String {
    outcome.error.map { "\($0.stage.rawValue)/\($0.code)" } ?? "success"
  }
}
