import Errand
import ErrandTesting
import Foundation
import Testing

/// Responses that contain no file.
struct DownloadStatusTests {
  /// Tokens with increasing numbers, which are sent to every server.
  private final class Tokens: RefreshingProvider {
    let refreshed = Recorded<Credential>()

    var account: String? { "ada" }
    func belongs(to origin: HTTPURL.Origin, base: HTTPURL.Origin) -> Bool { true }
    func credential(for account: String?) async throws -> Credential? { .bearer("\(refreshed.count)") }

    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      refreshed.append(old)
      return .bearer("\(refreshed.count)")
    }
  }

  /// A download whose token expires whenever the connection is lost. At the end, the server accepts the last token, or
  /// none.
  @Test(arguments: [true, false]) func `long download refreshes several times`(isAccepted: Bool) async throws {
    let faults: [RangeBehaviour.Fault] = [
      .status(401), .cut(after: 800_000), .status(401), .cut(after: 800_000), .status(401),
    ]
    let tokens = Tokens()
    var configuration = ClientConfiguration(baseURL: "https://h.example")
    configuration.credentials = tokens
    let fixture = try DownloadFixture(configuration: configuration) { number, behaviour in
      behaviour.fault = number <= faults.count ? faults[number - 1] : isAccepted ? nil : .status(401)
    }
    let outcome = await fixture.send()
    #expect(outcome.error?.status == (isAccepted ? nil : 401) && fixture.isRight() == isAccepted)
    #expect(tokens.refreshed.all == [.bearer("0"), .bearer("1"), .bearer("2")])
    let starts: [String?] = [nil, "bytes=800000-", "bytes=1600000-"]
    #expect(fixture.ranges == starts.flatMap { [$0, $0] })
  }

  @Test(arguments: [400, 401, 403, 408, 429, 500, 503, 304])
  func `error body is not written`(status: Int) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    try fixture.putOld()
    fixture.answer { $1.fault = .status(status) }
    let outcome = await fixture.send()
    #expect(outcome.error?.status == status)
    if status != 304 { #expect(outcome.error?.response?.body == Data("not now\n".utf8)) }
    #expect(fixture.isOld)
    #expect(fixture.names == ["film.bin", "film.bin.part", "film.bin.part.meta"])
    fixture.answer()
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
  }

  @Test(arguments: [404, 410]) func `404 and 410 remove the part file`(status: Int) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    try fixture.putOld()
    fixture.answer { $1.fault = .status(status) }
    let outcome = await fixture.send()
    #expect(outcome.error?.status == status)
    #expect(fixture.names == ["film.bin"] && fixture.isOld)
  }

  @Test(arguments: [201, 202, 204, 205]) func `success without a file is an error`(status: Int) async throws {
    let fixture = try DownloadFixture { $1.fault = .status(status) }
    let outcome = await fixture.send()
    #expect(outcome.error != nil)
    #expect(fixture.names == [])
  }

  @Test(arguments: [0, 1]) func `416 at the end is success`(takeUps: Int) async throws {
    // All remaining bytes arrive in three chunks with 27 bytes of framing, but the empty last chunk is missing.
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { number, behaviour in
      behaviour.framing = .chunked
      if number == 2 { behaviour.fault = .cut(after: 2_000_027) }
    }
    var outcome = await fixture.send { $0.takeUps = takeUps }
    if takeUps == 0 {
      #expect(outcome.error?.transportKind == .truncated)
      outcome = await fixture.send()
    }
    let file = try outcome.result.get()
    #expect(fixture.isRight() && file.bytes == 3_000_000)
    #expect(fixture.ranges == [nil, "bytes=1000000-", "bytes=3000000-"])
    #expect(fixture.server.requests.last?.status == 416)
    #expect(fixture.names == ["film.bin"])
  }

  /// The library itself requests a range: a status rule that accepts only 200 also accepts the file that the range
  /// completes.
  @Test(arguments: [1, 4]) func `status rule of 200 accepts a range`(parallel: Int) async throws {
    struct Strict: APIRequest {
      typealias Response = DownloadedFile
      let url: String
      let download: Download?
      var path: Path { RequestPath(stringLiteral: url) }
      var validation: ResponseValidation { ResponseValidation(status: [200]) }
    }
    let fixture = try DownloadFixture(size: 5_000_000)
    await fixture.begin()
    let request = Strict(url: fixture.server.url, download: fixture.request { $0.parallel = parallel }.download)
    let file = try await fixture.client.send(request)
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
    #expect(fixture.server.requests.dropFirst().allSatisfy { $0.status == 206 })
    fixture.answer { $1.fault = .status(202) }
    #expect(await fixture.client.outcome(of: request).error?.status == 202)
  }

  @Test func `416 with another length starts again`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { number, behaviour in
      if number == 2 {
        behaviour.framing = .chunked
        behaviour.fault = .cut(after: 2_000_027)
      }
      if number == 3 { behaviour.deviation = .total(2_999_999) }
    }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 0)
    #expect(fixture.ranges == [nil, "bytes=1000000-", "bytes=3000000-", nil])
  }

  @Test func `refused range starts again`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { number, behaviour in if number == 2 { behaviour.ranges = .refused } }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 0)
    #expect(fixture.ranges == [nil, "bytes=1000000-", nil])
  }

  @Test func `416 without a range is an error`() async throws {
    let fixture = try DownloadFixture { $1.fault = .status(416) }
    let outcome = await fixture.send()
    #expect(outcome.error?.status == 416)
    #expect(fixture.names == [] && fixture.ranges == [nil])
  }

  @Test func `permanent 416 is an error`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.fault = .status(416, ["Content-Range": "bytes */1000000"]) }
    let outcome = await fixture.send()
    #expect(outcome.error?.status == 416)
    #expect(fixture.names == [] && fixture.ranges.count == 3)
  }

  @Test func `range beyond a shorter file starts again`() async throws {
    let other = RangeResource(size: 500_000, seed: 2)
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer {
      $1.resource = other
      $1.ifRange = .ignored
    }
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight(other))
    #expect(fixture.ranges == [nil, "bytes=1000000-", nil])
  }
}
