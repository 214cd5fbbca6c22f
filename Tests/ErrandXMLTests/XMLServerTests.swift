import Errand
import ErrandXML
import Foundation
import Testing

/// Reads XML from a real server, httpbin, which the test script starts.
struct XMLServerTests {
  private struct Slideshow: Decodable, Sendable, Equatable {
    struct Slide: Decodable, Sendable, Equatable {
      struct Item: Decodable, Sendable, Equatable { let em: String? }

      let type: String
      let title: String
      let item: [Item]
    }

    let title: String
    let author: String
    let slide: [Slide]
  }

  private struct ReadSlides: APIRequest {
    var path: Path { "/xml" }
    var decoder: ResponseDecoder<Slideshow> { .xml() }
  }

  private struct ReadDocument: APIRequest {
    var path: Path { "/xml" }
    var decoder: ResponseDecoder<XMLValue> { .xml() }
  }

  private func client() throws -> APIClient {
    let address = try #require(
      ProcessInfo.processInfo.environment["ERRAND_HTTPBIN"].flatMap { $0.isEmpty ? nil : $0 },
      "ERRAND_HTTPBIN is not set: run the tests by `make test`, which starts the servers")
    return APIClient(baseURL: address)
  }

  @Test func `slide show is read as values`() async throws {
    let slides = try await client().send(ReadSlides())
    #expect(slides.title == "Sample Slide Show" && slides.author == "Yours Truly")
    #expect(slides.slide.map(\.title) == ["Wake up to WonderWidgets!", "Overview"])
    #expect(slides.slide.allSatisfy { $0.type == "all" })
    #expect(slides.slide.map { $0.item.map(\.em) } == [[], ["WonderWidgets", nil, "buys"]])
  }

  @Test func `slide show is read as document`() async throws {
    let document = try await client().send(ReadDocument())
    #expect(document["slide"]?["title"]?.text == "Wake up to WonderWidgets!")
  }
}
