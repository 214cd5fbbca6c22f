import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// The part files that are resumed, and those that start again.
struct ResumeTests {
  typealias Validators = RangeBehaviour.Validators

  @Test(arguments: [Validators.weakTag, .none, .lastModified(secondsBefore: 0), .lastModified(secondsBefore: 59)])
  func `weak validator starts again`(validators: Validators) async throws {
    let fixture = try DownloadFixture { number, behaviour in
      behaviour.validators = validators
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
    }
    let outcome = await fixture.send()
    #expect(outcome.error?.transportKind == .truncated)
    let reason = "the server sent no strong validator, or supports no ranges; the received bytes were discarded."
    #expect(outcome.error?.message.hasSuffix(". The download cannot be resumed, because \(reason)") == true)
    #expect(fixture.names == [])
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 0)
    #expect(fixture.ranges == [nil, nil])
  }

  @Test(arguments: [true, false]) func `retry needs a body that has not begun`(hasBegun: Bool) async throws {
    var configuration = ClientConfiguration(baseURL: "")
    configuration.retries = RetryPolicy(attempts: 3, firstDelay: .zero)
    let fixture = try DownloadFixture(configuration: configuration) { number, behaviour in
      behaviour.validators = .none
      if number == 1 { behaviour.fault = hasBegun ? .cut(after: 1_000_000) : .closeBeforeResponse }
    }
    let outcome = await fixture.send()
    #expect(outcome.error?.transportKind == (hasBegun ? .truncated : nil))
    #expect(fixture.ranges.count == (hasBegun ? 1 : 2))
  }

  @Test(arguments: [Validators.lastModified(secondsBefore: 60), .both(secondsBefore: 0), .strongTag])
  func `strong validator resumes`(validators: Validators) async throws {
    let fixture = try DownloadFixture { number, behaviour in
      behaviour.validators = validators
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
    }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.fetchedBytes == 3_000_000)
    let isDated = validators == .lastModified(secondsBefore: 60)
    let last = try #require(fixture.server.requests.last)
    #expect(last.range == "bytes=1000000-")
    #expect(last.ifRange == (isDated ? "Fri, 02 Jan 1970 00:00:00 GMT" : fixture.resource.entityTag))
    #expect(fixture.server.requests.allSatisfy { $0.acceptEncoding == "identity" })
  }

  @Test(arguments: [1, 3]) func `each resume is in the metrics`(parallel: Int) async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 || number == 2 { behaviour.fault = .cut(after: 500_000) }
    }
    let outcome = await fixture.send { $0.parallel = parallel }
    #expect(outcome.error == nil && fixture.isRight())
    let told = RetryMetrics(reason: .failure(.truncated), delay: .zero)
    #expect(outcome.metrics.retries == [told, told])
  }

  @Test func `resumes use the host's retry budget`() async throws {
    let fixture = try DownloadFixture { $1.fault = .cut(after: 1_000) }
    let outcome = await fixture.send { $0.takeUps = 1_000 }
    // The budget has 500 tokens, and each resume costs five.
    #expect(outcome.error?.transportKind == .truncated && outcome.metrics.retries.count == 100)
    #expect(fixture.ranges.count == 101 && fixture.partBytes == 101_000)
    // Nothing of the budget is left.
    let again = await fixture.send()
    #expect(again.error?.transportKind == .truncated && again.metrics.retries.isEmpty)
  }

  @Test(arguments: [false, true]) func `full response to a range starts again`(isIgnored: Bool) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { if isIgnored { $1.ranges = .ignored } else { $1.ifRange = .neverMet } }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight())
    #expect(file.keptBytes == 0 && file.fetchedBytes == 3_000_000)
    #expect(fixture.ranges == [nil, "bytes=1000000-"])
  }

  /// The ways in which the resource differs.
  enum Change: CaseIterable, Sendable {
    case version, longer, shorter, tiny
    var resource: RangeResource {
      switch self {
      case .version: RangeResource(size: 3_000_000, seed: 2)
      case .longer: RangeResource(size: 3_500_000, seed: 2)
      case .shorter: RangeResource(size: 1_500_000, seed: 2)
      case .tiny: RangeResource(size: 1, seed: 2)
      }
    }
  }

  @Test(arguments: Change.allCases, [true, false])
  func `change between calls never mixes versions`(change: Change, isHonest: Bool) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    let other = change.resource
    fixture.answer {
      $1.resource = other
      if !isHonest { $1.ifRange = .ignored }
    }
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight(other))
    #expect(fixture.names == ["film.bin"])
  }

  @Test(arguments: Change.allCases, [true, false])
  func `change within a call never mixes versions`(change: Change, isHonest: Bool) async throws {
    let other = change.resource
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 {
        behaviour.fault = .cut(after: 1_000_000)
      } else {
        behaviour.resource = other
        if !isHonest { behaviour.ifRange = .ignored }
      }
    }
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight(other))
  }

  @Test func `change at every attempt never mixes versions`() async throws {
    let fixture = try DownloadFixture { number, behaviour in
      behaviour.resource = RangeResource(size: 3_000_000, seed: UInt64(number))
      if number < 4 { behaviour.fault = .cut(after: 1_000_000) }
    }
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight(RangeResource(size: 3_000_000, seed: 4)))
    #expect(fixture.ranges == [nil] + Array(repeating: "bytes=1000000-", count: 3))
  }

  @Test func `coded response is not resumed`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin { $0.fields["Content-Encoding"] = "identity" }
    fixture.answer { $1.fields["Content-Encoding"] = "gzip" }
    let outcome = await fixture.send()
    #expect(outcome.error != nil)
    #expect(!fixture.names.contains("film.bin"))
    fixture.answer()
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight())
  }

  /// Its bytes are not those of the file: the body is decoded while it arrives, so it cannot be resumed.
  @Test func `coded response is decoded completely or fails`() async throws {
    let fixture = try DownloadFixture(size: 300_000)
    let press = try LoopbackServer { _ in .ok() }
    let plain = fixture.resource.bytes(in: 0..<300_000)
    _ = try await APIClient(baseURL: press.url).send(Upload(.bytes(plain).compressed()))
    let coded = try #require(press.requests.last?.body)
    let server = try LoopbackServer { request in
      let answer = LoopbackAnswer.data(coded).setting("Content-Encoding", to: "gzip").setting("ETag", to: "\"v1\"")
      return request.number == 1 ? answer.cut(after: 100_000) : answer
    }
    let request = FileDownload(server.url + "/film", .to(fixture.file))
    let broken = await fixture.client.outcome(of: request)
    #expect(broken.error?.transportKind == .truncated && fixture.names == [])
    let file = try await fixture.client.send(request)
    #expect(fixture.isRight() && file.bytes == 300_000 && file.keptBytes == 0)
    #expect(server.requests.count == 2 && server.requests.allSatisfy { $0.headers["Range"] == nil })
  }

  @Test func `different account starts again`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    var request = fixture.request()
    request.credential = .bearer("of somebody")
    let file = try await fixture.client.send(request)
    #expect(fixture.isRight() && file.keptBytes == 0)
    #expect(fixture.ranges == [nil, nil])
    let text = fixture.names.joined()
    #expect(!text.contains("somebody"))
  }

  @Test func `different headers start again`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    var request = fixture.request()
    request.headers = ["Accept-Language": "de"]
    let file = try await fixture.client.send(request)
    #expect(fixture.isRight() && file.keptBytes == 0)
  }

  @Test func `record contains no secret`() async throws {
    let fixture = try DownloadFixture { $1.fault = .cut(after: 1_000_000) }
    var request = fixture.request { $0.takeUps = 0 }
    request.credential = .bearer("hunter2")
    _ = await fixture.client.outcome(of: request)
    let text = String(decoding: try Data(contentsOf: fixture.record), as: UTF8.self)
    #expect(text.contains("committed") && !text.contains("hunter2"))
  }

  @Test func `resuming can be turned off`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    let file = try await fixture.send { $0.resumes = false }.result.get()
    #expect(fixture.isRight() && file.keptBytes == 0 && fixture.ranges == [nil, nil])
  }

  @Test func `damaged record starts again`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    var text = try Data(contentsOf: fixture.record)
    text[text.count / 2] ^= 1
    try text.write(to: fixture.record)
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 0)
  }

  @Test func `short part file starts again`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    try #require(truncate(fixture.part.path, 999_999) == 0)
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 0)
  }

  @Test func `long part file is truncated`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    try #require(truncate(fixture.part.path, 2_000_000) == 0)
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
  }
}
